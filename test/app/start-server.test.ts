import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ConfigError, readConfig } from "../../src/app/config.ts";
import { readSetup } from "../../src/app/setup.ts";
import { startServer } from "../../src/app/start-server.ts";
import { send } from "../support/http.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const KEY = "a-key-of-32-characters-or-more-for-tests";
const MACHINE = { host: "test", pid: process.pid };
const ACCEPT = { Accept: "application/json, text/event-stream" };

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "hand", version: "1" } },
};

type Running = Awaited<ReturnType<typeof startServer>>;

/** The whole server, as `posthorn serve` starts it, with these settings. */
async function start(
  env: Record<string, string>,
): Promise<{ server: Running; port: number; folder: Disposable }> {
  const folder = temporaryFolder();
  const setup = await readSetup({
    ...folder.env,
    POSTHORN_PORT: "0",
    POSTHORN_LOG_LEVEL: "silent",
    POSTHORN_API_KEY: KEY,
    ...env,
  });
  const server = await startServer({ setup, self: MACHINE, role: "serve" });
  return { server, folder, port: Number(new URL(server.address).port) };
}

const BASE_URL = {
  name: "BASE_URL",
  meaning: "",
  kind: "address",
  default: null,
  isRequired: false,
} as const;

describe("a server with its settings", () => {
  let running: Awaited<ReturnType<typeof start>>;
  const ask = (target: string, rest: object = {}): ReturnType<typeof send> =>
    send(running.port, target, { key: KEY, headers: ACCEPT, ...rest });

  beforeAll(async () => {
    running = await start({ POSTHORN_CONFIRM: "always", POSTHORN_LEGACY_SSE: "off" });
  });

  afterAll(async () => {
    await running.server[Symbol.asyncDispose]();
    running.folder[Symbol.dispose]();
  });

  it("asks first where POSTHORN_CONFIRM says always, on tool endpoints but not on resource endpoints", async () => {
    const { accounts } = (await ask("GET /api/v1/accounts")).json;
    const json = { accountId: accounts[0].id, caption: "Sure?", idempotencyKey: "one" };
    const asked = await ask("POST /api/v1/tools/schedule_post", { json });
    expect(asked).toMatchObject({
      status: 409,
      json: { error: expect.stringContaining("Publish now on My feed: “Sure?”?") },
    });
    expect((await ask("GET /api/v1/posts")).json.posts).toEqual([]);
    const later = { accountId: accounts[0].id, caption: "Later", scheduledAt: "2199-01-01T00:00:00Z" };
    const { post } = (await ask("POST /api/v1/posts", { json: later })).json;
    expect((await ask(`DELETE /api/v1/posts/${post.id}`)).json.post.status).toBe("cancelled");
  });

  it("serves MCP on /mcp alone where POSTHORN_LEGACY_SSE is off", async () => {
    expect((await ask("GET /sse")).status).toBe(404);
    expect((await ask("POST /mcp", { json: INITIALIZE })).status).toBe(200);
  });
});

it("takes folders of uploads that are there, by their whole paths", () => {
  using folder = temporaryFolder();
  const read = (text: string) => readConfig({ POSTHORN_UPLOAD_FOLDERS: text }, []).config.uploadFolders;
  expect(read(` ${folder.path} ,,`)).toEqual([folder.path]);
  const bad = ["pictures", join(folder.path, "none"), join(import.meta.dirname, "start-server.test.ts", "x")];
  for (const one of bad)
    expect(() => read(`${folder.path},${one}`)).toThrow(
      `POSTHORN_UPLOAD_FOLDERS: must be whole paths of folders that exist. "${one}" is not one`,
    );
});

it("suggests the name that a mistyped one is nearest to, and leaves the names of others alone", () => {
  const problems = (env: Record<string, string>): string => {
    try {
      readConfig(env, [{ name: "bluesky", settings: [{ ...BASE_URL }] }]);
      return "";
    } catch (error) {
      return error instanceof Error ? error.message : "";
    }
  };
  expect(problems({ POSTHORN_TIMEZNE: "x" })).toBe(
    "POSTHORN_TIMEZNE: no such setting. Did you mean POSTHORN_TIMEZONE?",
  );
  expect(problems({ POSTHORN_BLUSEKY_BASE_URL: "x" })).toContain("Did you mean POSTHORN_BLUESKY_BASE_URL?");
  expect(problems({ POSTHRON_TOOLS: "x" })).toContain("Did you mean POSTHORN_TOOLS?");
  expect(problems({ POSTHORN_WEATHER: "x" })).toBe("POSTHORN_WEATHER: no such setting.");
  expect(problems({ POSTHOG_API_KEY: "x", POSTHOG_HOST: "x", POSTGRES_HOST: "x", PORT: "1" })).toBe("");
});

it("knows where OAuth is possible", () => {
  const read = (env: Record<string, string>) => () => readConfig({ POSTHORN_OAUTH: "on", ...env }, []);
  expect(readConfig({}, []).config.hasOAuth).toBe(false);
  for (const POSTHORN_PUBLIC_URL of [
    "https://posts.example.com/",
    "http://127.0.0.1:4747",
    "http://localhost:1",
  ])
    expect(read({ POSTHORN_PUBLIC_URL })().config.hasOAuth).toBe(true);
  expect(read({})).toThrow(/^POSTHORN_OAUTH: is on, which needs an https address. Set POSTHORN_PUBLIC_URL/);
  expect(read({ POSTHORN_PUBLIC_URL: "http://posts.example.com" })).toThrow(/needs an https address/);
  expect(read({ POSTHORN_PUBLIC_URL: "https://posts.example.com/x" })).toThrow(/without a path/);
  const off = { POSTHORN_PUBLIC_URL: "https://posts.example.com", POSTHORN_PAGE: "off" };
  expect(read(off)).toThrow(/POSTHORN_PAGE is off/);
});

it("knows what these settings may be", () => {
  const { config } = readConfig({}, []);
  expect(config).toMatchObject({ confirm: "risky", hasLegacySse: true });
  const problems = (): unknown =>
    readConfig({ POSTHORN_CONFIRM: "sometimes", POSTHORN_LEGACY_SSE: "no" }, []);
  expect(problems).toThrow(ConfigError);
  expect(problems).toThrow(
    "POSTHORN_CONFIRM: must be never, risky or always\nPOSTHORN_LEGACY_SSE: must be on or off",
  );
});

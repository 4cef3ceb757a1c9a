import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { environmentOf, packTarball, RUNTIMES, type Runtime } from "../support/runtimes.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** On Node 20 npm may have to compile better-sqlite3. */
const INSTALL_MS = 540_000;

let folder: string;
let tarball: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "posthorn-packed-"));
  tarball = await packTarball(folder);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the packed tarball", () => {
  it.each(RUNTIMES)(
    "starts through npx on Node $release, and an agent schedules with it",
    async (runtime) => {
      using home = temporaryFolder();
      const client = new Client({ name: "test", version: "1" });
      await client.connect(new StdioClientTransport(throughNpx(runtime, home, ["stdio"])), {
        timeout: INSTALL_MS,
      });
      try {
        const { accounts } = structured(await client.callTool({ name: "list_accounts", arguments: {} })) as {
          accounts: { id: string }[];
        };
        const caption = "From a packed tarball";
        const answer = await client.callTool({
          name: "schedule_post",
          arguments: { accountId: accounts[0]!.id, caption, scheduledAt: "2099-01-01T00:00:00Z" },
        });
        expect(structured(answer)).toMatchObject({ post: { caption, status: "scheduled" } });
      } finally {
        await client.close();
      }
    },
  );

  it.each(RUNTIMES.filter(({ hasBuiltInSqlite }) => hasBuiltInSqlite))(
    "publishes the demo's picture on Node $release without a native package",
    async (runtime) => {
      using home = temporaryFolder();
      const { command, args, env } = throughNpx(runtime, home, ["demo", "--exit"]);
      const { stdout } = await promisify(execFile)(command, args, {
        env: { ...env, npm_config_omit: "optional" },
      });
      expect(stdout).toMatch(/published/);
    },
  );
});

function throughNpx(runtime: Runtime, home: ReturnType<typeof temporaryFolder>, args: readonly string[]) {
  // A cache of its own, in which nothing is built or installed yet; packages are fetched once.
  const cache = join(home.path, "cache");
  const fetched = join(folder, "fetched");
  for (const made of [cache, fetched]) mkdirSync(made, { recursive: true });
  symlinkSync(fetched, join(cache, "_cacache"));
  const env = {
    ...environmentOf(runtime, home.path),
    ...home.env,
    POSTHORN_PORT: "0",
    npm_config_cache: cache,
    npm_config_prefer_offline: "true",
  };
  const npx = join(runtime.npm, "bin", "npx-cli.js");
  return { command: runtime.node, args: [npx, "--yes", `--package=${tarball}`, "posthorn", ...args], env };
}

function structured(answer: Awaited<ReturnType<Client["callTool"]>>): unknown {
  expect(answer.isError ?? false).toBe(false);
  return answer.structuredContent;
}

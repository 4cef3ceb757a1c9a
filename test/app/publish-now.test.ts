import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Context } from "../../src/app/compose.ts";
import { readSetup } from "../../src/app/setup.ts";
import { connectWithSecrets } from "../../src/channels/connecting/connections.ts";
import { plainCall } from "../../src/context.ts";
import { startServer } from "../../src/app/start-server.ts";
import { callerOf } from "../support/context.ts";
import { type Answer, type Ask, send } from "../support/http.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { listen } from "../support/listen.ts";

const KEY = "a-key-of-32-characters-or-more-for-tests";
const BEHIND =
  /^The post is not out yet\. It waits for the post before it .*\. Call get_post with id "post_\w+" later/;
const STILL = /^The post is still on its way\. Call get_post with id "post_\w+" in a moment/;

const folder = temporaryFolder();
/** Answers of a platform, held back until a test lets them go. */
const held: (() => void)[] = [];
let how: "out" | "refused" | "held" = "out";
const platform = createServer(async (request, response) => {
  await buffer(request);
  if (request.method !== "POST") return void response.writeHead(405).end();
  if (how === "held") await new Promise<void>((resolve) => held.push(resolve));
  if (how === "refused") return void response.writeHead(422).end("No cats here.");
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ id: "42", url: "https://social.example/42" }));
});

let server: Awaited<ReturnType<typeof startServer>>;
let client: Client;
let accountId: string;

beforeAll(async () => {
  const { port } = await listen(platform);
  const host = `127.0.0.1:${port}`;
  const env = {
    ...folder.env,
    POSTHORN_PORT: "0",
    POSTHORN_LOG_LEVEL: "silent",
    POSTHORN_API_KEY: KEY,
    POSTHORN_ALLOWED_HOSTS: host,
    POSTHORN_CONFIRM: "never",
  };
  const self = { host: "test", pid: process.pid };
  server = await startServer({ setup: await readSetup(env), self, role: "serve" });
  const asked = { provider: "webhook", name: "Cats", secrets: { url: `http://${host}/hook` } };
  const { accounts } = await connectWithSecrets(plainCall(server.ctx, callerOf()), asked);
  accountId = accounts[0].id;
  client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL("/mcp", server.address), {
      requestInit: { headers: { authorization: `Bearer ${KEY}` } },
    }),
  );
});

afterAll(async () => {
  await client.close();
  await server[Symbol.asyncDispose]();
  platform.closeAllConnections();
  platform.close();
  folder[Symbol.dispose]();
});

const ask = (target: string, rest: Ask = {}): Promise<Answer> =>
  send(Number(new URL(server.address).port), target, { key: KEY, ...rest });

async function call(name: string, args: object): Promise<any> {
  const { structuredContent, content } = await client.callTool({ name, arguments: { ...args } });
  return structuredContent ?? content;
}

function letGo(): void {
  how = "out";
  for (const go of held.splice(0)) go();
}

/** The channel sends one post after the other: the next test begins when this one's are out. */
async function untilOver(id: string): Promise<void> {
  letGo();
  const statusOf = async (): Promise<string> => (await ask(`GET /api/v1/posts/${id}`)).json.post.status;
  await expect.poll(statusOf, { timeout: 30_000 }).toBe("published");
}

const body = (caption: string): Ask => ({ json: { accountId, caption } });
const waiting = (seconds: number) => ({ headers: { prefer: `wait=${seconds}` } });

describe("a post that is sent at once, over MCP", () => {
  it("is answered live, also the same call again, with the same answer", async () => {
    how = "out";
    const args = { accountId, caption: "A cat", idempotencyKey: "cat" };
    const first = await call("schedule_post", args);
    expect(first).toMatchObject({
      post: { status: "published", platformUrl: "https://social.example/42" },
      warnings: [],
    });
    expect(await call("schedule_post", args)).toEqual(first);
  });

  it("is answered refused with the reason, and again when it is sent again", async () => {
    how = "refused";
    const { post } = await call("schedule_post", { accountId, caption: "Another cat" });
    expect(post).toMatchObject({ status: "failed", error: expect.stringContaining("422") });
    const again = await call("retry_post", { id: post.id });
    expect(again.post).toMatchObject({ status: "failed", attempts: 2 });
    how = "out";
    const mended = await call("retry_post", { id: post.id, caption: "A dog" });
    expect(mended).toMatchObject({ post: { status: "published" }, warnings: [] });
  });

  it("is answered with the draft that a person approved", async () => {
    how = "refused";
    const { draft } = await call("save_draft", { caption: "A third cat", targets: [{ accountId }] });
    const decided = await ask(`POST /api/v1/tools/decide_draft`, {
      json: { id: draft.id, revision: draft.revision, decision: "approve" },
      ...waiting(20),
    });
    expect(decided.json.result.draft).toMatchObject({
      outcome: "failed",
      posts: [{ status: "failed", error: expect.stringContaining("422") }],
    });
    expect(decided.json.result.warnings).toEqual([
      expect.stringMatching(/^The post did not go out\..* retry_post/),
    ]);
  });

  it("is not waited for without end, and the answer says how to look again", async () => {
    how = "held";
    const { post, warnings } = await call("schedule_post", { accountId, caption: "Slow" });
    expect(post.status).toBe("publishing");
    expect(warnings).toEqual([expect.stringMatching(STILL)]);
    await untilOver(post.id);
  });
});

describe("over HTTP", () => {
  it("waits only where that is preferred, at most so long", async () => {
    how = "held";
    const plain = await ask("POST /api/v1/posts", body("One"));
    expect(plain).toMatchObject({ status: 201, json: { post: { status: "scheduled" }, warnings: [] } });
    expect(plain.headers).not.toHaveProperty("preference-applied");
    const short = await ask("POST /api/v1/posts", { ...body("Two"), ...waiting(1) });
    expect(short.json.post.error).toContain("It waits for the post before it");
    expect(short.json.warnings).toEqual([expect.stringMatching(BEHIND)]);
    expect(short.headers["preference-applied"]).toBe("wait=1");
    letGo();
    const tool = await ask("POST /api/v1/tools/schedule_post", { ...body("Three"), ...waiting(99) });
    expect(tool.headers["preference-applied"]).toBe("wait=30");
    expect(tool.json.result).toMatchObject({ post: { status: "published" }, warnings: [] });
    const odd = await ask("POST /api/v1/posts", {
      ...body("Four"),
      headers: { prefer: 'respond-async, WAIT="20"; x' },
    });
    expect(odd.json.post.status).toBe("published");
    const none = await ask("POST /api/v1/posts", { ...body("Five"), headers: { prefer: "wait=soon" } });
    expect(none.headers).not.toHaveProperty("preference-applied");
    const unable = await ask("GET /api/v1/posts", waiting(5));
    expect(unable.headers).not.toHaveProperty("preference-applied");
    await untilOver(none.json.post.id);
  });

  it("does not wait for what is planned, or only tried", async () => {
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    const planned = await ask("POST /api/v1/posts", {
      json: { accountId, caption: "x", scheduledAt },
      ...waiting(30),
    });
    expect(planned).toMatchObject({ status: 201, json: { post: { status: "scheduled" } } });
    const tried = await ask("POST /api/v1/posts", {
      json: { accountId, caption: "y", dryRun: true },
      ...waiting(30),
    });
    expect(tried).toMatchObject({ status: 200, json: { dryRun: true } });
  });
});

it("the end of the process ends the waiting with an answer, and long before its time", async () => {
  how = "held";
  const waits = ask("POST /api/v1/posts", { ...body("Last"), ...waiting(30) });
  await expect.poll(() => held.length, { timeout: 10_000 }).toBe(1);
  (server.ctx as Context).links.end();
  const { status, json } = await waits;
  // Whether the post before it is out by then is a matter of moments.
  const either = new RegExp(`${STILL.source}|${BEHIND.source}`);
  expect([status, json.warnings]).toEqual([201, [expect.stringMatching(either)]]);
  await untilOver(json.post.id);
});

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { say, toStored } from "../../../src/domain/sentences.ts";
import { forShell, shellWordsOf } from "../../../src/cli/shell/words.ts";
import { createMcpEndpoints, type McpEndpoints } from "../../../src/mcp/transports/endpoints.ts";
import { createToolbox, type Toolbox } from "../../../src/toolkit/toolbox.ts";
import { callerOf } from "../../support/context.ts";
import { queryOf } from "../../support/handles.ts";
import { addPosts } from "../../support/post-rows.ts";
import { send, startTestServer, type TestServer } from "../../support/http.ts";
import { signIn, type Visitor } from "../../support/page.ts";
import { startService, type Service } from "../../support/service.ts";

/* One refusal, one warning and one stored error, as each face has them: data for the page, views and the shell, words for the rest. */

let service: Service;
let page: Visitor;
let toolbox: Toolbox;
let endpoints: McpEndpoints;
let mcp: TestServer;
let feed: string;

const LOST = "outcome unknown: The answer was lost. Look at the channel.";
const SETTLE = { do: "settle", postId: null } as const;
const NOT_THERE = 'id: there is no draft "dft_none". Take ids from list_drafts.';
const AS_DATA = [
  { field: "id", what: 'there is no draft "dft_none".', next: [{ do: "list", of: "drafts" }] },
];
const POST = { caption: "Twice", scheduledAt: "2031-01-30T09:00Z" };

beforeAll(async () => {
  service = await startService();
  feed = await service.addFeed();
  page = await signIn(service);
  toolbox = createToolbox(service.ctx, service.tools);
  endpoints = createMcpEndpoints({ toolbox, ctx: service.ctx, version: "1.2.3" });
  mcp = await startTestServer(service.ctx, service.tools, { mcp: endpoints });
  await addPosts(service.ctx.store, [{ id: "post_lost", accountId: feed, status: "failed" }]);
  const error = toStored(say(LOST, { next: [SETTLE] }));
  await queryOf(service.ctx.store).updateTable("posts").set({ error }).execute();
  await service.call("schedule_post", { ...POST, accountId: feed });
});
afterAll(async () => {
  await endpoints.close();
  await mcp[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

const onPage = async (tool: string, args: object) =>
  (await page.ask(`POST /app/api/tools/${tool}`, { json: args })).json;

async function onApi(tool: string, args: object): Promise<any> {
  const headers = { Authorization: `Bearer ${await service.keyFor("default")}` };
  return (await send(service.port, `POST /api/v1/tools/${tool}`, { headers, json: args })).json;
}

/** `extensions`: what the client says that it can do beside the standard. */
async function overMcp(name: string, args: object, extensions?: object): Promise<any> {
  const url = new URL(`http://127.0.0.1:${mcp.port}/mcp`);
  const requestInit = { headers: { Authorization: `Bearer ${await service.keyFor("default")}` } };
  const capabilities = extensions === undefined ? {} : { extensions };
  const client = new Client({ name: "test", version: "1" }, { capabilities: capabilities as never });
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  const answer = await client.callTool({ name, arguments: { ...args } });
  await client.close();
  return answer;
}

const VIEWS = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
const META = "posthorn/sentences";

it("a refusal is words for programs, and data beside them for the page and for views", async () => {
  const args = { id: "dft_none" };
  expect(await onApi("list_drafts", args)).toEqual({ error: NOT_THERE });
  expect(await onPage("list_drafts", args)).toEqual({ error: NOT_THERE, sentences: AS_DATA });
  const seen = await overMcp("list_drafts", args, VIEWS);
  expect(seen).toMatchObject({ isError: true, content: [{ text: NOT_THERE }] });
  expect(seen._meta[META]).toEqual({ "": AS_DATA });
  expect((await overMcp("list_drafts", args))._meta?.[META]).toBeUndefined();
});

it("a warning is, by its place in the answer", async () => {
  const args = { ...POST, accountId: feed, dryRun: true };
  const { result } = await onApi("schedule_post", args);
  const at = result.warnings.findIndex((one: string) => one.includes("is waiting already"));
  expect(result.warnings[at]).toMatch(/Call get_post with id "post_\w+" to read it\. Cancel one of them/);
  const told = await onPage("schedule_post", args);
  expect(told.result.warnings[at]).toBe(result.warnings[at]);
  expect(told.sentences[`/warnings/${at}`][0].next).toEqual([
    { do: "read", postId: expect.stringMatching(/^post_/) },
  ]);
  const seen = await overMcp("schedule_post", args, VIEWS);
  expect(seen.structuredContent.warnings[at]).toBe(result.warnings[at]);
  expect(seen._meta[META][`/warnings/${at}`]).toEqual(told.sentences[`/warnings/${at}`]);
});

it("a stored error is, and the shell says it in commands", async () => {
  const args = { id: "post_lost" };
  const words = `${LOST} Settle it with resolve_post.`;
  expect((await onApi("get_post", args)).result.post.error).toBe(words);
  const { sentences } = await onPage("get_post", args);
  expect(sentences).toEqual({ "/post/error": [{ field: null, what: LOST, next: [SETTLE] }] });
  expect((await overMcp("get_post", args, VIEWS))._meta[META]).toEqual(sentences);
  const called = await toolbox.call("get_post", args, callerOf());
  expect(shellWordsOf(called.sentences)(words)).toBe(forShell(say(LOST, { next: [SETTLE] })));
});

it("an answer that is kept for its key is kept in words", async () => {
  const call = () =>
    toolbox.call("schedule_post", { ...POST, accountId: feed, idempotencyKey: "twice" }, callerOf());
  const first = await call();
  const again = await call();
  expect([first.isReplay, again.isReplay]).toEqual([false, true]);
  expect(again.result).toEqual(first.result);
  expect(Object.keys(first.sentences)).not.toEqual([]);
  expect(again.sentences).toEqual({});
});

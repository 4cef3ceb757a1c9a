import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, it } from "vitest";
import { loadCatalog } from "../../../src/app/catalog.ts";
import { serveStdio } from "../../../src/mcp/transports/stdio.ts";
import { createToolbox } from "../../../src/toolkit/toolbox.ts";
import { callerOf, createTestContext, type TestContext } from "../../support/context.ts";
import { addAccount, addPosts } from "../../support/post-rows.ts";
import { follow, Notes } from "../peers.ts";
import { queryOf } from "../../support/handles.ts";

const URI = "posthorn://posts/post_1";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "hand", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

let ctx: TestContext;
let input: PassThrough;
let lines: Notes;
let served: Promise<void>;

beforeEach(async () => {
  const { tools, platforms } = await loadCatalog();
  ctx = await createTestContext({ platformList: platforms });
  await addAccount(ctx.store, { id: "acc_1" });
  await addPosts(ctx.store, [{ id: "post_1" }, { id: "post_2" }]);
  input = new PassThrough();
  const output = new PassThrough();
  lines = new Notes();
  follow(output, lines);
  served = serveStdio({
    toolbox: createToolbox(ctx, tools),
    ctx,
    version: "1.2.3",
    caller: callerOf({ isLocal: true }),
    stdin: input,
    stdout: output,
    stopSignal: new AbortController().signal,
  });
});

afterEach(async () => {
  input.end();
  await served;
  await ctx[Symbol.asyncDispose]();
});

function send(message: object): void {
  input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

function listen(id: number, resourceSubscriptions: string[]): void {
  send({
    id,
    method: "subscriptions/listen",
    params: { notifications: { resourceSubscriptions }, _meta: META },
  });
}

const frames = (): any[] => lines.list.map((line) => JSON.parse(line));
const updates = (): any[] => frames().filter(({ method }) => method === "notifications/resources/updated");

async function acknowledgements(count: number): Promise<any[]> {
  for (;;) {
    const found = frames().filter(({ method }) => method === "notifications/subscriptions/acknowledged");
    if (found.length >= count) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A change past the service, and the moment in which it is noticed. */
async function change(id: string): Promise<void> {
  await queryOf(ctx.store)
    .updateTable("posts")
    .set((row) => ({ updated_at: row("updated_at", "+", 1) }))
    .where("id", "=", id)
    .execute();
  await ctx.clock.advance(1_000);
  await new Promise((resolve) => setTimeout(resolve, 0));
}

it("tells each subscription of its own posts, once, until it is cancelled", async () => {
  send({ id: 1, method: "server/discover", params: { _meta: META } });
  listen(2, [URI]);
  listen(3, [URI, "posthorn://posts/post_2"]);
  await acknowledgements(2);
  await change("post_1");
  await change("post_2");
  const subscriptionOf = ({ params }: any): unknown => params._meta["io.modelcontextprotocol/subscriptionId"];
  expect(updates().map((update) => [subscriptionOf(update), update.params.uri])).toEqual([
    [2, URI],
    [3, URI],
    [3, "posthorn://posts/post_2"],
  ]);
  send({ method: "notifications/cancelled", params: { requestId: 3, _meta: META } });
  await new Promise((resolve) => setImmediate(resolve));
  await change("post_1");
  await change("post_2");
  expect(updates().slice(3).map(subscriptionOf)).toEqual([2]);
});

it("acknowledges no more than it watches", async () => {
  send({ id: 1, method: "server/discover", params: { _meta: META } });
  listen(2, [URI, "posthorn://accounts/acc_1", "https://example.com/"]);
  const [acknowledged] = await acknowledgements(1);
  expect(acknowledged.params.notifications).toEqual({ resourceSubscriptions: [URI] });
});

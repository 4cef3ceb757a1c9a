import { connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { defineTool } from "../../src/toolkit/define-tool.ts";
import { createTestContext, type TestContext } from "../support/context.ts";
import { startTestServer, type TestServer } from "../support/http.ts";

const MiB = 1024 * 1024;
const PAGE = "x".repeat(5 * MiB);

let made = 0;
const page = (name: string, openWorld: boolean) =>
  defineTool({
    name,
    title: "List pages",
    permission: "read",
    description: "Lists a large page. Example: {}",
    hints: { readOnly: true, destructive: false, idempotent: true, openWorld },
    input: z.strictObject({}),
    output: z.strictObject({ page: z.string() }),
    handle: async () => {
      made += 1;
      return { page: PAGE };
    },
  });

let ctx: TestContext;
let server: TestServer;
let mine: string;
let theirs: string;
const sockets: Socket[] = [];

beforeAll(async () => {
  ctx = await createTestContext();
  server = await startTestServer(ctx, [page("list_pages", false), page("ask_platform", true)], {
    routes: [],
  });
  [mine, theirs] = [await server.keyFor("default"), await server.keyFor("other")];
});

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  made = 0;
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await ctx[Symbol.asyncDispose]();
});

function ask(key: string, tool = "list_pages"): Socket {
  const socket = connect(server.port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => {}).pause();
  socket.write(
    `POST /api/v1/tools/${tool} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n` +
      "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
  );
  return socket;
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 500));

describe("sixty pages that nobody reads", () => {
  it("are eight in memory, and hold up no other key", async () => {
    for (let at = 0; at < 60; at++) ask(mine);
    await expect.poll(() => made).toBe(8);
    await settled();
    expect(made).toBe(8);
    const other = await server.ask("POST /api/v1/tools/list_pages", { key: theirs, json: {} });
    expect([other.status, made]).toEqual([200, 9]);
  });

  it("go on as they are read, and past those that have left", async () => {
    const all = Array.from({ length: 20 }, () => ask(mine));
    await expect.poll(() => made).toBe(8);
    for (const socket of all.slice(8, 14)) socket.destroy();
    await settled();
    for (const socket of all) socket.resume();
    await expect.poll(() => made, { timeout: 5_000 }).toBe(14);
  });

  it("do not make what asks a platform wait", async () => {
    for (let at = 0; at < 10; at++) ask(mine, "ask_platform");
    await expect.poll(() => made).toBe(10);
  });
});

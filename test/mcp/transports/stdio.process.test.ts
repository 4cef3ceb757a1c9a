import { spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import type { Readable, Writable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { serveStdio } from "../../../src/mcp/transports/stdio.ts";
import { createToolbox } from "../../../src/toolkit/toolbox.ts";
import { callerOf, createTestContext, type TestContext } from "../../support/context.ts";
import { asMcp, follow, Notes, processOf, startProcess } from "../peers.ts";
import { createSmallTools } from "../small-tools.ts";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: "init",
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "hand", version: "1" } },
};
const MODERN_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "hand", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Frames by hand on a pair of streams. */
class Wire {
  readonly frames: any[] = [];
  readonly #input: Writable;
  readonly #news = new Notes();

  constructor(input: Writable, output: Readable) {
    this.#input = input;
    const lines = new Notes();
    lines.on("note", () => {
      this.frames.push(JSON.parse(lines.list.at(-1)!));
      this.#news.emit("note");
    });
    follow(output, lines);
  }

  send(message: unknown): void {
    this.raw(`${JSON.stringify(message)}\n`);
  }

  raw(text: string): void {
    this.#input.write(text);
  }

  call(id: number | string, name: string, args: object = {}): void {
    this.send({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } });
  }

  /** The first frame that fits, now or later. */
  async frame(fits: (frame: any) => boolean): Promise<any> {
    for (;;) {
      const found = this.frames.find(fits);
      if (found !== undefined) return found;
      await once(this.#news, "note");
    }
  }

  answer(id: number | string | null): Promise<any> {
    return this.frame((frame) => frame.id === id);
  }
}

describe("serveStdio", () => {
  let ctx: TestContext;
  let stdin: PassThrough;
  let stdout: PassThrough;
  let stop: AbortController;
  let notes: Notes;
  let ended: Promise<void>;
  let wire: Wire;

  beforeEach(async () => {
    ctx = await createTestContext();
    stdin = new PassThrough();
    stdout = new PassThrough();
    stop = new AbortController();
    notes = new Notes();
    const toolbox = createToolbox(
      ctx,
      createSmallTools((note) => notes.add(note)),
    );
    const caller = callerOf({ permissions: ["read"], isLocal: true });
    ended = serveStdio({ toolbox, ctx, version: "1.2.3", caller, stdin, stdout, stopSignal: stop.signal });
    wire = new Wire(stdin, stdout);
  });

  afterEach(async () => {
    stop.abort();
    await ended;
    await ctx[Symbol.asyncDispose]();
  });

  it.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
    "initializes a client of %s in its revision",
    async (protocolVersion) => {
      wire.send({ ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion } });
      expect((await wire.answer("init")).result).toMatchObject({
        protocolVersion,
        capabilities: { tools: {} },
      });
    },
  );

  it("offers its newest revision with sessions to a client of an unknown one", async () => {
    wire.send({ ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion: "1999-01-01" } });
    expect((await wire.answer("init")).result.protocolVersion).toBe("2025-11-25");
  });

  it("serves 2026-07-28 without a handshake, and says that lists are for this key alone", async () => {
    wire.send({ jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta: MODERN_META } });
    wire.send({ jsonrpc: "2.0", id: 2, method: "tools/list", params: { _meta: MODERN_META } });
    expect((await wire.answer(1)).result).toMatchObject({
      supportedVersions: ["2026-07-28"],
      cacheScope: "private",
    });
    expect((await wire.answer(2)).result).toMatchObject({ resultType: "complete", cacheScope: "private" });
  });

  it("lists only what the caller may call, and refuses the rest in the connection's terms", async () => {
    wire.send(INITIALIZE);
    wire.send({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    wire.call(2, "refuse", { id: "post_1" });
    expect((await wire.answer(1)).result.tools.map((tool: { name: string }) => tool.name)).not.toContain(
      "refuse",
    );
    expect((await wire.answer(2)).result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^This assistant only reads\. /) }],
    });
  });

  it("lists the tools byte for byte as the toolbox does", async () => {
    wire.send(INITIALIZE);
    wire.send({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    const { tools } = (await wire.answer(1)).result;
    const toolbox = createToolbox(ctx, createSmallTools());
    expect(JSON.stringify(tools)).toBe(
      JSON.stringify(toolbox.list(callerOf({ permissions: ["read"], isLocal: true })).map(asMcp)),
    );
  });

  it.each(["2024-11-05", "2025-03-26", "2025-06-18"])(
    "tells a client of %s the title once",
    async (protocolVersion) => {
      wire.send({ ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion } });
      wire.send({ jsonrpc: "2.0", id: 1, method: "tools/list" });
      const [echo] = (await wire.answer(1)).result.tools;
      expect(echo).toMatchObject({ name: "echo", title: "Echo" });
      expect(echo.annotations).toEqual({
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      });
    },
  );

  it("refuses a cursor that it never gave", async () => {
    wire.send(INITIALIZE);
    wire.send({ jsonrpc: "2.0", id: 1, method: "tools/list", params: { cursor: "x" } });
    expect((await wire.answer(1)).error.code).toBe(-32602);
  });

  it("passes over garbage, and goes on", async () => {
    wire.raw('garbage\n\n\r\n[]\n{"jsonrpc":"2.0","id":1,"result":{},"error":5}\n');
    wire.send(INITIALIZE);
    await wire.answer("init");
    expect(wire.frames).toHaveLength(1);
  });

  it("answers a line without an end, holds none of it, and stays", async () => {
    wire.send(INITIALIZE);
    await wire.answer("init");
    for (let written = 0; written <= 20 * 1024 * 1024; written += 65_536) wire.raw("x".repeat(65_536));
    expect((await wire.answer(null)).error.message).toContain("longer than 8 MiB");
    wire.raw("\n");
    wire.call(1, "echo", { text: "Still there?" });
    expect((await wire.answer(1)).result.structuredContent.text).toBe("Still there?");
  });

  it("reads a message of some megabytes", async () => {
    wire.send(INITIALIZE);
    wire.call(1, "echo", { text: "x".repeat(4 * 1024 * 1024) });
    const { structuredContent } = (await wire.answer(1)).result;
    // Whole it would be more than a model can be given.
    expect(structuredContent.text).toBe(`${"x".repeat(4_000)}…`);
    expect(structuredContent.note).toContain("cut after 4000 characters");
  });

  it.each([
    [
      "before the rest",
      (text: string) => `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"x":"${text}"}}`,
      7,
    ],
    [
      "after the rest",
      (text: string) => `{"method":"tools/call","params":{"id":1,"x":"${text}"},"id":"a7"}`,
      "a7",
    ],
    ["nowhere", (text: string) => `{"method":"x","params":{"x":"${text}","id":1}}`, null],
  ])("answers a line that is too long, with its id %s, and goes on", async (_where, write, id) => {
    for (const megabytes of [9, 12]) {
      wire.frames.length = 0;
      wire.raw(`${write("x".repeat(megabytes * 1024 * 1024))}\n`);
      expect((await wire.answer(id)).error).toEqual({
        code: -32_600,
        message: "The message is longer than 8 MiB. Send less at once.",
      });
      wire.send({ ...INITIALIZE, id: `init ${megabytes}` });
      expect((await wire.answer(`init ${megabytes}`)).result).toBeDefined();
    }
  });

  it("answers a line that is too long where the input ends in it", async () => {
    wire.raw(`{"id":9,"method":"tools/call","params":{"x":"${"x".repeat(12 * 1024 * 1024)}`);
    stdin.end();
    expect((await wire.answer(9)).error.message).toContain("longer than 8 MiB");
    await ended;
  });

  it("refuses arguments nested without end", async () => {
    wire.send(INITIALIZE);
    wire.raw(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"extra":{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}}}}\n`,
    );
    expect((await wire.answer(1)).result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("nested deeper") }],
    });
  });

  it("tells only rising progress, and not faster than can be drawn", async () => {
    wire.send(INITIALIZE);
    wire.send({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "count", arguments: { to: 5 }, _meta: { progressToken: "p" } },
    });
    await wire.answer(1);
    expect(
      wire.frames
        .filter((frame) => frame.method === "notifications/progress")
        .map((frame) => frame.params.progress),
    ).toEqual([1, 5]);
    expect(wire.frames.at(-1).id).toBe(1);
  });

  it("answers the calls in flight after its input has ended, then ends", async () => {
    wire.send(INITIALIZE);
    wire.call(1, "wait", { ms: 100 });
    stdin.end();
    await ended;
    expect((await wire.answer(1)).result.structuredContent).toEqual({ waited: true });
  });

  it("reads a last line without a newline", async () => {
    wire.send(INITIALIZE);
    wire.raw('{"jsonrpc":"2.0","id":1,"method":"ping"}');
    stdin.end();
    await ended;
    expect((await wire.answer(1)).result).toEqual({});
  });

  it("gives up on a call that takes longer than the grace", async () => {
    wire.send(INITIALIZE);
    wire.call(1, "wait");
    await notes.has("waiting");
    stdin.end();
    await once(stdin, "close");
    await ctx.clock.advance(5_000);
    await ended;
    expect(notes.list).toContain("cancelled");
    expect(wire.frames.map((frame) => frame.id)).toEqual(["init"]);
  });

  it("does not wait for a subscription, nor for a call that was cancelled", async () => {
    wire.send({
      jsonrpc: "2.0",
      id: 1,
      method: "subscriptions/listen",
      params: { _meta: MODERN_META, notifications: { toolsListChanged: true } },
    });
    wire.send({
      jsonrpc: "2.0",
      id: 2,
      method: "tools/call",
      params: { _meta: MODERN_META, name: "wait", arguments: {} },
    });
    await notes.has("waiting");
    wire.send({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { _meta: MODERN_META, requestId: 2 },
    });
    await notes.has("cancelled");
    stdin.end();
    await ended;
  });

  it("ends when it is told to", async () => {
    wire.send(INITIALIZE);
    await wire.answer("init");
    stop.abort();
    await ended;
  });

  it("ends when nobody reads its answers", async () => {
    wire.send(INITIALIZE);
    await wire.answer("init");
    stdout.destroy(new Error("EPIPE"));
    await ended;
  });
});

describe("a process on standard streams", () => {
  it.each([
    ["the end of its input", (child: ReturnType<typeof startProcess>) => void child.stdin.end()],
    ["SIGTERM", (child: ReturnType<typeof startProcess>) => void child.kill("SIGTERM")],
    ["SIGINT", (child: ReturnType<typeof startProcess>) => void child.kill("SIGINT")],
    ["SIGHUP", (child: ReturnType<typeof startProcess>) => void child.kill("SIGHUP")],
  ])(
    "ends by %s after answering what is in flight, with nothing but frames on its output",
    async (_way, end) => {
      const child = startProcess();
      const errors = new Notes();
      follow(child.stderr, errors);
      const wire = new Wire(child.stdin, child.stdout);
      wire.send(INITIALIZE);
      wire.call(1, "wait", { ms: 200 });
      await errors.has("waiting");
      end(child);
      const [code] = await once(child, "close");
      expect(code).toBe(0);
      expect((await wire.answer(1)).result.structuredContent).toEqual({ waited: true });
      expect(wire.frames.every((frame) => frame.jsonrpc === "2.0")).toBe(true);
      expect(errors.list.filter((note) => !note.startsWith("wait"))).toEqual([]);
    },
  );

  it("ends when its reader is gone", async () => {
    const child = startProcess();
    const wire = new Wire(child.stdin, child.stdout);
    wire.send(INITIALIZE);
    await wire.answer("init");
    child.stdout.destroy();
    child.stdin.on("error", () => {});
    wire.send({ jsonrpc: "2.0", id: 1, method: "ping" });
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
  });

  it("ends with its parent, though its input stays open", async () => {
    const { command, args } = processOf();
    const inherit = `require("node:child_process").spawn(${JSON.stringify(command)}, ${JSON.stringify(args)}, { stdio: "inherit" })`;
    const parent = spawn(process.execPath, ["-e", inherit], { stdio: ["pipe", "pipe", "inherit"] });
    const wire = new Wire(parent.stdin, parent.stdout);
    wire.send(INITIALIZE);
    await wire.answer("init");
    parent.kill("SIGKILL");
    await once(parent.stdout, "end");
  });
});

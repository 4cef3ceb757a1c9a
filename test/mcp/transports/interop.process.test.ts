import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { INTERNAL_ERROR_SENTENCE } from "../../../src/domain/errors.ts";
import { instructionsFor } from "../../../src/mcp/instructions.ts";
import { createToolbox } from "../../../src/toolkit/toolbox.ts";
import { callerOf } from "../../support/context.ts";
import {
  asMcp,
  connectPeer,
  Notes,
  startMcpServer,
  type Line,
  type McpServerUnderTest,
  type Peer,
  type Wire,
} from "../peers.ts";
import { createSmallTools } from "../small-tools.ts";

const PAIRS: { wire: Wire; line: Line; version: string }[] = [
  { wire: "stdio", line: "sdk 1", version: "2025-11-25" },
  { wire: "stdio", line: "sdk 2, sessions", version: "2025-11-25" },
  { wire: "stdio", line: "sdk 2, stateless", version: "2026-07-28" },
  { wire: "/mcp", line: "sdk 1", version: "2025-11-25" },
  { wire: "/mcp", line: "sdk 2, sessions", version: "2025-11-25" },
  { wire: "/mcp", line: "sdk 2, stateless", version: "2026-07-28" },
  { wire: "/sse", line: "sdk 1", version: "2025-11-25" },
  { wire: "/sse", line: "sdk 2, sessions", version: "2025-11-25" },
];

let server: McpServerUnderTest;

beforeAll(async () => {
  server = await startMcpServer();
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

describe.each(PAIRS)("a client of $line on $wire", ({ wire, line, version }) => {
  let peer: Peer;
  let notes: Notes;

  beforeAll(async () => {
    notes = wire === "stdio" ? new Notes() : server.notes;
    peer = await connectPeer({ wire, line, port: server.http.port, key: server.key, notes });
  });

  beforeEach(() => {
    notes.list.length = 0;
  });

  afterAll(async () => {
    await peer[Symbol.asyncDispose]();
  });

  it("learns who serves it and how the tools belong together", () => {
    // A process of its own has its own clock.
    const timeless = (text = ""): string => text.replace(/It was .* when/, "It was … when");
    expect(timeless(peer.instructions())).toBe(
      timeless(
        instructionsFor(
          server.ctx,
          createSmallTools().map(({ name }) => name),
        ),
      ),
    );
    expect(peer.serverInfo()).toMatchObject({ name: "posthorn", title: "Posthorn", version: "1.2.3" });
    if (peer.version() !== undefined) expect(peer.version()).toBe(version);
  });

  it("sees the very list of the toolbox", async () => {
    const toolbox = createToolbox(server.ctx, createSmallTools());
    const listed = await peer.listTools();
    expect(listed).toEqual(toolbox.list(callerOf({ isLocal: wire === "stdio" })).map(asMcp));
    const fields = Object.keys(listed.find((tool) => tool.name === "read_here").inputSchema.properties);
    expect(fields).toEqual(wire === "stdio" ? ["url", "path", "idempotencyKey"] : ["url", "idempotencyKey"]);
  });

  it("gets a result twice: as structure, and as the same JSON in text", async () => {
    const result = await peer.call("echo", { text: "Grüße 🎉" });
    expect(result.structuredContent).toMatchObject({ text: "Grüße 🎉", owner: "default" });
    expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent);
    expect(result.isError ?? false).toBe(false);
  });

  it("may leave the arguments out", async () => {
    expect((await peer.call("echo")).structuredContent).toMatchObject({ text: "nothing" });
  });

  it.each([
    ["a refusal", "refuse", { id: "post_9" }],
    ["wrong arguments", "refuse", { id: 9, more: true }],
    ["an unknown tool", "fly", {}],
  ])("reads for %s the sentence of HTTP", async (_what, name, args) => {
    const answer = await server.http.ask(`POST /api/v1/tools/${name}`, { json: args });
    const result = await peer.call(name, args);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(result).toMatchObject({ isError: true, content: [{ type: "text", text: answer.json.error }] });
  });

  it("learns nothing of a bug but that there is one", async () => {
    const result = await peer.call("break");
    expect(result).toMatchObject({
      isError: true,
      content: [{ type: "text", text: INTERNAL_ERROR_SENTENCE }],
    });
  });

  it("is told the progress it asked for, before the result", async () => {
    const seen: unknown[] = [];
    const result = await peer.call("count", { to: 3 }, { onprogress: (progress) => seen.push(progress) });
    expect(result.structuredContent).toEqual({ counted: 3 });
    expect(seen[0]).toEqual({ progress: 1, total: 3, message: "Step 1" });
    expect(seen.at(-1)).toEqual({ progress: 3, total: 3, message: "Step 3" });
  });

  it("cancels a call, and the tool hears of it", async () => {
    const cancel = new AbortController();
    const call = peer.call("wait", {}, { signal: cancel.signal }).catch((error: unknown) => error);
    await notes.has("waiting");
    cancel.abort("changed my mind");
    await notes.has("cancelled");
    expect(await call).toBeInstanceOf(Error);
    expect((await peer.call("echo", { text: "still here" })).structuredContent).toMatchObject({
      text: "still here",
    });
  });

  it("has 64 calls in flight without a warning", async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on("warning", onWarning);
    const calls = Array.from({ length: 64 }, (_, index) =>
      peer.call(index % 2 === 0 ? "wait" : "echo", index % 2 === 0 ? { ms: 50 } : {}),
    );
    const results = await Promise.all(calls);
    process.off("warning", onWarning);
    expect(results.filter((result) => result.isError === true)).toEqual([]);
    expect(notes.list.filter((note) => note !== "waiting" && note !== "waited")).toEqual([]);
    // The client of SDK 1 listens once per message on its own side of the pipe.
    if (wire !== "stdio") expect(warnings).toEqual([]);
  });
});

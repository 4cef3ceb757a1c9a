import { PassThrough } from "node:stream";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { serveStdio } from "../../../src/mcp/transports/stdio.ts";
import { createToolbox } from "../../../src/toolkit/toolbox.ts";
import { callerOf } from "../../support/context.ts";
import { startService, type Service } from "../../support/service.ts";

const CLIENT = { name: "claude-code", title: "Claude Code", version: "1" };
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": CLIENT,
  "io.modelcontextprotocol/clientCapabilities": {},
};
const INITIALIZE = {
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: CLIENT },
};

/** Calls a tool as the program at the other end of stdio does. */
async function callOverStdio(service: Service, messages: readonly object[]): Promise<any> {
  const [stdin, stdout, stop] = [new PassThrough(), new PassThrough(), new AbortController()];
  const ended = serveStdio({
    toolbox: createToolbox(service.ctx, service.tools),
    ctx: service.ctx,
    version: "1.2.3",
    caller: callerOf({ keyId: "local", permissions: ["read", "draft", "publish", "files"], isLocal: true }),
    stdin,
    stdout,
    stopSignal: stop.signal,
  });
  const last = messages.length - 1;
  for (const [id, message] of messages.entries())
    stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...message })}\n`);
  try {
    for await (const line of createInterface({ input: stdout })) {
      const frame = JSON.parse(line);
      if (frame.id === last) return frame.result.structuredContent;
    }
  } finally {
    stop.abort();
    await ended;
  }
}

it.each([
  ["with a session", [INITIALIZE], {}],
  ["without one", [], { _meta: META }],
])("names the program that wrote a draft and the one that decided, %s", async (_how, before, meta) => {
  await using service = await startService();
  const accountId = await service.addFeed();
  const program = { keyId: "local", name: "Claude Code (this machine)" };
  const tool = (name: string, args: object): object[] => [
    ...before,
    { method: "tools/call", params: { name, arguments: args, ...meta } },
  ];
  const content = { caption: "Hello", targets: [{ accountId }], scheduledAt: "2030-01-01T09:00:00Z" };
  const { draft } = await callOverStdio(service, tool("save_draft", { ...content, submit: true }));
  expect(draft.writtenBy).toEqual(program);
  const decision = { id: draft.id, revision: draft.revision, decision: "changes", note: "Shorter" };
  const { draft: decided } = await callOverStdio(service, tool("decide_draft", decision));
  expect(decided.decision.by).toEqual(program);
  // The person's own page has the same key, and no program.
  const approval = { id: draft.id, revision: decided.revision, decision: "approve" };
  const { draft: approved } = await service.call("decide_draft", approval, { keyId: "local" });
  expect(approved).toMatchObject({ writtenBy: program, decision: { by: { name: "This machine" } } });
});

import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { send } from "../../support/http.ts";
import {
  connectPeer,
  Notes,
  startMcpServer,
  type Answer,
  type Line,
  type McpServerUnderTest,
  type Question,
  type Wire,
} from "../peers.ts";

const PAIRS: { wire: Wire; line: Line }[] = [
  { wire: "stdio", line: "sdk 1" },
  { wire: "stdio", line: "sdk 2, stateless" },
  { wire: "/mcp", line: "sdk 1" },
  { wire: "/mcp", line: "sdk 2, sessions" },
  { wire: "/mcp", line: "sdk 2, stateless" },
  { wire: "/sse", line: "sdk 2, sessions" },
];

let server: McpServerUnderTest;

beforeAll(async () => {
  server = await startMcpServer();
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

describe.each(PAIRS)("a tool that asks a client of $line on $wire", ({ wire, line }) => {
  let answer: (question: Question) => Answer;
  let peer: Awaited<ReturnType<typeof connectPeer>>;
  const asked: Question[] = [];

  beforeAll(async () => {
    const person = (question: Question): Answer => {
      asked.push(question);
      return answer(question);
    };
    peer = await connectPeer({
      wire,
      line,
      port: server.http.port,
      key: server.key,
      notes: new Notes(),
      person,
    });
  });

  beforeEach(() => {
    asked.length = 0;
    answer = ({ message }) => ({
      action: "accept",
      content: { value: message.includes("colour") ? "blue" : "Alice" },
    });
  });

  afterAll(async () => {
    await peer[Symbol.asyncDispose]();
  });

  it("gets the replies of all rounds", async () => {
    expect((await peer.call("interview")).structuredContent).toEqual({ said: "Alice likes blue." });
    expect(asked.map(({ message }) => message)).toEqual([
      "What is your name?",
      "What is your favourite colour, Alice?",
    ]);
    expect(asked[0]?.requestedSchema).toMatchObject({ properties: { value: { type: "string" } } });
  });

  it("learns that the person does not want to say", async () => {
    answer = () => ({ action: "decline" });
    expect((await peer.call("interview")).structuredContent).toEqual({ said: "Somebody (decline)." });
  });
});

describe.each(["sdk 1", "sdk 2, sessions"] as const)("a client of %s that can show no form", (line) => {
  it("is told so", async () => {
    await using peer = await connectPeer({ wire: "/mcp", line, port: server.http.port, key: server.key });
    expect(await peer.call("interview")).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("elicitation") }],
    });
  });
});

describe("a client that calls again by itself", () => {
  const ALICE = { name: { action: "accept", content: { value: "Alice" } } };
  const BLUE = { colour: { action: "accept", content: { value: "blue" } } };

  it("is asked with a state of its own each time, and answers both", async () => {
    const first = await interview({});
    expect(first.result).toMatchObject({
      resultType: "input_required",
      inputRequests: { name: { method: "elicitation/create" } },
    });
    const second = await interview({ inputResponses: ALICE, requestState: first.result.requestState });
    expect(Object.keys(second.result.inputRequests)).toEqual(["colour"]);
    const last = await interview({ inputResponses: BLUE, requestState: second.result.requestState });
    expect(last.result.structuredContent).toEqual({ said: "Alice likes blue." });
  });

  it("is asked again for what is not the reply to the question", async () => {
    const roots = await interview({ inputResponses: { name: { roots: [] } } });
    expect(Object.keys(roots.result.inputRequests)).toEqual(["name"]);
  });

  it.each([
    ["changed", (state: string) => `${state.slice(0, 40)}${state[40] === "A" ? "B" : "A"}${state.slice(41)}`],
    ["made up", () => randomBytes(60).toString("base64url")],
  ])("is refused with a state that was %s", async (_what, change) => {
    const { result } = await interview({});
    const { error } = await interview({ inputResponses: ALICE, requestState: change(result.requestState) });
    expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining("requestState") });
  });

  it("is refused with the state of another key, or of another call", async () => {
    const { result } = await interview({});
    const retry = { inputResponses: ALICE, requestState: result.requestState };
    const otherKey = await server.http.keyFor("default");
    expect((await interview(retry, { key: otherKey })).error).toMatchObject({ code: -32_602 });
    expect((await interview(retry, { tool: "interview_again" })).error).toMatchObject({ code: -32_602 });
  });

  it("is refused with a state that is too old", async () => {
    const { result } = await interview({});
    server.ctx.clock.jumpTo(new Date(server.ctx.clock.now() + 11 * 60_000).toISOString());
    expect(
      (await interview({ inputResponses: ALICE, requestState: result.requestState })).error,
    ).toMatchObject({ code: -32_602 });
  });

  it("is told which ability it lacks", async () => {
    const { error, status } = await interview({}, { capabilities: {} });
    expect(error).toMatchObject({ code: -32_021, data: { requiredCapabilities: { elicitation: {} } } });
    expect(status).toBe(400);
  });
});

interface Way {
  readonly key?: string;
  readonly tool?: string;
  readonly capabilities?: object;
}

async function interview(
  params: object,
  { key = server.key, tool = "interview", capabilities = { elicitation: {} } }: Way = {},
) {
  const version = "2026-07-28";
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
  const { json, text, status } = await send(server.http.port, "POST /mcp", {
    key,
    json: {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: tool, arguments: {}, ...params, _meta },
    },
    headers: {
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": version,
      "Mcp-Method": "tools/call",
      "Mcp-Name": tool,
    },
  });
  return { status, ...(json ?? JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? "{}")) };
}

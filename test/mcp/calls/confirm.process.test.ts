import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createToolbox } from "../../../src/toolkit/toolbox.ts";
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
import { createSmallTools } from "../small-tools.ts";

const PAIRS: { wire: Wire; line: Line }[] = [
  { wire: "stdio", line: "sdk 1" },
  { wire: "stdio", line: "sdk 2, sessions" },
  { wire: "stdio", line: "sdk 2, stateless" },
  { wire: "/mcp", line: "sdk 1" },
  { wire: "/mcp", line: "sdk 2, sessions" },
  { wire: "/mcp", line: "sdk 2, stateless" },
  { wire: "/sse", line: "sdk 1" },
  { wire: "/sse", line: "sdk 2, sessions" },
];

const YES: Answer = { action: "accept", content: {} };

let server: McpServerUnderTest;

beforeAll(async () => {
  server = await startMcpServer();
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

beforeEach(() => {
  server.notes.list.length = 0;
});

function sentenceIn(result: any): string {
  expect(result.isError).toBe(true);
  expect(result.structuredContent).toBeUndefined();
  return result.content[0].text;
}

describe.each(PAIRS)("a client of $line on $wire that can ask a person", ({ wire, line }) => {
  let peer: Awaited<ReturnType<typeof connectPeer>>;
  let notes: Notes;
  let answer: (question: Question) => Answer | Promise<Answer>;
  const asked: Question[] = [];

  beforeAll(async () => {
    notes = wire === "stdio" ? new Notes() : server.notes;
    const person = (question: Question): Answer | Promise<Answer> => {
      asked.push(question);
      return answer(question);
    };
    peer = await connectPeer({ wire, line, port: server.http.port, key: server.key, notes, person });
  });

  beforeEach(() => {
    asked.length = 0;
    notes.list.length = 0;
    answer = () => YES;
  });

  afterAll(async () => {
    await peer[Symbol.asyncDispose]();
  });

  it("asks once, and does it after a yes", async () => {
    const result = await peer.call("erase", { what: "the board" });
    expect(result.structuredContent).toEqual({ erased: "the board" });
    expect(asked).toMatchObject([
      { message: "Erase the board?", requestedSchema: { type: "object", properties: {} } },
    ]);
    await notes.has("erased the board");
  });

  it.each([
    ["decline", /declined, so nothing was done/],
    ["cancel", /closed the question without an answer, so nothing was done/],
  ] as const)("does nothing after %s, and says so", async (action, sentence) => {
    answer = () => ({ action });
    expect(sentenceIn(await peer.call("erase", { what: "the board" }))).toMatch(sentence);
    await peer.call("erase", { what: "a trifle" });
    await notes.has("erased a trifle");
    expect(notes.list).not.toContain("erased the board");
  });

  it.each(["decline", "cancel"] as const)("gets no token after %s, and is asked again", async (action) => {
    answer = () => ({ action });
    const sentence = sentenceIn(await peer.call("erase", { what: "the attic" }));
    expect(sentence).not.toMatch(/[\w-]{22}\./);
    expect(sentenceIn(await peer.call("erase", { what: "the attic" }))).toBe(sentence);
    expect(asked.length).toBe(2);
    expect(notes.list).toEqual([]);
  });

  it("is not asked about a trifle", async () => {
    expect((await peer.call("erase", { what: "a trifle" })).structuredContent).toEqual({
      erased: "a trifle",
    });
    expect(asked).toEqual([]);
  });

  it("is told when the client cannot ask after all", async () => {
    answer = () => Promise.reject(new Error("The window is gone"));
    const end = await peer.call("erase", { what: "the board" }).catch((error: unknown) => error);
    // A stateless client keeps its own failure to itself.
    if (!(end instanceof Error))
      expect(sentenceIn(end)).toMatch(/could not put the question to the person, so nothing was done/);
    expect(notes.list).not.toContain("erased the board");
  });

  it("is asked once about a call with an idempotency key, however often it is sent", async () => {
    const args = { what: `the board on ${wire} by ${line}`, idempotencyKey: `${wire} ${line}` };
    answer = () => ({ action: "decline" });
    expect(sentenceIn(await peer.call("erase", args))).toMatch(/nothing was done/);
    answer = () => YES;
    const first = await peer.call("erase", args);
    expect(first.structuredContent).toEqual({ erased: args.what });
    expect((await peer.call("erase", args)).structuredContent).toEqual(first.structuredContent);
    expect(asked.length).toBe(2);
    await notes.has(`erased ${args.what}`);
    expect(notes.list.filter((note) => note === `erased ${args.what}`).length).toBe(1);
  });

  it("shows an address to the person alone", async () => {
    const result = await peer.call("invite");
    expect(result.structuredContent).toEqual({ id: "con_1", url: null });
    expect(JSON.stringify(result)).not.toContain("secret");
    expect(asked).toMatchObject([
      { mode: "url", message: "Open this page.", url: "https://posthorn.example/connect/secret" },
    ]);
    await notes.has("invited");
    expect(notes.list.filter((note) => note === "invited").length).toBe(1);
  });

  it("gets the address as text where nobody looked at it", async () => {
    answer = () => ({ action: "cancel" });
    const result = await peer.call("invite");
    expect(result.structuredContent).toEqual({ id: "con_1", url: "https://posthorn.example/connect/secret" });
    await notes.has("invited");
    expect(notes.list.filter((note) => note === "invited").length).toBe(1);
  });

  it("is told when the person does not want to open it", async () => {
    answer = () => ({ action: "decline" });
    expect(sentenceIn(await peer.call("invite"))).toMatch(/did not want to open the address/);
  });
});

describe.each(PAIRS.filter(({ wire }) => wire === "/mcp"))("a client of $line that", ({ wire, line }) => {
  const at = () => ({ wire, line, port: server.http.port, key: server.key });

  it("can ask nobody is not held up", async () => {
    await using peer = await connectPeer(at());
    expect((await peer.call("erase", { what: "the board" })).structuredContent).toEqual({
      erased: "the board",
    });
    expect((await peer.call("invite")).structuredContent.url).toBe("https://posthorn.example/connect/secret");
  });

  it("shows forms but opens nothing gets the address as text", async () => {
    const asked: Question[] = [];
    const person = (question: Question): Answer => {
      asked.push(question);
      return YES;
    };
    await using peer = await connectPeer({ ...at(), person, kinds: {} });
    expect((await peer.call("invite")).structuredContent.url).toBe("https://posthorn.example/connect/secret");
    expect((await peer.call("erase", { what: "the board" })).structuredContent).toEqual({
      erased: "the board",
    });
    expect(asked.map(({ message }) => message)).toEqual(["Erase the board?"]);
  });

  it("opens addresses but shows no forms is not asked", async () => {
    await using peer = await connectPeer({ ...at(), person: () => YES, kinds: { url: {} } });
    expect((await peer.call("erase", { what: "the board" })).structuredContent).toEqual({
      erased: "the board",
    });
    expect((await peer.call("invite")).structuredContent.url).toBe(null);
  });
});

describe.each(PAIRS.filter(({ wire }) => wire !== "stdio"))(
  "with POSTHORN_CONFIRM=always, a client of $line on $wire",
  ({ wire, line }) => {
    let strict: McpServerUnderTest;
    let done: string[];

    beforeAll(async () => {
      const settings = {
        timezone: "UTC",
        maxLatenessMs: 0,
        uploadFolders: [],
        platformSettings: {},
        confirm: "always",
      } as const;
      const toolbox = createToolbox(
        { ...server.ctx, settings },
        createSmallTools((note) => done.push(note)),
      );
      strict = await startMcpServer({ toolbox });
    });

    beforeEach(() => {
      done = [];
    });

    afterAll(async () => {
      await strict[Symbol.asyncDispose]();
    });

    it("that can ask nobody is refused, and told how a person does it", async () => {
      await using peer = await connectPeer({ wire, line, port: strict.http.port, key: strict.key });
      const sentence = sentenceIn(await peer.call("erase", { what: "all" }));
      expect(sentence).toMatch(/^Not done: .* The question is: Erase all\? .* posthorn call erase\.$/);
      expect(done).toEqual([]);
    });

    it("that can ask a person does so", async () => {
      await using peer = await connectPeer({
        wire,
        line,
        port: strict.http.port,
        key: strict.key,
        person: () => YES,
      });
      expect((await peer.call("erase", { what: "all" })).structuredContent).toEqual({ erased: "all" });
    });
  },
);

describe("a stateless client's answers, by hand", () => {
  const META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "hand", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {}, url: {} } },
  };

  async function call(name: string, args: object, more: object = {}, key = server.key): Promise<any> {
    const json = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: args, _meta: META, ...more },
    };
    const headers = {
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": "tools/call",
      "Mcp-Name": name,
    };
    const answer = await send(server.http.port, "POST /mcp", { key, headers, json });
    return answer.json.result;
  }

  const accept = (requestState: string) => ({
    inputResponses: { confirm: { action: "accept", content: {} } },
    requestState,
  });

  it("count for the very call that was asked about, once", async () => {
    const asked = await call("erase", { what: "all" });
    expect(asked).toMatchObject({
      resultType: "input_required",
      inputRequests: { confirm: { method: "elicitation/create" } },
    });
    const yes = accept(asked.requestState);
    for (const wrong of [
      await call("erase", { what: "everything" }, yes),
      await call("erase", { what: "all" }, yes, await server.http.keyFor("default")),
      await call("erase", { what: "all" }, accept(`${asked.requestState.slice(0, -1)}x`)),
    ]) {
      expect(sentenceIn(wrong)).toMatch(/not good for this call/);
    }
    expect(server.notes.list).toEqual([]);
    expect((await call("erase", { what: "all" }, yes)).structuredContent).toEqual({ erased: "all" });
    expect(sentenceIn(await call("erase", { what: "all" }, yes))).toMatch(/was used already/);
    expect(server.notes.list).toEqual(["erased all"]);
  });

  it("are asked for when nobody was asked", async () => {
    const unasked = await call(
      "erase",
      { what: "all" },
      { inputResponses: { confirm: { action: "accept", content: {} } } },
    );
    expect(unasked.resultType).toBe("input_required");
    expect(server.notes.list).toEqual([]);
  });

  it("come too late after ten minutes", async () => {
    const asked = await call("erase", { what: "late" });
    const invited = await call("invite", {});
    await server.ctx.clock.advance(10 * 60_000);
    expect(sentenceIn(await call("erase", { what: "late" }, accept(asked.requestState)))).toMatch(
      /older than 10 minutes/,
    );
    const opened = { inputResponses: { open: { action: "accept" } }, requestState: invited.requestState };
    expect(sentenceIn(await call("invite", {}, opened))).toMatch(/too late/);
    expect(server.notes.list).toEqual(["invited"]);
  });

  it("about an address are for the key and the tool that made it", async () => {
    const { requestState } = await call("invite", {});
    const opened = { inputResponses: { open: { action: "accept" } }, requestState };
    expect(sentenceIn(await call("erase", { what: "a trifle" }, opened))).toMatch(/another call/);
    expect(sentenceIn(await call("invite", {}, opened, await server.http.keyFor("default")))).toMatch(
      /another call/,
    );
    expect((await call("invite", {}, opened)).structuredContent).toEqual({ id: "con_1", url: null });
  });
});

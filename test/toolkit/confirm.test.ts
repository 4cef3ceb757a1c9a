import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ConfirmPolicy } from "../../src/context.ts";
import type { Consent } from "../../src/toolkit/confirm.ts";
import { createToolbox, type Toolbox } from "../../src/toolkit/toolbox.ts";
import { createSmallTools } from "../mcp/small-tools.ts";
import { callerOf, createTestContext, type TestContext } from "../support/context.ts";
import { startTestServer, type TestServer } from "../support/http.ts";

const CALLER = callerOf();
const TOKEN = /confirm "([^"]+)"/;

let ctx: TestContext;
let toolbox: Toolbox;
let notes: string[];

async function open(confirm: ConfirmPolicy): Promise<void> {
  const settings = { timezone: "UTC", maxLatenessMs: 0, uploadFolders: [], platformSettings: {}, confirm };
  ctx = await createTestContext({ settings });
  notes = [];
  toolbox = createToolbox(
    ctx,
    createSmallTools((note) => notes.push(note)),
  );
}

afterEach(async () => {
  await ctx[Symbol.asyncDispose]();
});

const erase = (args: object, caller = CALLER): Promise<unknown> =>
  toolbox.call("erase", args, caller).then(({ result }) => result);

async function sentenceOf(call: Promise<unknown>): Promise<string> {
  const error = await call.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Error);
  return (error as Error).message;
}

async function askedToken(args: object): Promise<string> {
  return TOKEN.exec(await sentenceOf(erase(args)))![1]!;
}

describe("never", () => {
  beforeEach(() => open("never"));

  it("asks nobody, not even where somebody could be asked", async () => {
    const ask = (): Promise<Consent> => Promise.reject(new Error("asked"));
    expect((await toolbox.call("erase", { what: "all" }, CALLER, { ask })).result).toEqual({ erased: "all" });
  });
});

describe("risky", () => {
  beforeEach(() => open("risky"));

  const answer = (consent: Consent): Promise<string> =>
    sentenceOf(toolbox.call("erase", { what: "all" }, CALLER, { ask: async () => consent }));

  it("is done at once where nobody can be asked, but not with a token that is none", async () => {
    expect(await erase({ what: "all" })).toEqual({ erased: "all" });
    expect(await sentenceOf(erase({ what: "all", confirm: "x" }))).toMatch(/^confirm: .* not good/);
    expect(notes).toEqual(["erased all"]);
  });

  it.each([
    ["no", /^The person declined, so nothing was done\./],
    ["closed", /^The person closed the question without an answer, so nothing was done\./],
    ["failed", /^The client could not put the question to the person, so nothing was done\./],
  ] as const)("does nothing and gives no token where the answer was %s", async (consent, start) => {
    const sentence = await answer(consent);
    expect(sentence).toMatch(start);
    expect(sentence).toMatch(/Do not send the call again until they ask for it\./);
    expect(sentence).not.toMatch(TOKEN);
    expect(notes).toEqual([]);
  });

  it.each(["closed", "failed"] as const)(
    "says what a person can do where the answer was %s",
    async (consent) => {
      const sentence = await answer(consent);
      expect(sentence).toContain("posthorn call erase");
      expect(sentence).toContain("set POSTHORN_CONFIRM=never");
    },
  );

  it.each(["ask", "said"] as const)("takes no token out of the arguments with %s", async (how) => {
    const asked: string[] = [];
    const ask = async ({ text, token }: { text: string; token: string }): Promise<Consent> => {
      asked.push(text, token);
      return "closed";
    };
    await sentenceOf(toolbox.call("erase", { what: "all" }, CALLER, { ask }));
    const args = { what: "all", confirm: asked[1] };
    const options = how === "ask" ? { ask } : { said: "closed" as const };
    expect(await sentenceOf(toolbox.call("erase", args, CALLER, options))).toMatch(/closed the question/);
    expect(asked.filter((text) => text === "Erase all?")).toHaveLength(how === "ask" ? 2 : 1);
    expect(notes).toEqual([]);
  });
});

describe("always", () => {
  beforeEach(() => open("always"));

  it("takes two steps, told with the question, where nobody can be asked", async () => {
    const sentence = await sentenceOf(erase({ what: "all" }));
    expect(sentence).toMatch(
      /^Not done yet\. A person must confirm it first\. Ask them: Erase all\? If they agree, call again within 10 minutes/,
    );
    expect(notes).toEqual([]);
    expect(await erase({ what: "all", confirm: TOKEN.exec(sentence)![1] })).toEqual({ erased: "all" });
    expect(notes).toEqual(["erased all"]);
  });

  it("is not asked about what is harmless, nor by tools that never ask", async () => {
    expect(await erase({ what: "a trifle" })).toEqual({ erased: "a trifle" });
    expect((await toolbox.call("echo", {}, CALLER)).result).toMatchObject({ text: "nothing" });
    const offering = toolbox
      .list(CALLER)
      .filter(({ inputSchema }) => "confirm" in (inputSchema["properties"] as object));
    expect(offering.map(({ name }) => name)).toEqual(["erase"]);
  });

  it("takes a token once, for the same arguments in any order, from the same key, for ten minutes", async () => {
    const confirm = await askedToken({ what: "all" });
    expect(await sentenceOf(erase({ what: "more", confirm }))).toMatch(
      /^confirm: this confirmation is not good for this call/,
    );
    expect(await sentenceOf(erase({ what: "all", confirm }, callerOf({ keyId: "key_other" })))).toMatch(
      /not good/,
    );
    expect(await sentenceOf(erase({ what: "all", confirm }, callerOf({ ownerId: "other" })))).toMatch(
      /not good/,
    );
    expect(await sentenceOf(erase({ what: "all", confirm: "" }))).toMatch(/^Not done yet/);
    for (const made of ["x", `${confirm}0`, confirm.replace(/^\w+/, "zzzzzzzzzzzz"), "…".repeat(100)]) {
      expect(await sentenceOf(erase({ what: "all", confirm: made }))).toMatch(/not good/);
    }
    expect(await erase({ confirm, what: "all" })).toEqual({ erased: "all" });
    expect(await sentenceOf(erase({ what: "all", confirm }))).toMatch(/used already/);
    const late = await askedToken({ what: "all" });
    await ctx.clock.advance(10 * 60_000);
    expect(await sentenceOf(erase({ what: "all", confirm: late }))).toMatch(/older than 10 minutes/);
    expect(notes).toEqual(["erased all"]);
  });

  it("takes a token once of many calls at the same time", async () => {
    const confirm = await askedToken({ what: "all" });
    const calls = await Promise.allSettled(Array.from({ length: 20 }, () => erase({ what: "all", confirm })));
    expect(calls.filter(({ status }) => status === "fulfilled").length).toBe(1);
    expect(notes).toEqual(["erased all"]);
  });

  it("lets a person be asked where one can be", async () => {
    const asked: string[] = [];
    const ask = async ({ text }: { text: string }): Promise<Consent> => {
      asked.push(text);
      return "yes";
    };
    expect((await toolbox.call("erase", { what: "all" }, CALLER, { ask })).result).toEqual({ erased: "all" });
    expect(asked).toEqual(["Erase all?"]);
  });

  it("answers a repeated call without asking again", async () => {
    const args = { what: "all", idempotencyKey: "one" };
    const confirm = await askedToken(args);
    const first = await toolbox.call("erase", { ...args, confirm }, CALLER);
    const again = await toolbox.call("erase", { ...args, confirm }, CALLER);
    const bare = await toolbox.call("erase", args, CALLER);
    expect([first.isReplay, again.isReplay, bare.isReplay]).toEqual([false, true, true]);
    expect(notes).toEqual(["erased all"]);
  });

  it("asks on tool endpoints as a conflict, and not on resource endpoints", async () => {
    const route = {
      method: "delete",
      path: "/things/{what}",
      summary: "Erase",
      tools: ["erase"],
      body: "none",
      query: {},
    } as const;
    const tools = createSmallTools((note) => notes.push(note));
    await using server: TestServer = await startTestServer(ctx, tools, { routes: [route] });
    const asked = await server.ask("POST /api/v1/tools/erase", { json: { what: "all" } });
    expect(asked).toMatchObject({
      status: 409,
      json: { error: expect.stringContaining("Ask them: Erase all?") },
    });
    const confirm = TOKEN.exec(asked.json.error)![1];
    expect((await server.ask("POST /api/v1/tools/erase", { json: { what: "all", confirm } })).json).toEqual({
      result: { erased: "all" },
    });
    expect((await server.ask("DELETE /api/v1/things/house")).json).toEqual({ erased: "house" });
    expect(notes).toEqual(["erased all", "erased house"]);
  });
});

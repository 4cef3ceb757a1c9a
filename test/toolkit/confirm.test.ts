import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agentsWordsFor } from "../../src/toolkit/words.ts";
import type { ConfirmPolicy } from "../../src/context.ts";
import type { Consent } from "../../src/toolkit/confirm.ts";
import { createToolbox, type Toolbox } from "../../src/toolkit/toolbox.ts";
import { createSmallTools } from "../mcp/small-tools.ts";
import { callerOf, createTestContext, type TestContext } from "../support/context.ts";
import { startTestServer, type TestServer } from "../support/http.ts";

const CALLER = callerOf();

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

type Options = NonNullable<Parameters<Toolbox["call"]>[3]>;

const erase = (args: object, caller = CALLER, options: Options = {}): Promise<unknown> =>
  toolbox.call("erase", args, caller, options).then(({ result }) => result);

async function sentenceOf(call: Promise<unknown>): Promise<string> {
  const error = await call.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Error);
  return agentsWordsFor(error);
}

/** The token of a call's question, which a client gets whose answer comes with a call of its own. */
async function askedToken(args: object): Promise<string> {
  let given = "";
  const ask = async ({ token }: { token: string }): Promise<Consent> => {
    given = token;
    return "closed";
  };
  await sentenceOf(erase(args, CALLER, { ask }));
  return given;
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
    expect(await sentenceOf(erase({ what: "all" }, CALLER, { confirmToken: "x" }))).toMatch(/not good/);
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
    expect(sentence).not.toMatch(/[\w-]{22}\./);
    expect(notes).toEqual([]);
  });

  it("tells a way around the person only where the client did not ask them", async () => {
    const sentence = await answer("failed");
    expect(sentence).toContain("posthorn call erase");
    expect(sentence).toContain("set POSTHORN_CONFIRM=never");
    for (const consent of ["no", "closed"] as const)
      expect(await answer(consent)).not.toMatch(/POSTHORN_|posthorn call|command line/);
  });

  it("takes no token out of the arguments", async () => {
    const confirm = await askedToken({ what: "all" });
    expect(await sentenceOf(erase({ what: "all", confirm }))).toMatch(/"confirm" is not a known field/);
    expect(notes).toEqual([]);
  });
});

describe("always", () => {
  beforeEach(() => open("always"));

  it("is refused with the question where nobody can be asked, and told how a person does it", async () => {
    for (const isByModel of [true, false])
      expect(await sentenceOf(erase({ what: "all" }, CALLER, { isByModel }))).toBe(
        "Not done: with POSTHORN_CONFIRM=always a person is asked first, and this client cannot ask one. " +
          "The question is: Erase all? They can do it on the command line, with: posthorn call erase.",
      );
    expect(notes).toEqual([]);
  });

  it("is not asked about what is harmless, nor by tools that never ask", async () => {
    expect(await erase({ what: "a trifle" })).toEqual({ erased: "a trifle" });
    expect((await toolbox.call("echo", {}, CALLER)).result).toMatchObject({ text: "nothing" });
  });

  it("takes a token once, for the same arguments in any order, from the same key, for ten minutes", async () => {
    const args = { what: "all" };
    const confirmToken = await askedToken(args);
    const bad = (given: object, caller = CALLER, token = confirmToken): Promise<string> =>
      sentenceOf(erase(given, caller, { confirmToken: token }));
    expect(await bad({ what: "more" })).toMatch(/^confirm: this confirmation is not good for this call/);
    expect(await bad(args, callerOf({ keyId: "key_other" }))).toMatch(/not good/);
    expect(await bad(args, callerOf({ ownerId: "other" }))).toMatch(/not good/);
    for (const made of [
      "",
      "x",
      `${confirmToken}0`,
      confirmToken.replace(/^\w+/, "zzzzzzzzzzzz"),
      "…".repeat(100),
    ])
      expect(await bad({ what: "all" }, CALLER, made)).toMatch(/not good/);
    expect(await erase({ what: "all" }, CALLER, { confirmToken })).toEqual({ erased: "all" });
    expect(await bad({ what: "all" })).toMatch(/used already/);
    const late = await askedToken({ what: "all" });
    await ctx.clock.advance(10 * 60_000);
    expect(await bad({ what: "all" }, CALLER, late)).toMatch(/older than 10 minutes/);
    expect(notes).toEqual(["erased all"]);
  });

  it("takes a token once of many calls at the same time", async () => {
    const confirmToken = await askedToken({ what: "all" });
    const again = (): Promise<unknown> => erase({ what: "all" }, CALLER, { confirmToken });
    const calls = await Promise.allSettled(Array.from({ length: 20 }, again));
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
    const confirmToken = await askedToken(args);
    const first = await toolbox.call("erase", args, CALLER, { confirmToken });
    const again = await toolbox.call("erase", args, CALLER, { confirmToken });
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
      json: { error: expect.stringContaining("The question is: Erase all?") },
    });
    expect((await server.ask("DELETE /api/v1/things/house")).json).toEqual({ erased: "house" });
    expect(notes).toEqual(["erased house"]);
  });
});

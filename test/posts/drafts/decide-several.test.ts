import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadCatalog } from "../../../src/app/setup.ts";
import type { Caller } from "../../../src/domain/permissions.ts";
import { createToolbox, type Toolbox } from "../../../src/toolkit/toolbox.ts";
import { callerOf, createTestContext, type TestContext } from "../../support/context.ts";
import { rowsOf } from "../../support/handles.ts";
import { addAccount } from "../../support/publishing.ts";
import { scriptedPlatform } from "../../support/scripted-platform.ts";

/* One decision about several drafts: decide_draft with `drafts`. */

const { tools } = await loadCatalog();
const platform = scriptedPlatform({
  publish: async () => ({ state: "live", platformPostId: "1", platformUrl: null }),
});
const LATER = "2027-03-01T09:00:00.000Z";

let ctx: TestContext;
let toolbox: Toolbox;

beforeEach(async () => {
  ctx = await createTestContext({ platformList: [platform] });
  toolbox = createToolbox(ctx, tools);
  await addAccount(ctx, { id: "acc_blog", name: "Blog" });
});
afterEach(() => ctx[Symbol.asyncDispose]());

async function call(tool: string, args: object, caller: Partial<Caller> = {}): Promise<any> {
  return (await toolbox.call(tool, args, callerOf(caller))).result;
}

async function submit(caption: string): Promise<{ id: string; revision: number }> {
  const targets = [{ accountId: "acc_blog" }];
  const { draft } = await call("save_draft", { caption, targets, scheduledAt: LATER, submit: true });
  return { id: draft.id, revision: draft.revision };
}

const countPosts = async (): Promise<number> => (await rowsOf(ctx.store, "SELECT id FROM posts")).length;

describe("decide_draft with drafts", () => {
  it("decides about each by itself, and says of each what came of it", async () => {
    const [one, two, three] = [await submit("One"), await submit("Two"), await submit("Three")];
    const drafts = [one, { ...two, revision: 7 }, three, { id: "dft_none", revision: 1 }];
    const answer = await call("decide_draft", { drafts, decision: "approve", note: "Good" });
    expect(answer).toEqual({
      results: [
        {
          id: one.id,
          draft: expect.objectContaining({
            state: "scheduled",
            decision: expect.objectContaining({ what: "approved", note: "Good" }),
          }),
          error: null,
        },
        { id: two.id, draft: null, error: expect.stringMatching(/^revision: 7 is not the last one/) },
        { id: three.id, draft: expect.objectContaining({ state: "scheduled" }), error: null },
        { id: "dft_none", draft: null, error: expect.stringMatching(/^id: there is no draft/) },
      ],
    });
    expect(await countPosts()).toBe(2);
  });

  it.each(["changes", "discard"] as const)("%s", async (decision) => {
    const drafts = [await submit("One"), await submit("Two")];
    const { results } = await call("decide_draft", { drafts, decision, note: "Shorter" });
    const state = decision === "changes" ? "open" : "discarded";
    expect(results.map(({ draft }: any) => draft.state)).toEqual([state, state]);
    expect(await countPosts()).toBe(0);
  });

  it("answers the same again under the same key, also where it broke off on the way", async () => {
    const drafts = [await submit("One"), await submit("Two")];
    const args = { drafts, decision: "approve", idempotencyKey: "monday" };
    // As a process leaves it that died between two of them.
    await call("decide_draft", { ...drafts[0], decision: "approve" });
    const first = await call("decide_draft", args);
    expect(first.results.map(({ error }: any) => error)).toEqual([null, null]);
    expect(await call("decide_draft", args)).toEqual(first);
    expect(await countPosts()).toBe(2);
    const again = await call("decide_draft", { drafts, decision: "approve" });
    expect(again.results.map(({ draft }: any) => draft)).toEqual([null, null]);
    expect(await countPosts()).toBe(2);
  });

  it.each([
    [{ id: "dft_1", drafts: [{ id: "dft_1", revision: 1 }] }, /^drafts: cannot be given together with id/],
    [{ revision: 1, drafts: [{ id: "dft_1", revision: 1 }] }, /^drafts: cannot be given together with id/],
    [{ drafts: [] }, /^drafts: /],
    [{}, /^id: is missing/],
    [
      {
        drafts: [
          { id: "dft_1", revision: 1 },
          { id: "dft_1", revision: 2 },
        ],
      },
      /^drafts: "dft_1" is in the list twice/,
    ],
    [
      { drafts: Array.from({ length: 51 }, (_, at) => ({ id: `dft_${at}`, revision: 1 })) },
      /^drafts: .*at most 50/,
    ],
    [{ drafts: [{ id: "dft_1" }] }, /^drafts\[0\]\.revision: /],
  ])("refuses %j", async (args, sentence) => {
    await expect(call("decide_draft", { ...args, decision: "approve" })).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(sentence),
    });
  });

  it("is refused to who writes drafts alone", async () => {
    const writer: Partial<Caller> = { keyId: "key_writer", permissions: ["read", "draft", "files"] };
    const drafts = [await submit("One")];
    await expect(call("decide_draft", { drafts, decision: "approve" }, writer)).rejects.toMatchObject({
      kind: "forbidden",
    });
    expect(await countPosts()).toBe(0);
  });
});

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AppError } from "../../src/domain/errors.ts";
import { runOnce, type Replayable } from "../../src/access/idempotency.ts";
import { cancelPost, resolvePost } from "../../src/posts/posts.ts";
import { retryPost, updatePost } from "../../src/posts/update-post.ts";
import type { CallContext } from "../../src/context.ts";
import type { PostRow } from "../../src/store/schema/tables.ts";
import { callerOf, callOf, createTestContext, type TestContext } from "../support/context.ts";
import { withWrite } from "../support/handles.ts";
import { addAccount, addPost } from "../support/publishing.ts";
import { scriptedPlatform } from "../support/scripted-platform.ts";

const FAILED = { status: "failed", next_at: null, error: "It was refused." } as const;

/** What changes a post, and in which state it must be for that. */
const CHANGES: readonly [
  name: string,
  row: Partial<PostRow>,
  change: (call: CallContext, id: string) => Promise<unknown>,
][] = [
  ["cancel_post", {}, (call, id) => cancelPost(call, { id })],
  ["update_post", {}, (call, id) => updatePost(call, { id, caption: "Other words" })],
  ["retry_post", FAILED, (call, id) => retryPost(call, { id })],
  ["resolve_post", { ...FAILED, in_doubt: 1 }, (call, id) => resolvePost(call, { id, outcome: "published" })],
];

describe("a call with an idempotency key whose process dies after the change", () => {
  let ctx: TestContext;
  beforeEach(async () => {
    const publish = async () => ({ state: "live", platformPostId: "1", platformUrl: null }) as const;
    ctx = await createTestContext({
      platformList: [scriptedPlatform({ publish })],
      media: { forPost: () => ({}) as never, release: async () => {} },
    });
  });
  afterEach(() => ctx[Symbol.asyncDispose]());

  function once(
    tool: string,
    change: (call: CallContext) => Promise<unknown>,
    worker: string,
  ): Promise<Replayable<unknown>> {
    const own = { ...ctx, workerId: worker };
    return runOnce(own, callerOf(), { key: "k1", tool, args: {} }, (idempotency) =>
      change({ ...callOf(own), idempotency }),
    );
  }

  it.each(CHANGES)("%s answers the same again, and does nothing twice", async (tool, row, change) => {
    const post = await addPost(ctx, await addAccount(ctx), row);
    let first: unknown;
    const dying = async (call: CallContext): Promise<unknown> => {
      first = await change(call, post.id);
      throw new Error("The process ended here.");
    };
    await expect(once(tool, dying, "wrk_dead")).rejects.toThrow("ended here");
    const again = await once(tool, async () => expect.unreachable(), "wrk_next");
    expect(again).toEqual({ isReplay: true, result: first });
  });

  it("is answered as done although nothing can be written any more", async () => {
    const post = await addPost(ctx, await addAccount(ctx));
    let isFull = false;
    const full: TestContext["store"]["write"] = async (work) => {
      if (isFull) throw new AppError("unavailable", "The disk is full.");
      return ctx.store.write(work);
    };
    const own = { ...ctx, store: withWrite(ctx.store, full) };
    const call = { key: "k1", tool: "cancel_post", args: {} };
    const { result } = await runOnce(own, callerOf(), call, async (idempotency) => {
      const answer = await cancelPost({ ...callOf(own), idempotency }, { id: post.id });
      isFull = true;
      // More than what was committed, as where the outcome was waited for.
      return { ...answer, warnings: ["It took its time."] };
    });
    expect(result).toMatchObject({ post: { status: "cancelled" }, warnings: ["It took its time."] });
    expect(ctx.log.text()).toContain("The disk is full.");
  });
});

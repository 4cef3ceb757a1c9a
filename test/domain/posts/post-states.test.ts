import { describe, expect, it } from "vitest";
import { POST_STATUSES, TRANSITIONS, type Trigger } from "../../../src/domain/posts/post-states.ts";
import { transition } from "../../../src/store/queries/posts.ts";
import { createTestContext } from "../../support/context.ts";
import { addAccount, addPost, readPost } from "../../support/publishing.ts";

const TRIGGERS = Object.keys(TRANSITIONS) as Trigger[];
const PAIRS = TRIGGERS.flatMap((trigger) => POST_STATUSES.map((status) => [trigger, status] as const));

/** What goes with each state, without which it would not be one. */
const written: Readonly<Record<string, object>> = {
  published: { published_at: 1 },
  failed: { error: "It broke.", next_at: null },
  cancelled: { next_at: null },
};

describe("every move from every state", () => {
  it.each(PAIRS)("%s from %s", async (trigger, status) => {
    await using ctx = await createTestContext();
    const post = await addPost(ctx, await addAccount(ctx), { status });
    const at = { ownerId: post.owner_id, id: post.id };
    const { from, to }: { from: readonly string[]; to: string | null } = TRANSITIONS[trigger];
    const move = ctx.store.write((tx) =>
      transition(tx, at, trigger, { ...written[to ?? "same"], updated_at: 1 }),
    );
    if (from.includes(status)) {
      await move;
      expect((await readPost(ctx, post.id)).status).toBe(to ?? status);
    } else {
      await expect(move).rejects.toMatchObject({
        kind: "conflict",
        message: expect.stringContaining(`The post is ${status}`),
      });
      expect((await readPost(ctx, post.id)).status).toBe(status);
    }
  });

  it.each(TRIGGERS)("%s of somebody else's post is not found", async (trigger) => {
    await using ctx = await createTestContext();
    const post = await addPost(ctx, await addAccount(ctx), { status: TRANSITIONS[trigger].from[0] });
    const move = ctx.store.write((tx) =>
      transition(tx, { ownerId: "other", id: post.id }, trigger, { updated_at: 1 }),
    );
    await expect(move).rejects.toMatchObject({ kind: "not_found" });
  });

  it("leaves a post alone that a publisher holds", async () => {
    await using ctx = await createTestContext();
    const post = await addPost(ctx, await addAccount(ctx), { lease_worker: "wrk_other" });
    const move = ctx.store.write((tx) =>
      transition(tx, { ownerId: post.owner_id, id: post.id }, "cancel", { updated_at: 1 }),
    );
    await expect(move).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("being worked on"),
    });
  });
});

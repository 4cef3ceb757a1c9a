import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SECOND } from "../../src/domain/time.ts";
import { publishOne, runOptions } from "../../src/publisher/publish-one.ts";
import { ReadAhead } from "../../src/publisher/read-ahead.ts";
import { claimDue } from "../../src/publisher/tick.ts";
import { Turn } from "../../src/publisher/turn.ts";
import { transition } from "../../src/store/tables/posts.ts";
import { createTestContext, type TestContext } from "../support/context.ts";
import { addAccount, addPost, readPost } from "../support/publishing.ts";
import { scriptedPlatform } from "../support/scripted-platform.ts";

describe("what was read ahead of its time", () => {
  let ctx: TestContext;
  let ahead: ReadAhead;
  let sent: (string | null)[];
  const turn = new Turn();
  const { signal } = new AbortController();
  const platform = scriptedPlatform({
    publish: async (post, io) => {
      if (!io.isDue) return { state: "prepared" };
      sent.push(`${io.account.name}: ${post.caption}`);
      return { state: "live", platformPostId: post.id, platformUrl: null };
    },
  });

  beforeEach(async () => {
    sent = [];
    ctx = await createTestContext({
      platformList: [platform],
      media: { forPost: () => ({}) as never, release: async () => {} },
    });
    ahead = new ReadAhead(ctx, runOptions(signal, turn));
  });
  afterEach(async () => {
    await ahead.close();
    await ctx[Symbol.asyncDispose]();
  });

  /** Reads what is due within the second, then moves to its moment, as far as the test's `change` lets it. */
  async function readThen(count: number, change: () => Promise<unknown> = async () => {}): Promise<void> {
    ahead.start();
    await expect.poll(() => ahead.dueBy(Infinity, 100).length).toBe(count);
    await change();
    await ctx.clock.advance(900);
  }

  /** One pass of the publisher; tells which posts were claimed, and which of them with what was made ready for them. */
  async function pass(): Promise<{ claimed: string[]; ready: string[] }> {
    const { claimed, found } = await claimDue(ctx, { limit: 100, readAhead: ahead });
    const works = claimed.map((one) => ({ one, ready: ahead.runOf(one) }));
    ahead.drop(found);
    await Promise.all(works.map(({ one, ready }) => publishOne(ctx, one, { signal, turn, ready })));
    const ids = (some: typeof works): string[] => some.map(({ one }) => one.post.id);
    return { claimed: ids(works), ready: ids(works.filter(({ ready }) => ready !== undefined)) };
  }

  const soon = (): { scheduled_at: number } => ({ scheduled_at: ctx.clock.now() + 900 });

  const edit = (id: string, ownerId: string, caption: string): Promise<unknown> =>
    ctx.db.transaction((tx) =>
      transition(tx, { ownerId, id }, "edit", { caption, updated_at: ctx.clock.now() }),
    );

  it("goes out at its time, not before", async () => {
    const post = await addPost(ctx, await addAccount(ctx), { ...soon(), caption: "Now" });
    await readThen(1, async () => {
      expect(await pass()).toEqual({ claimed: [], ready: [] });
    });
    expect(await pass()).toEqual({ claimed: [post.id], ready: [post.id] });
    expect(sent).toEqual(["My channel: Now"]);
    expect(await readPost(ctx, post.id)).toMatchObject({ status: "published", attempts: 1, fence: 1 });
    expect(ahead.dueBy(Infinity, 100)).toEqual([]);
  });

  it("goes out as it was changed meanwhile, in the same millisecond too", async () => {
    const account = await addAccount(ctx);
    const post = await addPost(ctx, account, { ...soon(), caption: "Old" });
    await readThen(1, () => edit(post.id, account.owner_id, "New"));
    // Read ahead it is of no use any more; it is due all the same.
    expect(await pass()).toEqual({ claimed: [], ready: [] });
    expect(await pass()).toEqual({ claimed: [post.id], ready: [] });
    expect(sent).toEqual(["My channel: New"]);
  });

  it("does not go out when it was cancelled or put off", async () => {
    const [one, other] = [await addAccount(ctx), await addAccount(ctx)];
    const cancelled = await addPost(ctx, one, soon());
    const later = await addPost(ctx, other, soon());
    const at = { updated_at: ctx.clock.now() };
    await readThen(2, async () => {
      const times = { scheduled_at: ctx.clock.now() + 60 * SECOND, due_at: ctx.clock.now() + 60 * SECOND };
      await ctx.db.transaction((tx) =>
        transition(tx, { ownerId: one.owner_id, id: cancelled.id }, "cancel", { ...at, next_at: null }),
      );
      await ctx.db.transaction((tx) =>
        transition(tx, { ownerId: other.owner_id, id: later.id }, "edit", {
          ...at,
          ...times,
          next_at: times.due_at,
        }),
      );
    });
    expect(await pass()).toEqual({ claimed: [], ready: [] });
    expect(await pass()).toEqual({ claimed: [], ready: [] });
    expect(sent).toEqual([]);
  });

  it("is read anew when its channel was connected again meanwhile", async () => {
    const account = await addAccount(ctx);
    const post = await addPost(ctx, account, { ...soon(), caption: "Hello" });
    await readThen(1, () =>
      ctx.db.query
        .updateTable("accounts")
        .set({ name: "Renamed", updated_at: ctx.clock.now() + 1 })
        .execute(),
    );
    expect(await pass()).toEqual({ claimed: [], ready: [] });
    expect(await pass()).toEqual({ claimed: [post.id], ready: [] });
    expect(sent).toEqual(["Renamed: Hello"]);
  });

  it("waits for a post of its account that came before it meanwhile, and for what has been due for longer", async () => {
    const account = await addAccount(ctx);
    const post = await addPost(ctx, account, { ...soon(), caption: "Second" });
    let first: { id: string } | null = null;
    let other: { id: string } | null = null;
    await readThen(1, async () => {
      first = await addPost(ctx, account, { scheduled_at: ctx.clock.now() + 100, caption: "First" });
      other = await addPost(ctx, await addAccount(ctx, { name: "Other" }), {
        scheduled_at: ctx.clock.now() + 50,
        caption: "Long due",
      });
    });
    const passes = [await pass(), await pass(), await pass()];
    expect(passes.flatMap(({ claimed }) => claimed)).toEqual([other, first, post].map((row) => row?.id));
    expect(sent).toEqual(["Other: Long due", "My channel: First", "My channel: Second"]);
  });

  it("is taken by one of two processes", async () => {
    const post = await addPost(ctx, await addAccount(ctx), soon());
    await readThen(1);
    const other = await claimDue({ ...ctx, workerId: "wrk_other" }, { limit: 10 });
    expect(other.claimed.map((one) => one.post.id)).toEqual([post.id]);
    expect(await pass()).toEqual({ claimed: [], ready: [] });
    expect(sent).toEqual([]);
  });
});

import { LateCauses, claimDue } from "../../src/publishing/claim.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DAY, MINUTE, SECOND } from "../../src/domain/time.ts";
import { createTestContext, type TestContext } from "../support/context.ts";
import { addAccount, addPost, readPost } from "../support/publishing.ts";
import { scriptedPlatform } from "../support/scripted-platform.ts";
import { queryOf } from "../support/handles.ts";

const platform = scriptedPlatform({
  publish: async (post) => ({ state: "live", platformPostId: post.id, platformUrl: null }),
});

// Few accounts are gone through one by one; of many, the first posts that are due are looked at.
describe.each([0, 60])("claiming what is due, beside %i accounts with posts for another day", (others) => {
  let ctx: TestContext;
  beforeEach(async () => {
    ctx = await createTestContext({ platformList: [platform] });
    for (let n = 0; n < others; n++)
      await addPost(ctx, await addAccount(ctx), { scheduled_at: ctx.clock.now() + DAY });
  });
  afterEach(() => ctx[Symbol.asyncDispose]());

  const claim = async (limit: number, isQuarantined = false): Promise<string[]> =>
    (await claimDue(ctx, { lateCauses: new LateCauses(), limit, isQuarantined })).posts.map(
      ({ post }) => post.id,
    );

  it("takes the first that are due first, whatever their accounts and however many at a time", async () => {
    const now = ctx.clock.now();
    const expected: string[] = [];
    for (const ago of [9, 2, 7, 1, 8, 3, 6, 4, 5]) {
      const post = await addPost(ctx, await addAccount(ctx), { scheduled_at: now - ago * SECOND });
      expected[9 - ago] = post.id;
    }
    expect([...(await claim(4)), ...(await claim(4)), ...(await claim(4))]).toEqual(expected);
    expect(await claim(4)).toEqual([]);
  });

  it("takes one post an account, its first", async () => {
    const now = ctx.clock.now();
    const [one, other] = [await addAccount(ctx), await addAccount(ctx)];
    await addPost(ctx, one, { scheduled_at: now - 1 * SECOND });
    // Held up by a try that failed: its time came first, and it goes first.
    const first = await addPost(ctx, one, { scheduled_at: now - 9 * SECOND, next_at: now });
    await addPost(ctx, one, { scheduled_at: now - 2 * SECOND });
    const alone = await addPost(ctx, other, { scheduled_at: now - 5 * SECOND });
    expect(await claim(10)).toEqual([alone.id, first.id]);
    expect(await claim(10)).toEqual([]);
    expect(await readPost(ctx, first.id)).toMatchObject({
      status: "publishing",
      fence: 1,
      attempts: 1,
      lease_worker: ctx.workerId,
    });
  });

  it("opens attempts whose ids tell which was first", async () => {
    const opened: string[] = [];
    for (let n = 0; n < 3; n++) {
      const post = await addPost(ctx, await addAccount(ctx));
      await claim(10);
      const { id } = await queryOf(ctx.store)
        .selectFrom("attempts")
        .select("id")
        .where("post_id", "=", post.id)
        .executeTakeFirstOrThrow();
      opened.push(id);
      // Within a millisecond nobody is first.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(opened.toSorted()).toEqual(opened);
    for (const id of opened) expect(id).toMatch(/^att_[0-9a-z]{26}$/);
  });

  it("leaves alone what is not due, held up, or on a channel that cannot be used", async () => {
    const now = ctx.clock.now();
    await addPost(ctx, await addAccount(ctx), { scheduled_at: now + 1 });
    await addPost(ctx, await addAccount(ctx), { scheduled_at: now - SECOND, next_at: now + 1 });
    await addPost(ctx, await addAccount(ctx, { status: "reconnect_required" }));
    await addPost(ctx, await addAccount(ctx, { in_flight_post: "post_other" }));
    await addPost(ctx, await addAccount(ctx, { next_allowed_at: now + 1 }));
    const due = await addPost(ctx, await addAccount(ctx, { status: "expiring" }));
    expect(await claim(10)).toEqual([due.id]);
  });

  it("does not let the backlog of one account keep others waiting", async () => {
    const now = ctx.clock.now();
    const busy = await addAccount(ctx);
    for (let n = 0; n < 700; n++) await addPost(ctx, busy, { scheduled_at: now - MINUTE + n });
    const others = [];
    for (let n = 0; n < 3; n++)
      others.push(await addPost(ctx, await addAccount(ctx), { scheduled_at: now - 3 + n }));
    const [first, ...rest] = await claim(3);
    expect(rest).toEqual(others.slice(0, 2).map(({ id }) => id));
    expect((await readPost(ctx, first ?? "")).account_id).toBe(busy.id);
    expect(await claim(3)).toEqual([others[2]?.id]);
  });

  it("leaves posts that crashed twice to a claim of their own", async () => {
    const crashed = await addPost(ctx, await addAccount(ctx), { scheduled_at: ctx.clock.now() - SECOND });
    const once = await addPost(ctx, await addAccount(ctx), { scheduled_at: ctx.clock.now() - SECOND });
    for (const [id, crashes] of [
      [crashed.id, 2],
      [once.id, 1],
    ] as const)
      await queryOf(ctx.store).updateTable("posts").set({ crashes }).where("id", "=", id).execute();
    const { claims } = ctx.store;
    expect(await claim(10)).toEqual([once.id]);
    expect(await claims.hasQuarantined(ctx.clock.now() - 2 * SECOND)).toBe(false);
    expect(await claims.hasQuarantined(ctx.clock.now())).toBe(true);
    expect(await claim(10, true)).toEqual([crashed.id]);
    expect(await claims.hasQuarantined(ctx.clock.now())).toBe(false);
  });

  it("opens an attempt for each, and goes on in that of a post that only waited", async () => {
    const account = await addAccount(ctx);
    const post = await addPost(ctx, account, { scheduled_at: ctx.clock.now() - 250 });
    const read = (): Promise<object[]> =>
      queryOf(ctx.store).selectFrom("attempts").select(["number", "outcome", "lateness_ms"]).execute();
    await claim(1);
    expect(await read()).toEqual([{ number: 1, outcome: "running", lateness_ms: 250 }]);
    const free = async (outcome: "waiting" | "retrying"): Promise<void> => {
      await queryOf(ctx.store)
        .updateTable("attempts")
        .set({ outcome, finished_at: ctx.clock.now() })
        .where("outcome", "=", "running")
        .execute();
      await queryOf(ctx.store)
        .updateTable("posts")
        .set({ lease_worker: null, next_at: ctx.clock.now() })
        .where("id", "=", post.id)
        .execute();
      await queryOf(ctx.store).updateTable("accounts").set({ in_flight_post: null }).execute();
    };
    await free("waiting");
    const [again] = (await claimDue(ctx, { lateCauses: new LateCauses(), limit: 1 })).posts;
    expect(again).toMatchObject({ attempt: 1, lease: { fence: 2, postId: post.id } });
    expect(await read()).toEqual([{ number: 1, outcome: "running", lateness_ms: 250 }]);
    await free("retrying");
    expect((await claimDue(ctx, { lateCauses: new LateCauses(), limit: 1 })).posts[0]?.attempt).toBe(2);
    expect((await read()).map((row) => ("outcome" in row ? row.outcome : null))).toEqual([
      "retrying",
      "running",
    ]);
  });

  it("keeps the posts of an account apart that are left over from downtime", async () => {
    const account = await addAccount(ctx);
    for (const ago of [5, 4]) await addPost(ctx, account, { scheduled_at: ctx.clock.now() - ago * MINUTE });
    await claim(10);
    const row = await queryOf(ctx.store)
      .selectFrom("accounts")
      .select("next_allowed_at")
      .where("id", "=", account.id)
      .executeTakeFirstOrThrow();
    expect(row.next_allowed_at).toBe(ctx.clock.now() + 30 * SECOND);
  });
});

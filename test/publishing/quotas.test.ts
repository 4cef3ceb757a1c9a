import { describe, expect, it } from "vitest";
import type { Quota } from "../../src/domain/accounts/account.ts";
import { HOUR, MINUTE } from "../../src/domain/time.ts";
import { schedulePost } from "../../src/posts/schedule-post.ts";
import { findAccountRow } from "../../src/store/queries/accounts.ts";
import { callOf, createTestContext, isOnPostgres, type TestContext } from "../support/context.ts";
import { rawOf } from "../support/handles.ts";
import { addAccount, addPost, drain, readPost } from "../support/publishing.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../support/scripted-platform.ts";

const ROLLING: Quota = { name: "posts", max: 2, perMinutes: 60, from: "rolling", scope: "account" };
const NO_MEDIA = { forPost: () => ({}) as never, release: async () => {} };

async function setUp(quotas: readonly Quota[]): Promise<{ ctx: TestContext; sent: string[] }> {
  const sent: string[] = [];
  const platform = scriptedPlatform({
    capabilities: { ...TEXT_CAPABILITIES, quotas },
    publish: async (post, io) => {
      if (!io.isDue) return { state: "prepared" };
      const id = await io.effect({
        step: "create",
        request: {},
        send: async () => (sent.push(post.id), post.id),
        reconcile: async () => ({ outcome: "send_again" }),
      });
      return { state: "live", platformPostId: id, platformUrl: null };
    },
  });
  return { ctx: await createTestContext({ platformList: [platform], media: NO_MEDIA }), sent };
}

describe("the publisher", () => {
  it("spends no request on a post that the quota has no place for, and sends it when there is one", async () => {
    const { ctx, sent } = await setUp([ROLLING]);
    const account = await addAccount(ctx);
    const at = (minutes: number) => ({ scheduled_at: ctx.clock.now() + minutes * MINUTE });
    const start = ctx.clock.now();
    for (const minutes of [0, 1]) {
      await addPost(ctx, account, at(0));
      await drain(ctx);
      if (minutes === 0) await ctx.clock.advance(10 * MINUTE);
    }
    const third = await addPost(ctx, account, at(0));
    await drain(ctx);
    expect(sent).toHaveLength(2);
    const row = await readPost(ctx, third.id);
    expect(row).toMatchObject({ status: "scheduled", in_doubt: 0, next_at: start + HOUR });
    expect(row.error).toBe(
      "Nothing was sent, as this is post 3 in 1 hour on the channel My channel on Scripted, which takes 2 (posts).",
    );
    expect(await findAccountRow(ctx.store, account.owner_id, account.id)).toMatchObject({
      next_allowed_at: start + HOUR,
      wait_cause: "rate_limit",
    });
    await ctx.clock.advance(50 * MINUTE);
    await drain(ctx);
    expect((await readPost(ctx, third.id)).status).toBe("published");
    expect(sent).toHaveLength(3);
  });

  it("counts an app's quota over all of its accounts, and from midnight where that is its rule", async () => {
    const daily: Quota = { ...ROLLING, max: 1, perMinutes: 1_440, from: "America/Los_Angeles", scope: "app" };
    const { ctx, sent } = await setUp([daily]);
    const one = await addAccount(ctx, { platform_account_id: "1" });
    const other = await addAccount(ctx, { platform_account_id: "2", owner_id: "someone" });
    await addPost(ctx, one);
    await drain(ctx);
    const second = await addPost(ctx, other);
    // Long enough for the next midnight there.
    Object.assign(ctx.settings, { maxLatenessMs: 48 * HOUR });
    await drain(ctx);
    expect(sent).toHaveLength(1);
    const { next_at: nextAt } = await readPost(ctx, second.id);
    const midnight = new Intl.DateTimeFormat("en", {
      timeZone: "America/Los_Angeles",
      hour: "numeric",
      hourCycle: "h23",
      minute: "numeric",
    }).format(nextAt ?? 0);
    expect(midnight).toMatch(/^0?0:00$/);
    expect(nextAt).toBeGreaterThan(ctx.clock.now());
  });

  it("believes what the platform counted beside ours", async () => {
    const { ctx, sent } = await setUp([ROLLING]);
    const now = ctx.clock.now();
    const account = await addAccount(ctx, { limits: '{"quotaUse":{"posts":2}}', inspected_at: now });
    const post = await addPost(ctx, account);
    await drain(ctx);
    expect(sent).toEqual([]);
    expect((await readPost(ctx, post.id)).next_at).toBe(now + HOUR);
  });

  it("does not hold back what is on the platform, or may be", async () => {
    const { ctx, sent } = await setUp([{ ...ROLLING, max: 1 }]);
    const account = await addAccount(ctx);
    await addPost(ctx, account);
    await drain(ctx);
    const held = await addPost(ctx, account, { status: "uploaded" });
    await drain(ctx);
    expect((await readPost(ctx, held.id)).status).toBe("published");
    expect(sent).toHaveLength(2);
  });
});

describe("scheduling", () => {
  it("warns of a post that would have to wait, and says when that is too long", async () => {
    const { ctx } = await setUp([{ ...ROLLING, perMinutes: 180 }]);
    const { id: accountId } = await addAccount(ctx);
    const plan = (minutes: number) =>
      schedulePost(callOf(ctx), {
        accountId,
        caption: `At ${minutes}`,
        scheduledAt: new Date(ctx.clock.now() + minutes * MINUTE).toISOString(),
      });
    expect((await plan(10)).warnings).toEqual([]);
    expect((await plan(20)).warnings).toEqual([]);
    expect((await plan(30)).warnings).toEqual([
      `scheduledAt: this is post 3 in 3 hours on the channel My channel on Scripted, which takes 2 (posts), so it would wait until Saturday 21 November 2026, 12:10 (UTC), more than 1 hour after its time, and fail. Choose a time from then on.`,
    ]);
    expect((await plan(205)).warnings).toEqual([]);
  });

  it.skipIf(isOnPostgres)("asks the indexes alone", async () => {
    const { ctx } = await setUp([]);
    const plan = rawOf(ctx.store)
      .prepare(
        `EXPLAIN QUERY PLAN SELECT p.published_at FROM accounts a CROSS JOIN posts p INDEXED BY posts_published
         ON p.account_id = a.id WHERE a.provider = ? AND p.published_at > ? AND p.published_at <= ?`,
      )
      .all(["scripted", 0, 1]);
    expect(JSON.stringify(plan)).toMatch(/accounts_provider.*posts_published/);
    expect(JSON.stringify(plan)).not.toContain("SCAN");
  });
});

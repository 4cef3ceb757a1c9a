import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../../src/domain/time.ts";
import { PlatformFault } from "../../../src/ports/platform-io.ts";
import { getStatus } from "../../../src/reporting/health/status.ts";
import { percentile } from "../../../src/domain/health/percentile.ts";
import { callOf, callerOf, createTestContext, type TestContext } from "../../support/context.ts";
import { addAccount, addPost, drain, runTick } from "../../support/publishing.ts";
import { scriptedPlatform } from "../../support/scripted-platform.ts";
import { queryOf } from "../../support/handles.ts";

const NO_MEDIA = { forPost: () => ({}) as never, release: async () => {} };

/** A platform that answers as the caption says. */
const platform = scriptedPlatform({
  publish: async (post, io) => {
    if (post.caption === "refused") throw new PlatformFault("rejected", "The platform refused it.");
    if (post.caption === "doubtful") {
      await io.effect({
        step: "create",
        request: null,
        send: async () => {
          throw new PlatformFault("ambiguous", "The answer was lost.");
        },
        reconcile: async () => ({ outcome: "unknown", reason: "It cannot tell." }),
      });
    }
    return io.isDue
      ? { state: "live", platformPostId: post.id, platformUrl: null }
      : { state: "held", platformPostId: post.id, platformUrl: null };
  },
});

const createShelf = (): Promise<TestContext> =>
  createTestContext({ platformList: [platform], media: NO_MEDIA });

async function addWorker(ctx: TestContext, id: string, heartbeatAt: number): Promise<void> {
  const row = {
    id,
    role: "serve" as const,
    host: "here",
    pid: 1,
    version: "1.0.0",
    started_at: heartbeatAt,
    heartbeat_at: heartbeatAt,
  };
  await queryOf(ctx.store).insertInto("workers").values(row).execute();
}

describe("getStatus", () => {
  it("names the posts that are late, and those of which nobody knows yet whether they are out", async () => {
    await using ctx = await createShelf();
    const account = await addAccount(ctx);
    const due = { scheduled_at: ctx.clock.now() - 5 * MINUTE };
    await addPost(ctx, account, { ...due, id: "post_late", caption: "Late" });
    expect((await getStatus(callOf(ctx))).warnings).toHaveLength(1);
    await addPost(ctx, account, {
      ...due,
      id: "post_sent",
      caption: "Sent",
      status: "publishing",
      in_doubt: 1,
    });
    const { counts, warnings = [] } = await getStatus(callOf(ctx));
    expect(counts).toMatchObject({ overdue: 2, unknownOutcome: 0 });
    const at = "which was due on Saturday 21 November 2026, 08:55 (UTC)";
    expect(warnings.map(String)).toEqual([
      `2 posts are not live a minute after their time: “Late” (post_late), ${at}; “Sent” (post_sent), ${at}.`,
      `1 post was sent, and it is not known yet whether it is out: “Sent” (post_sent), ${at}.`,
    ]);
    const other = callerOf({ accountIds: [] });
    expect((await getStatus(callOf(ctx, other))).warnings).toBeUndefined();
  });

  it("tells of each deletion that nobody knows the end of what is to be done, of many of the newest", async () => {
    await using ctx = await createShelf();
    const account = await addAccount(ctx);
    for (let at = 0; at < 8; at++)
      await addPost(ctx, account, {
        status: at === 7 ? "uploaded" : "published",
        error:
          at === 0 ? "The comment was refused." : "It is not known whether it was deleted: It is silent.",
        next_at: null,
        caption: `Text ${at}`,
        scheduled_at: ctx.clock.now() - at * 1_000,
      });
    const told = (await getStatus(callOf(ctx))).warnings?.map(String) ?? [];
    expect(told[0]).toMatch(
      /^“Text 7” \(post_\w+\): It is not known whether it was deleted: It is silent\.$/,
    );
    expect(told[1]).toMatch(/^“Text 1”/);
    expect(told.at(-1)).toMatch(/^And of \d more posts? it is not known whether they were deleted\.$/);
    const other = callerOf({ accountIds: [] });
    expect((await getStatus(callOf(ctx, other))).warnings).toBeUndefined();
  });

  it("answers for an owner who has nothing", async () => {
    await using ctx = await createShelf();
    expect(await getStatus(callOf(ctx))).toEqual({
      now: "2026-11-21T09:00:00.000Z",
      timezone: "UTC",
      publisher: { running: false, heartbeatAt: null, workers: 0 },
      counts: {
        scheduled: 0,
        overdue: 0,
        publishing: 0,
        uploaded: 0,
        failed: 0,
        unknownOutcome: 0,
        draftsWaiting: 0,
      },
      lateness: { p50Ms: null, p95Ms: null, maxMs: null, sampleSize: 0, days: 7 },
      lastFailures: [],
      nextDueAt: null,
      accountsToReconnect: [],
      accountsPaused: [],
      setupProblems: [],
    });
  });

  it("tells a running publisher from one that fell silent", async () => {
    await using ctx = await createShelf();
    await addWorker(ctx, "wrk_dead", ctx.clock.now() - HOUR);
    expect((await getStatus(callOf(ctx))).publisher).toEqual({
      running: false,
      heartbeatAt: "2026-11-21T08:00:00.000Z",
      workers: 0,
    });
    await addWorker(ctx, "wrk_live", ctx.clock.now() - 5 * SECOND);
    expect((await getStatus(callOf(ctx))).publisher).toEqual({
      running: true,
      heartbeatAt: "2026-11-21T08:59:55.000Z",
      workers: 1,
    });
  });

  it("counts what waits, is late, failed or is in doubt, and the delays of what went live", async () => {
    await using ctx = await createShelf();
    const account = await addAccount(ctx);
    const now = ctx.clock.now();
    for (const late of [0, 1_000, 9_000]) {
      await addPost(ctx, account, { scheduled_at: now - late, due_at: now - late, next_at: now - late });
    }
    await addPost(ctx, account, { caption: "refused" });
    await addPost(ctx, account, { caption: "doubtful" });
    await addPost(ctx, account, { scheduled_at: now + 2 * HOUR, due_at: now, next_at: now });
    for (let minute = 0; minute < 5; minute++) {
      await drain(ctx);
      await ctx.clock.advance(MINUTE);
    }
    await addPost(ctx, account, { scheduled_at: now + HOUR });
    await addPost(ctx, account, { scheduled_at: now - HOUR });
    const status = await getStatus(callOf(ctx));
    expect(status.counts).toEqual({
      scheduled: 2,
      overdue: 1,
      publishing: 0,
      uploaded: 1,
      failed: 2,
      unknownOutcome: 1,
      draftsWaiting: 0,
    });
    expect(status.lateness).toEqual({ p50Ms: 1_000, p95Ms: 9_000, maxMs: 9_000, sampleSize: 3, days: 7 });
    expect(status.nextDueAt).toBe("2026-11-21T10:00:00.000Z");
    expect(
      status.lastFailures.map(({ accountId, provider, error }) => [accountId, provider, String(error)]),
    ).toEqual([
      [account.id, "scripted", expect.stringContaining("outcome unknown")],
      [account.id, "scripted", "The platform refused it."],
    ]);
  });

  it("counts lateness and failures of a week alone", async () => {
    await using ctx = await createShelf();
    const account = await addAccount(ctx);
    await addPost(ctx, account);
    await addPost(ctx, account, { caption: "refused" });
    await drain(ctx);
    expect(await getStatus(callOf(ctx))).toMatchObject({
      counts: { failed: 1 },
      lateness: { sampleSize: 1 },
    });
    await ctx.clock.advance(8 * DAY);
    expect(await getStatus(callOf(ctx))).toMatchObject({
      counts: { failed: 0 },
      lateness: { sampleSize: 0 },
    });
  });

  it("names the channels that need a person", async () => {
    await using ctx = await createShelf();
    await addAccount(ctx, { id: "acc_fine" });
    await addAccount(ctx, { id: "acc_left", status: "disconnected" });
    const gone = await addAccount(ctx, {
      id: "acc_gone",
      status: "disconnected",
      status_reason: "On request.",
    });
    await addPost(ctx, gone, { scheduled_at: ctx.clock.now() + DAY });
    await addAccount(ctx, {
      id: "acc_stale",
      status: "reconnect_required",
      status_reason: "The password was changed.",
    });
    await addAccount(ctx, { id: "acc_soon", access_ends_at: ctx.clock.now() + DAY });
    const { accountsToReconnect } = await getStatus(callOf(ctx));
    expect(accountsToReconnect).toEqual([
      {
        id: "acc_gone",
        name: "My channel on Scripted (c_gone)",
        provider: "scripted",
        status: "disconnected",
        reason: "On request.",
        queuedCount: 1,
      },
      expect.objectContaining({ id: "acc_soon", status: "expiring" }),
      expect.objectContaining({
        id: "acc_stale",
        status: "reconnect_required",
        reason: "The password was changed.",
      }),
    ]);
  });

  it("keeps owners and limited keys apart", async () => {
    await using ctx = await createShelf();
    const mine = await addAccount(ctx, { id: "acc_mine", status: "reconnect_required" });
    const other = await addAccount(ctx, { id: "acc_other", owner_id: "other" });
    await addPost(ctx, mine, { scheduled_at: ctx.clock.now() + HOUR });
    await addPost(ctx, other);
    await addPost(ctx, other, { caption: "refused" });
    await runTick(ctx);
    await drain(ctx);
    const nothing = { nextDueAt: null, accountsToReconnect: [], lastFailures: [] };
    const silent = { counts: { scheduled: 0, failed: 0 }, lateness: { sampleSize: 0 }, ...nothing };
    expect(await getStatus(callOf(ctx))).toMatchObject({
      counts: { scheduled: 1, failed: 0 },
      lateness: { sampleSize: 0 },
    });
    expect(await getStatus(callOf(ctx, callerOf({ accountIds: [] })))).toMatchObject(silent);
    expect(await getStatus(callOf(ctx, callerOf({ accountIds: ["acc_other"] })))).toMatchObject(silent);
    expect(await getStatus(callOf(ctx, callerOf({ ownerId: "other" })))).toMatchObject({
      counts: { scheduled: 0, failed: 1 },
      lateness: { sampleSize: 1 },
      accountsToReconnect: [],
    });
  });
});

describe("percentile", () => {
  it.each([
    [[], 0.5, null],
    [[4], 0.95, 4],
    [[1, 2, 3, 4], 0.5, 2],
    [Array.from({ length: 100 }, (_, at) => at), 0.95, 94],
  ])("of %j at %d", (values, share, expected) => {
    expect(percentile(values, share)).toBe(expected);
  });
});

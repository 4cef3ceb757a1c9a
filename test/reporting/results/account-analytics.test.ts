import { describe, expect, it } from "vitest";
import { DAY } from "../../../src/domain/time.ts";
import type { Platform } from "../../../src/ports/platform.ts";
import { PlatformFault } from "../../../src/ports/platform-io.ts";
import type { AnalyticsArgs } from "../../../src/domain/accounts/analytics.ts";
import { getAccountAnalytics } from "../../../src/reporting/results/account-analytics.ts";
import { callOf, callerOf, createTestContext, type TestContext } from "../../support/context.ts";
import { addAccount, addPost } from "../../support/publishing.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../../support/scripted-platform.ts";
import { queryOf } from "../../support/handles.ts";

async function createShelf(analytics?: Platform["analytics"], timezone = "UTC"): Promise<TestContext> {
  const platform = scriptedPlatform({
    publish: async () => ({ state: "prepared" }),
    capabilities: { ...TEXT_CAPABILITIES, analytics: { account: ["followers", "likes"], post: [] } },
    ...(analytics === undefined ? {} : { analytics }),
  });
  const settings = { timezone, maxLatenessMs: 0, uploadFolders: [], platformSettings: {} };
  const ctx = await createTestContext({ platformList: [platform], settings });
  const account = await addAccount(ctx, { id: "acc_1" });
  const add = (at: string, lateMs: number | null): Promise<unknown> =>
    addPost(ctx, account, {
      scheduled_at: Date.parse(at),
      status: lateMs === null ? "failed" : "published",
      published_at: lateMs === null ? null : Date.parse(at) + lateMs,
      next_at: null,
    });
  await add("2026-11-18T23:30:00Z", 500);
  await add("2026-11-19T08:00:00Z", 100);
  await add("2026-11-19T09:00:00Z", 300);
  await add("2026-11-19T10:00:00Z", null);
  await addPost(ctx, account, { scheduled_at: Date.parse("2026-11-19T11:00:00Z") });
  return ctx;
}

const args = (given: Partial<AnalyticsArgs> = {}): AnalyticsArgs => ({
  accountId: "acc_1",
  from: "2026-11-18",
  granularity: "day",
  ...given,
});
const quiet = { postsPublished: 0, postsFailed: 0, latenessP50Ms: null, latenessMaxMs: null };

describe("getAccountAnalytics", () => {
  it("answers what the service knows by day, up to today, and why there is no more", async () => {
    await using ctx = await createShelf();
    const answer = await getAccountAnalytics(callOf(ctx), args());
    expect(answer).toMatchObject({
      accountId: "acc_1",
      provider: "scripted",
      from: "2026-11-18",
      to: "2026-11-21",
      fetchedAt: "2026-11-21T09:00:00.000Z",
      totals: { postsPublished: 3, postsFailed: 1, latenessP50Ms: 300, latenessMaxMs: 500 },
    });
    expect(answer.series).toEqual([
      { date: "2026-11-18", postsPublished: 1, postsFailed: 0, latenessP50Ms: 500, latenessMaxMs: 500 },
      { date: "2026-11-19", postsPublished: 2, postsFailed: 1, latenessP50Ms: 100, latenessMaxMs: 300 },
      { date: "2026-11-20", ...quiet },
      { date: "2026-11-21", ...quiet },
    ]);
    expect(answer.unavailable).toContainEqual({
      metric: "followers",
      reason: "Scripted offers no numbers for a channel.",
    });
  });

  it("takes days in the configured zone, those of 23 hours too", async () => {
    await using ctx = await createShelf(undefined, "Europe/Berlin");
    const { series } = await getAccountAnalytics(callOf(ctx), args({ from: "2026-11-19", to: "2026-11-19" }));
    expect(series).toEqual([
      { date: "2026-11-19", postsPublished: 3, postsFailed: 1, latenessP50Ms: 300, latenessMaxMs: 500 },
    ]);
    const spring = await getAccountAnalytics(callOf(ctx), args({ from: "2026-03-28", to: "2026-03-30" }));
    expect(spring.series.map(({ date }) => date)).toEqual(["2026-03-28", "2026-03-29", "2026-03-30"]);
  });

  it("adds the platform's numbers, and names those that it left out", async () => {
    await using ctx = await createShelf(async (range) => ({
      totals: { followers: 12, postsPublished: 99 },
      days: [{ date: range.from, metrics: { likes: 3 } }],
      unavailable: [{ metric: "views", reason: "Only for partners." }],
    }));
    const answer = await getAccountAnalytics(callOf(ctx), args({ from: "2026-11-20" }));
    expect(answer.totals).toEqual({ followers: 12, ...quiet });
    expect(answer.series).toEqual([
      { date: "2026-11-20", likes: 3, ...quiet },
      { date: "2026-11-21", ...quiet },
    ]);
    expect(answer.unavailable.slice(0, 2).map((one) => ({ ...one, reason: String(one.reason) }))).toEqual([
      { metric: "views", reason: "Only for partners." },
      { metric: "likes", reason: "Scripted does not offer it." },
    ]);
  });

  it.each([
    [
      new PlatformFault("transient", "Scripted did not answer properly."),
      "Scripted did not answer properly.",
    ],
    [new TypeError("secret detail"), "Scripted could not be asked. Try again later."],
  ])("stays an answer when the platform fails with %s", async (error, reason) => {
    await using ctx = await createShelf(async () => {
      throw error;
    });
    const answer = await getAccountAnalytics(callOf(ctx), args());
    expect(answer.totals["postsPublished"]).toBe(3);
    expect(String(answer.unavailable.find(({ metric }) => metric === "followers")?.reason)).toBe(reason);
    expect(JSON.stringify(answer)).not.toContain("secret detail");
  });

  it("does not ask with credentials that are known to be refused", async () => {
    await using ctx = await createShelf(async () => {
      throw new Error("asked");
    });
    await queryOf(ctx.store).updateTable("accounts").set({ status: "reconnect_required" }).execute();
    const { unavailable } = await getAccountAnalytics(callOf(ctx), args());
    expect(String(unavailable[0]?.reason)).toMatch(/must be reconnected/);
  });

  it("answers totals alone", async () => {
    await using ctx = await createShelf();
    const answer = await getAccountAnalytics(callOf(ctx), args({ granularity: "total" }));
    expect(answer).toMatchObject({ series: [], totals: { postsPublished: 3 } });
  });

  it("ends at today", async () => {
    await using ctx = await createShelf();
    expect((await getAccountAnalytics(callOf(ctx), args({ to: "2026-12-31" }))).to).toBe("2026-11-21");
  });

  it.each([
    [
      { from: "2026-12-24" },
      /^from: "2026-12-24" is in the future\. On this server it is 2026-11-21 \(UTC\)\.$/,
    ],
    [{ from: "2026-11-18", to: "2026-11-17" }, /^from: "2026-11-18" is after to \("2026-11-17"\)/],
    [{ from: "2024-01-01" }, /^from: the range has 1056 days, but at most 366/],
    [{ from: "yesterday" }, /^from: "yesterday" is not a date/],
    [{ accountId: "acc_none" }, /^accountId: there is no account "acc_none"/],
  ])("refuses %j", async (given, sentence) => {
    await using ctx = await createShelf();
    await expect(getAccountAnalytics(callOf(ctx), args(given))).rejects.toThrow(sentence);
  });

  it("keeps owners and limited keys apart", async () => {
    await using ctx = await createShelf();
    for (const stranger of [callerOf({ ownerId: "other" }), callerOf({ accountIds: ["acc_2"] })]) {
      await expect(getAccountAnalytics(callOf(ctx, stranger), args())).rejects.toMatchObject({
        kind: "not_found",
      });
    }
    await ctx.clock.advance(DAY);
    expect(
      (await getAccountAnalytics(callOf(ctx, callerOf({ accountIds: ["acc_1"] })), args())).series,
    ).toHaveLength(5);
  });
});

it("answers followers of the days on which they were noted", async () => {
  await using ctx = await createShelf(async () => ({ totals: { followers: 9 }, days: [], unavailable: [] }));
  await queryOf(ctx.store)
    .insertInto("results")
    .values({
      ...{ account_id: "acc_1", at: Date.parse("2026-11-19T00:00:00Z"), post_id: "", provider: "scripted" },
      ...{ media: "", next_at: null, step: 1, h1: "7" },
    })
    .execute();
  const { series } = await getAccountAnalytics(callOf(ctx), args());
  expect(series.map(({ followers }) => followers)).toEqual([undefined, 7, undefined, undefined]);
});

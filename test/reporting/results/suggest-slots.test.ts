import { describe, expect, it } from "vitest";
import type { AccountChange } from "../../../src/domain/accounts/schedule.ts";
import { DAY, HOUR } from "../../../src/domain/time.ts";
import { changeAccount } from "../../../src/reporting/results/suggest-slots.ts";
import type { Tables } from "../../../src/store/schema/tables.ts";
import { callOf, createTestContext, type TestContext } from "../../support/context.ts";
import { addAccount } from "../../support/publishing.ts";
import { addResult } from "../../support/results.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../../support/scripted-platform.ts";

const openWorld = (): Promise<TestContext> =>
  createTestContext({
    platformList: [
      scriptedPlatform({
        publish: async () => ({ state: "prepared" }),
        capabilities: { ...TEXT_CAPABILITIES, analytics: { account: [], post: ["likes"] } },
      }),
    ],
    feed: {} as never,
  });

const suggest = (ctx: TestContext, account: Tables["accounts"], more: Partial<AccountChange> = {}) =>
  changeAccount(callOf(ctx), { accountId: account.id, dryRun: true, suggest: true, ...more });

const schedule = (plan: object): string =>
  JSON.stringify({ timezone: "Europe/Berlin", minGapMinutes: 0, slots: [], ...plan });

/** So many posts at an hour of the week in UTC, each with so many likes. */
async function addHour(
  ctx: TestContext,
  account: Tables["accounts"],
  { weekday, hour, posts, likes }: { weekday: number; hour: number; posts: number; likes: number },
): Promise<void> {
  // A Monday in winter.
  const monday = Date.parse("2026-11-16T00:00:00Z");
  for (let week = 0; week < posts; week += 1)
    await addResult(ctx, account, {
      ...{ id: `post_${account.id}_${weekday}_${hour}_${week}`, media: "t", labels: [] },
      at: monday + weekday * DAY + hour * HOUR + HOUR / 2 - week * 7 * DAY,
      figures: { likes: likes + week },
    });
}

describe("suggested slots", () => {
  it("are the hours that did best, in the channel's zone, with what they rest on", async () => {
    await using ctx = await openWorld();
    const slots = [{ days: ["mon", "tue"], times: ["12:00"] }];
    const account = await addAccount(ctx, { schedule: schedule({ slots }) });
    await addHour(ctx, account, { weekday: 0, hour: 7, posts: 4, likes: 50 });
    await addHour(ctx, account, { weekday: 2, hour: 23, posts: 4, likes: 60 });
    await addHour(ctx, account, { weekday: 4, hour: 10, posts: 10, likes: 1 });
    await addHour(ctx, account, { weekday: 5, hour: 8, posts: 2, likes: 900 });
    const { suggestion, account: shown, dryRun } = await suggest(ctx, account);
    expect(suggestion).toEqual({
      ...{ metric: "likes", posts: 20, usual: 30, reason: null },
      schedule: {
        timezone: "Europe/Berlin",
        minGapMinutes: 0,
        slots: [
          { days: ["mon"], times: ["08:30"] },
          { days: ["thu"], times: ["00:30"] },
        ],
      },
      evidence: [
        { day: "mon", time: "08:30", posts: 4, median: 51.5 },
        { day: "thu", time: "00:30", posts: 4, median: 61.5 },
      ],
    });
    expect(shown.schedule?.slots).toEqual(suggestion?.schedule?.slots);
    expect(dryRun).toBe(true);
    // As it was.
    const { suggest: _suggest, ...plain } = {
      accountId: account.id,
      dryRun: true,
      paused: true,
      suggest: true,
    };
    expect((await changeAccount(callOf(ctx), plain)).account.schedule?.slots).toEqual(slots);
  });

  it("keep the channel's gap, over the end of the week, too", async () => {
    await using ctx = await openWorld();
    const slots = [{ days: ["mon", "tue", "wed"], times: ["12:00"] }];
    const account = await addAccount(ctx, {
      schedule: schedule({ timezone: "UTC", slots, minGapMinutes: 180 }),
    });
    await addHour(ctx, account, { weekday: 6, hour: 23, posts: 8, likes: 90 });
    await addHour(ctx, account, { weekday: 0, hour: 1, posts: 8, likes: 80 });
    await addHour(ctx, account, { weekday: 0, hour: 2, posts: 8, likes: 70 });
    await addHour(ctx, account, { weekday: 3, hour: 2, posts: 20, likes: 1 });
    const { suggestion } = await suggest(ctx, account);
    expect(suggestion?.evidence.map(({ day, time }) => `${day} ${time}`)).toEqual(["mon 02:30", "sun 23:30"]);
    expect(suggestion?.schedule?.minGapMinutes).toBe(180);
  });

  it("are none out of fewer than 20 posts, and that is said", async () => {
    await using ctx = await openWorld();
    const account = await addAccount(ctx);
    await addHour(ctx, account, { weekday: 0, hour: 7, posts: 12, likes: 50 });
    const { suggestion, moved } = await suggest(ctx, account);
    expect(suggestion).toMatchObject({ schedule: null, evidence: [], posts: 12 });
    expect(suggestion?.reason).toMatch(/^Too few to propose anything: 12 posts/);
    expect(moved).toEqual([]);
    for (let weekday = 1; weekday < 6; weekday += 1)
      await addHour(ctx, account, { weekday, hour: weekday, posts: 2, likes: 500 });
    await addHour(ctx, account, { weekday: 6, hour: 1, posts: 2, likes: 500 });
    const few = await suggest(ctx, account);
    expect(few.suggestion?.reason ?? "").toMatch(/^No hour of the week stands out/);
  });

  it("change nothing, and say so where they were to", async () => {
    await using ctx = await openWorld();
    const account = await addAccount(ctx);
    await expect(suggest(ctx, account, { dryRun: false })).rejects.toThrow("suggest: only proposes");
    await expect(suggest(ctx, account, { schedule: null })).rejects.toThrow(
      "schedule: is what suggest answers",
    );
  });
});

import { describe, expect, it } from "vitest";
import google from "../../../src/platforms/google_business/index.ts";
import { getAccountAnalytics } from "../../../src/reporting/results/account-analytics.ts";
import { editPublishedPost } from "../../../src/posts/live-posts.ts";
import { readInsights } from "../../../src/posts/posts.ts";
import { callOf } from "../../support/context.ts";
import { finish } from "../../support/contract/ends.ts";
import { addPost, readPost } from "../../support/publishing.ts";
import { invalid } from "./fake.ts";
import { createBusinessWorld } from "./world.ts";

async function published(metadata: object = {}) {
  const world = await createBusinessWorld();
  const { id } = await addPost(world.ctx, world.account, { metadata: JSON.stringify(metadata) });
  await finish(world.ctx, id);
  world.fake.requests.length = 0;
  const fields = () => [...world.fake.posts.values()][0]?.fields;
  return { ...world, id, fields };
}

describe("a live post", () => {
  it("is changed in what was changed, and loses what is not given any more", async () => {
    const { ctx, id, fields, fake } = await published({ link: "https://horn.example/" });
    await editPublishedPost(callOf(ctx), { id, caption: "Two horns" });
    expect(fields()).toMatchObject({ summary: "Two horns", callToAction: { actionType: "LEARN_MORE" } });
    await editPublishedPost(callOf(ctx), { id, metadata: { link: null } as never });
    expect(fields()).not.toHaveProperty("callToAction");
    expect(fake.requests).toEqual([
      "PATCH mybusiness.googleapis.com/v4/{name}",
      "PATCH mybusiness.googleapis.com/v4/{name}",
    ]);
    expect(fake.wrong).toEqual([]);
  });

  it("stays as it was where Google refuses", async () => {
    const { ctx, id, fake } = await published();
    fake.state.next.set("PATCH mybusiness.googleapis.com/v4/{name}", [invalid(3, "summary")]);
    await expect(editPublishedPost(callOf(ctx), { id, caption: "Two" })).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("caption: Google refused it"),
    });
    expect((await readPost(ctx, id)).caption).toBe("Hello");
    fake.posts.clear();
    await expect(editPublishedPost(callOf(ctx), { id, caption: "Two" })).rejects.toMatchObject({
      message: expect.stringContaining("no longer on Google"),
    });
  });

  it("does not become another kind of post", async () => {
    const { ctx, id } = await published();
    const metadata = {
      topicType: "EVENT",
      title: "A",
      startsAt: "2026-12-24T18:30",
      endsAt: "2026-12-24T20:00",
    };
    await expect(editPublishedPost(callOf(ctx), { id, metadata })).rejects.toMatchObject({
      kind: "conflict",
    });
  });

  it("has a state and no numbers", async () => {
    const { ctx, id, fake } = await published();
    const row = await readPost(ctx, id);
    expect(await readInsights(ctx, row)).toMatchObject({ state: "live", visibility: "public" });
    for (const post of fake.posts.values()) post.isRejected = true;
    const insights = await readInsights(ctx, row);
    expect(insights).toMatchObject({ state: "rejected", visibility: null });
    expect(Object.values(insights.metrics).every((value) => value === null)).toBe(true);
  });
});

describe("the numbers of a location", () => {
  it("are Google's by day, those of one kind added up", async () => {
    const { ctx, account, fake } = await createBusinessWorld();
    const date = { year: 2026, month: 11, day: 3 };
    const series = (dailyMetric: string, value?: string) => ({
      dailyMetric,
      timeSeries: { datedValues: [{ date, ...(value === undefined ? {} : { value }) }] },
    });
    fake.state.series = [
      series("BUSINESS_IMPRESSIONS_DESKTOP_MAPS", "3"),
      series("BUSINESS_IMPRESSIONS_MOBILE_SEARCH", "4"),
      series("WEBSITE_CLICKS"),
      series("CALL_CLICKS", "1"),
    ];
    const call = callOf(ctx);
    const range = { from: "2026-11-01", to: "2026-11-04", granularity: "day" } as const;
    const told = await getAccountAnalytics(call, { accountId: account.id, ...range });
    expect(told).toMatchObject({
      totals: { impressions: 7, clicks: 0, calls: 1 },
      series: expect.arrayContaining([
        expect.objectContaining({ date: "2026-11-03", impressions: 7, clicks: 0, calls: 1 }),
      ]),
    });
    expect(told.unavailable.map(({ metric }) => metric)).toEqual(
      expect.arrayContaining(["directions", "conversations", "bookings"]),
    );
    expect(google.capabilities.analytics.account).toHaveLength(6);
    expect(fake.wrong).toEqual([]);
  });
});

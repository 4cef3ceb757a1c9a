import { describe, expect, it } from "vitest";
import google from "../../../src/platforms/google_business/index.ts";
import { PHOTO_URL } from "../../support/contract/stage-media.ts";
import { finish } from "../../support/contract/ends.ts";
import { addPost, drain, readPost } from "../../support/publishing.ts";
import { PNG_URL } from "../instagram/stage-kit.ts";
import { json } from "../youtube/answers.ts";
import { refusal } from "./fake.ts";
import { createBusinessWorld } from "./world.ts";

const MINUTE = 60_000;
const DAYS = { startsAt: "2026-12-24T18:30", endsAt: "2026-12-24T20:00" };

type World = Awaited<ReturnType<typeof createBusinessWorld>>;

const sent = ({ fake }: World) => [...fake.posts.values()].map(({ fields }) => fields);

describe("what Google gets", () => {
  it("is an event in the place's own time, with no zone", async () => {
    const world = await createBusinessWorld();
    const metadata = { topicType: "EVENT", title: "Horns at night", ...DAYS, link: "https://horn.example/" };
    const { id } = await addPost(world.ctx, world.account, { metadata: JSON.stringify(metadata) });
    expect(await finish(world.ctx, id)).toMatchObject({
      status: "published",
      platform_post_id: "accounts/1/locations/22/localPosts/100",
      platform_url: expect.stringMatching(/^https:\/\/local\.google\.com\//),
    });
    expect(sent(world)).toEqual([
      {
        languageCode: "de",
        summary: "Hello",
        topicType: "EVENT",
        callToAction: { actionType: "LEARN_MORE", url: "https://horn.example/" },
        event: {
          title: "Horns at night",
          schedule: {
            startDate: { year: 2026, month: 12, day: 24 },
            startTime: { hours: 18, minutes: 30 },
            endDate: { year: 2026, month: 12, day: 24 },
            endTime: { hours: 20, minutes: 0 },
          },
        },
      },
    ]);
  });

  it("is an address of the picture that a machine reads", async () => {
    const world = await createBusinessWorld();
    const { id } = await addPost(world.ctx, world.account, { media_url: PHOTO_URL });
    expect((await finish(world.ctx, id)).status).toBe("published");
    expect(sent(world)[0]?.["media"]).toEqual([{ mediaFormat: "PHOTO", sourceUrl: PHOTO_URL }]);
    const small = await addPost(world.ctx, world.account, { media_url: PNG_URL });
    expect(await finish(world.ctx, small.id)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("must be at least 250 × 250"),
    });
  });
});

describe("a post's time", () => {
  it("is Google's to keep: it lies there ahead, and nothing of ours has to run", async () => {
    const world = await createBusinessWorld();
    const { ctx, clock, fake } = world;
    const scheduledAt = clock.now() + 30 * MINUTE;
    const { id } = await addPost(ctx, world.account, { scheduled_at: scheduledAt, due_at: clock.now() });
    await drain(ctx);
    expect(await readPost(ctx, id)).toMatchObject({ status: "uploaded", error: null });
    expect(sent(world)[0]?.["scheduledTime"]).toBe(new Date(scheduledAt).toISOString());
    await clock.advance(30 * MINUTE);
    expect(fake.shown()).toHaveLength(1);
    expect((await finish(ctx, id)).status).toBe("published");
    expect(fake.posts.size).toBe(1);
  });

  it("is ours where it is too near for that", async () => {
    const world = await createBusinessWorld();
    const { ctx, clock } = world;
    const scheduledAt = clock.now() + 3 * MINUTE;
    const { id } = await addPost(ctx, world.account, { scheduled_at: scheduledAt, due_at: clock.now() });
    await drain(ctx);
    expect((await readPost(ctx, id)).status).toBe("scheduled");
    expect(world.fake.posts.size).toBe(0);
    expect((await finish(ctx, id)).status).toBe("published");
    expect(sent(world)[0]).not.toHaveProperty("scheduledTime");
  });

  it("is told ahead to be lost, where Google rejects the post", async () => {
    const world = await createBusinessWorld();
    const { ctx, clock, fake } = world;
    fake.state.rejects = true;
    const scheduledAt = clock.now() + 60 * MINUTE;
    const { id } = await addPost(ctx, world.account, { scheduled_at: scheduledAt, due_at: clock.now() });
    await drain(ctx);
    await clock.advance(5_000);
    await drain(ctx);
    expect(await readPost(ctx, id)).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/rejected it.*phone number.*send it again/),
    });
    expect(clock.now()).toBeLessThan(scheduledAt - 50 * MINUTE);
  });

  it("is not the end of it where Google takes long to look", async () => {
    const world = await createBusinessWorld();
    const { ctx, clock, fake } = world;
    fake.state.reviewMs = 5 * 60 * MINUTE;
    const { id } = await addPost(ctx, world.account);
    await drain(ctx);
    await clock.advance(3 * 60 * MINUTE);
    await drain(ctx);
    expect(await readPost(ctx, id)).toMatchObject({
      status: "uploaded",
      error: expect.stringContaining("still private"),
    });
    expect((await finish(ctx, id)).status).toBe("published");
  });
});

describe("what Google refuses", () => {
  it("waits where the project has no quota, and says who must mend it", async () => {
    const world = await createBusinessWorld();
    const info = { reason: "RATE_LIMIT_EXCEEDED", metadata: { quota_limit_value: "0" } };
    world.fake.state.next.set("POST mybusiness.googleapis.com/v4/{parent}/localPosts", [
      refusal(429, "RESOURCE_EXHAUSTED", [info]),
    ]);
    const { id } = await addPost(world.ctx, world.account);
    await drain(world.ctx);
    expect(await readPost(world.ctx, id)).toMatchObject({
      status: "scheduled",
      error: expect.stringContaining("Apply for it at https://support.google.com/business"),
    });
    expect((await finish(world.ctx, id)).status).toBe("published");
  });

  it.each([
    ["Call us: +41 31 123 45 67", true],
    ["Or 031 123 4567", true],
    ["Or (555) 123-4567", true],
    ["On 2026-12-24 from 18.30 for 1200.50", false],
  ])("warns of phone numbers: %s", (caption, isWarned) => {
    const post = { caption, mediaUrl: "", metadata: {} } as never;
    expect(google.check?.(post, {} as never).warnings).toHaveLength(isWarned ? 1 : 0);
  });
});

describe("a post whose answer was lost", () => {
  it("is not taken for one that is like it but for its time, its kind or its page", async () => {
    const world = await createBusinessWorld();
    const { ctx, clock, fake } = world;
    const others = Array.from({ length: 150 }, (_, at) => ({ summary: `${at}`, topicType: "STANDARD" }));
    const later = { scheduledTime: new Date(clock.now() + 600 * MINUTE).toISOString() };
    for (const fields of [...others, { summary: "Hello", topicType: "STANDARD", ...later }]) {
      const name = `accounts/1/locations/22/localPosts/o${fake.posts.size}`;
      fake.posts.set(name, { name, createdAt: clock.now(), fields, isRejected: false });
    }
    fake.state.next.set("POST mybusiness.googleapis.com/v4/{parent}/localPosts", [
      json({ error: { code: 503, status: "UNAVAILABLE" } }, 503),
    ]);
    const { id } = await addPost(ctx, world.account);
    expect(await finish(ctx, id)).toMatchObject({ status: "published", error: null });
    expect([...fake.posts.keys()].filter((name) => /\/\d+$/.test(name))).toHaveLength(1);
    expect(
      fake.requests.filter((name) => name === "GET mybusiness.googleapis.com/v4/{parent}/localPosts").length,
    ).toBeGreaterThanOrEqual(4);
  });
});

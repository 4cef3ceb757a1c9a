import { describe, expect, it } from "vitest";
import { AGES, unpackFigures } from "../../../src/domain/posts/results.ts";
import { DAY, HOUR, MINUTE } from "../../../src/domain/time.ts";
import { PlatformFault } from "../../../src/ports/platform-io.ts";
import type { AnyPlatform, PostInsights } from "../../../src/ports/platform.ts";
import { collectResults } from "../../../src/reporting/results/collect.ts";
import type { PostRow, Tables } from "../../../src/store/schema/tables.ts";
import { createTestContext, type TestContext } from "../../support/context.ts";
import { queryOf } from "../../support/handles.ts";
import { addAccount, addPost } from "../../support/publishing.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../../support/scripted-platform.ts";

const goOn = new AbortController().signal;
const live = (metrics: PostInsights["metrics"]): PostInsights => ({
  state: "live",
  visibility: "public",
  metrics,
});

function telling(
  insights: AnyPlatform["insights"],
  more: Partial<Parameters<typeof scriptedPlatform>[0]> = {},
): AnyPlatform {
  return scriptedPlatform({
    publish: async () => ({ state: "prepared" }),
    capabilities: { ...TEXT_CAPABILITIES, analytics: { account: ["followers"], post: ["views", "likes"] } },
    ...(insights !== undefined && { insights }),
    ...more,
  });
}

function openWorld(...platformList: AnyPlatform[]): Promise<TestContext> {
  return createTestContext({ platformList, feed: {} as never });
}

/** A post that went live so long ago. */
function addLive(
  ctx: TestContext,
  account: Tables["accounts"],
  agoMs = 0,
  more: Partial<PostRow> = {},
): Promise<PostRow> {
  const at = ctx.clock.now() - agoMs;
  return addPost(ctx, account, {
    scheduled_at: at,
    published_at: at,
    status: "published",
    next_at: null,
    platform_post_id: "1",
    ...more,
  });
}

async function resultsOf(ctx: TestContext): Promise<Tables["results"][]> {
  return queryOf(ctx.store)
    .selectFrom("results")
    .selectAll()
    .where("post_id", "<>", "")
    .orderBy("at")
    .execute();
}

/** A pass each minute. */
async function pass(ctx: TestContext, minutes = 1): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    await collectResults(ctx, goOn);
    await ctx.clock.advance(MINUTE);
  }
}

const figures = (row: Tables["results"] | undefined) =>
  [row?.h1, row?.h24, row?.d7, row?.d30].map((packed) =>
    packed === null || packed === undefined ? null : unpackFigures(packed),
  );

describe("collecting", () => {
  it("asks once at each age, soon after it, and what is not known stays unknown", async () => {
    const asked: number[] = [];
    const platform = telling(async (post, io) => {
      const age = io.now() - post.scheduledAt;
      asked.push(age);
      return live({ views: Math.floor(age / HOUR), likes: age > DAY ? null : 0 });
    });
    await using ctx = await openWorld(platform);
    // By its id its moment is in the first half of the hour.
    await addLive(ctx, await addAccount(ctx), 0, { id: "post_d" });
    await pass(ctx, 80);
    for (const { afterMs } of AGES.slice(1)) {
      await ctx.clock.advance(afterMs - (ctx.clock.now() - Date.parse("2026-11-21T09:00:00Z")) - 2 * MINUTE);
      await pass(ctx, 65);
    }
    expect(asked).toHaveLength(4);
    for (const [at, { afterMs, spreadMs }] of AGES.entries()) {
      expect(asked[at]).toBeGreaterThanOrEqual(afterMs);
      expect(asked[at]).toBeLessThanOrEqual(afterMs + spreadMs + MINUTE);
    }
    const [row] = await resultsOf(ctx);
    expect(figures(row)).toEqual(
      [{ views: 1, likes: 0 }, { views: 24, likes: undefined }, { views: 168 }, { views: 720 }].map((one) =>
        JSON.parse(JSON.stringify(one)),
      ),
    );
    expect(row).toMatchObject({ media: "t", next_at: null });
    await pass(ctx, 5);
    expect(asked).toHaveLength(4);
  });

  it("asks about posts that went live together not all in the same minute", async () => {
    const minutes: number[] = [];
    const platform = telling(async (_post, io) => {
      minutes.push(Math.floor(io.now() / MINUTE));
      return live({});
    });
    await using ctx = await openWorld(platform);
    for (let channel = 0; channel < 40; channel += 1) await addLive(ctx, await addAccount(ctx));
    await pass(ctx, 75);
    expect(minutes).toHaveLength(40);
    const most = Math.max(...minutes.map((one) => minutes.filter((other) => other === one).length));
    expect(most).toBeLessThan(15);
    expect(new Set(minutes).size).toBeGreaterThan(5);
  });

  it("leaves out what was missed for too long, and takes what is a little late", async () => {
    const asked: number[] = [];
    const platform = telling(async (post, io) => {
      asked.push(io.now() - post.scheduledAt);
      return live({ views: 1 });
    });
    await using ctx = await openWorld(platform);
    const account = await addAccount(ctx);
    await addLive(ctx, account, 2 * HOUR);
    await addLive(ctx, account, DAY + 3 * HOUR);
    await addLive(ctx, account, 60 * DAY);
    await pass(ctx, 3);
    expect(asked.map((age) => Math.floor(age / HOUR))).toEqual([27]);
    const [old, late, missed] = await resultsOf(ctx);
    expect(figures(old)).toEqual([null, null, null, null]);
    expect(old?.next_at).toBeNull();
    expect(figures(late)).toEqual([null, { views: 1 }, null, null]);
    expect(missed).toMatchObject({ step: 1, h1: null });
    expect(missed?.next_at).toBeGreaterThan(ctx.clock.now());
  });

  it("makes no burst of what waits after a downtime", async () => {
    const asked: string[] = [];
    const platform = telling(async (_post, io) => {
      asked.push(io.account.id);
      return live({});
    });
    await using ctx = await openWorld(platform);
    const [busy, quiet] = [await addAccount(ctx), await addAccount(ctx)];
    for (let at = 0; at < 20; at += 1) await addLive(ctx, busy, DAY + 2 * HOUR + at * MINUTE);
    await addLive(ctx, quiet, DAY + 90 * MINUTE);
    await pass(ctx);
    expect(asked.filter((id) => id === busy.id)).toHaveLength(5);
    expect(asked).toContain(quiet.id);
    await pass(ctx, 3);
    expect(asked).toHaveLength(21);
  });

  it("asks no more about a post that is gone, here or there", async () => {
    const asked: string[] = [];
    const platform = telling(async (post) => {
      asked.push(post.id);
      return { state: "removed", visibility: null, metrics: {} };
    });
    await using ctx = await openWorld(platform);
    const account = await addAccount(ctx);
    const there = await addLive(ctx, account, HOUR + 12 * MINUTE);
    const here = await addLive(ctx, account, HOUR);
    await pass(ctx);
    await queryOf(ctx.store)
      .updateTable("posts")
      .set({ status: "cancelled" })
      .where("id", "=", here.id)
      .execute();
    await pass(ctx, 30);
    await ctx.clock.advance(DAY);
    await pass(ctx, 70);
    expect(asked).toEqual([there.id]);
    expect((await resultsOf(ctx)).map(({ next_at, h1 }) => [next_at, h1])).toEqual([
      [null, null],
      [null, null],
    ]);
  });

  it("writes down once why a platform gives no figure, and asks for the next", async () => {
    let count = 0;
    const platform = telling(async () => {
      count += 1;
      throw new PlatformFault("rejected", "Scripted does not show figures of this channel.");
    });
    await using ctx = await openWorld(platform);
    await addLive(ctx, await addAccount(ctx), HOUR + 12 * MINUTE);
    await pass(ctx, 15);
    expect(count).toBe(1);
    expect((await resultsOf(ctx))[0]).toMatchObject({
      step: 1,
      h1: null,
      reason: "Scripted does not show figures of this channel.",
    });
  });

  it("goes on with other platforms while one hangs, and with other channels while one is out of reach", async () => {
    let free: (() => void) | null = null;
    const hanging = telling(
      async () =>
        free === null
          ? new Promise<never>((_resolve, reject) => (free = () => reject(new Error("late"))))
          : live({}),
      { name: "hanging" },
    );
    const broken: string[] = [];
    const platform = telling(async (_post, io) => {
      if (io.account.name !== "Broken") return live({ views: 7 });
      broken.push(io.account.id);
      throw new PlatformFault("transient", "It does not answer.");
    });
    await using ctx = await openWorld(hanging, platform);
    await addLive(ctx, await addAccount(ctx, { provider: "hanging" }), HOUR + 12 * MINUTE);
    const bad = await addAccount(ctx, { name: "Broken" });
    for (let at = 0; at < 4; at += 1) await addLive(ctx, bad, HOUR + 12 * MINUTE + at);
    await addLive(ctx, await addAccount(ctx), HOUR + 12 * MINUTE);
    const running = collectResults(ctx, goOn);
    await expect.poll(async () => (await resultsOf(ctx)).filter(({ h1 }) => h1 !== null)).toHaveLength(1);
    await expect.poll(() => free).not.toBeNull();
    (free as unknown as () => void)();
    await running;
    expect(broken).toHaveLength(1);
    await ctx.clock.advance(MINUTE);
    await pass(ctx, 5);
    expect(broken).toHaveLength(1);
    // Out of reach for a quarter of an hour, and tried again within its time.
    await pass(ctx, 12);
    expect(broken).toHaveLength(2);
  });

  it("waits as long as a platform says, for the whole app where that is meant", async () => {
    let count = 0;
    const platform = telling(async () => {
      count += 1;
      throw new PlatformFault("rate", "Too many.", { retryAfterMs: 3 * HOUR, scope: "app" });
    });
    await using ctx = await openWorld(platform);
    for (let channel = 0; channel < 5; channel += 1)
      await addLive(ctx, await addAccount(ctx), DAY + 2 * HOUR);
    await pass(ctx, 30);
    expect(count).toBeLessThanOrEqual(2);
    await ctx.clock.advance(3 * HOUR);
    const before = count;
    await pass(ctx);
    expect(count).toBeGreaterThan(before);
  });

  it("asks nothing that costs money before a person wants it", async () => {
    const asked: string[] = [];
    const platform = telling(
      async (post) => {
        asked.push(post.id);
        return live({});
      },
      { results: { price: "Each reading costs a cent." } },
    );
    const settings = { timezone: "UTC", maxLatenessMs: 0, uploadFolders: [], platformSettings: {} };
    for (const value of ["off", "on"]) {
      const platformSettings = { POSTHORN_SCRIPTED_RESULTS: value };
      await using ctx = await createTestContext({
        platformList: [platform],
        feed: {} as never,
        settings: { ...settings, platformSettings },
      });
      await addLive(ctx, await addAccount(ctx), HOUR + 12 * MINUTE);
      await pass(ctx, 3);
      expect(asked).toHaveLength(value === "on" ? 1 : 0);
    }
  });

  it("notes a channel's followers once a day", async () => {
    const days: string[] = [];
    const platform = telling(undefined, {
      analytics: async ({ from }) => {
        days.push(from);
        return { totals: { followers: 100 + days.length }, days: [], unavailable: [] };
      },
    });
    await using ctx = await openWorld(platform);
    const account = await addAccount(ctx);
    for (let hour = 0; hour < 72; hour += 1) {
      await pass(ctx, 2);
      await ctx.clock.advance(58 * MINUTE);
    }
    const rows = await queryOf(ctx.store)
      .selectFrom("results")
      .select(["at", "h1"])
      .where("account_id", "=", account.id)
      .orderBy("at")
      .execute();
    expect(rows.length).toBeGreaterThanOrEqual(3);
    expect(new Set(days).size).toBe(days.length);
    expect(rows.filter(({ h1 }) => h1 !== null)).toHaveLength(days.length);
    expect(rows.find(({ h1 }) => h1 !== null)?.h1).toBe("101");
  });

  it("is done by one process of many, and forgets after the retention", async () => {
    let count = 0;
    const platform = telling(async () => {
      count += 1;
      return live({ views: 1 });
    });
    await using ctx = await openWorld(platform);
    const account = await addAccount(ctx);
    for (let at = 0; at < 3; at += 1) await addLive(ctx, account, HOUR + 12 * MINUTE + at);
    await Promise.all(
      Array.from({ length: 8 }, (_, at) => collectResults({ ...ctx, workerId: `wrk_${at}` }, goOn)),
    );
    expect(count).toBe(3);
    await ctx.clock.advance(731 * DAY);
    await pass(ctx);
    expect(await resultsOf(ctx)).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { AppError } from "../../../src/domain/errors.ts";
import { METRICS, ReportArgs } from "../../../src/domain/posts/results.ts";
import { DAY, HOUR, MINUTE } from "../../../src/domain/time.ts";
import { readEach } from "../../../src/reporting/results/figures.ts";
import { getReport } from "../../../src/reporting/results/report.ts";
import { toCsv } from "../../../src/reporting/results/report-csv.ts";
import { callerOf, callOf, createTestContext, type TestContext } from "../../support/context.ts";
import { addAccount } from "../../support/publishing.ts";
import { createRandom } from "../../support/random.ts";
import { addResult, type KnownPost, naiveReport, weekdayHour } from "../../support/results.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../../support/scripted-platform.ts";

const platform = scriptedPlatform({
  publish: async () => ({ state: "prepared" }),
  capabilities: { ...TEXT_CAPABILITIES, analytics: { account: [], post: ["views", "likes"] } },
  insights: async () => ({ state: "live", visibility: null, metrics: {} }),
});
const priced = scriptedPlatform({
  name: "priced",
  title: "Priced",
  publish: async () => ({ state: "prepared" }),
  capabilities: { ...TEXT_CAPABILITIES, analytics: { account: [], post: ["views"] } },
  insights: async () => ({ state: "live", visibility: null, metrics: {} }),
  results: { price: "Each reading costs a cent." },
});

function openWorld(timezone = "UTC"): Promise<TestContext> {
  const settings = { timezone, maxLatenessMs: 0, uploadFolders: [], platformSettings: {} };
  return createTestContext({ platformList: [platform, priced], settings, feed: {} as never });
}

const ask = (ctx: TestContext, given: Partial<ReportArgs> = {}, caller = callerOf()) =>
  getReport(callOf(ctx, caller), ReportArgs.parse(given));

const zone = (timezone: string): string => JSON.stringify({ timezone, slots: [], minGapMinutes: 0 });

/** Posts on channels of three zones, over a change of the clocks, with some of the figures missing. */
async function addRandom(ctx: TestContext, seed: number) {
  const random = createRandom(seed);
  const upTo = (most: number): number => Math.floor(random() * most);
  const zones = ["Europe/Berlin", "Asia/Kathmandu", null];
  const accounts = [];
  for (const one of zones)
    accounts.push(await addAccount(ctx, { schedule: one === null ? null : zone(one) }));
  const posts: KnownPost[] = [];
  for (let nth = 0; nth < 150; nth += 1) {
    const figures = Object.fromEntries(
      METRICS.flatMap((metric) =>
        random() < 0.5 || metric === "reach" ? [] : [[metric, upTo(nth % 3 === 0 ? 3 : 5_000)]],
      ),
    );
    const post = {
      id: `post_${String(nth).padStart(3, "0")}`,
      at: ctx.clock.now() - upTo(60 * DAY),
      media: "tivaso".charAt(upTo(6)),
      labels: ["one", "two", "three"].filter(() => random() < 0.4),
      figures: random() < 0.2 ? null : figures,
    };
    posts.push(await addResult(ctx, accounts[upTo(3)]!, post));
  }
  return { posts, accounts };
}

const TYPES = { t: "text", i: "image", v: "video", a: "audio", s: "several", o: "other" } as const;

describe("a report", () => {
  it.each([1, 2, 3])("adds up and finds the middle as a naive program does (seed %i)", async (seed) => {
    await using ctx = await openWorld("America/New_York");
    const { posts, accounts } = await addRandom(ctx, seed);
    const zones = new Map(
      accounts.map(({ id, schedule }) => [
        id,
        schedule === null ? "America/New_York" : JSON.parse(schedule).timezone,
      ]),
    );
    const keys = {
      post: ({ id }: KnownPost) => [id],
      account: ({ accountId }: KnownPost) => [accountId],
      label: ({ labels }: KnownPost) => labels,
      weekdayHour: ({ at, accountId }: KnownPost) => [weekdayHour(at, zones.get(accountId)!)],
      mediaType: ({ media }: KnownPost) => [TYPES[media as "t"]],
    };
    for (const [by, keysOf] of Object.entries(keys))
      for (const metric of ["likes", "saves", "reach"] as const)
        for (const narrow of [{}, { accountId: [accounts[1]!.id] }, { label: "two" }]) {
          const { rows } = await ask(ctx, {
            by: by as "post",
            metric,
            limit: 500,
            from: "2026-08-01",
            ...narrow,
          });
          const chosen = posts.filter(
            ({ accountId, labels }) =>
              (narrow.accountId?.includes(accountId) ?? true) &&
              (narrow.label === undefined || labels.includes(narrow.label)),
          );
          const wanted = naiveReport(chosen, { keysOf, metric }).filter(
            ({ key }) => by !== "label" || narrow.label === undefined || key === narrow.label,
          );
          expect(rows.map(({ post: _post, ...row }) => row)).toEqual(wanted);
        }
  });

  it("says that figures are stored later, where none are yet", async () => {
    await using ctx = await openWorld();
    const account = await addAccount(ctx);
    const post = { media: "t", labels: [], at: ctx.clock.now() - HOUR, figures: null };
    await addResult(ctx, account, { ...post, id: "post_a" });
    await addResult(ctx, account, { ...post, id: "post_b" });
    const { note } = await ask(ctx, { metric: "likes" });
    expect(note).toBe(
      "None of the 2 posts has stored likes of 24h yet: figures are stored 1h, 24h, 7d, 30d after a post went live. Its insights tell what a post has now.",
    );
  });

  it("shows the best posts with what they are, and chooses what most posts have", async () => {
    await using ctx = await openWorld();
    const account = await addAccount(ctx);
    const at = ctx.clock.now() - 2 * DAY;
    const post = { media: "t", labels: [], at };
    await addResult(
      ctx,
      account,
      { ...post, id: "post_a", figures: { likes: 3, views: 0 } },
      { caption: "First\nline" },
    );
    await addResult(ctx, account, { ...post, id: "post_b", figures: { likes: 9 } });
    await addResult(ctx, account, { ...post, id: "post_c", figures: null });
    const report = await ask(ctx, { limit: 2 });
    expect(report).toMatchObject({
      metric: "likes",
      timezone: "UTC",
      note: "Too few to say what works: 2 of 3 posts have likes, and it takes 20.",
    });
    expect(report.rows).toEqual([
      {
        ...{ key: "post_b", posts: 1, sampled: 1 },
        metrics: { likes: { sum: 9, median: 9, posts: 1 }, views: null },
        post: expect.objectContaining({ accountId: account.id, text: "Hello", mediaUrl: "" }),
      },
      {
        ...{ key: "post_a", posts: 1, sampled: 1 },
        metrics: { likes: { sum: 3, median: 3, posts: 1 }, views: { sum: 0, median: 0, posts: 1 } },
        post: expect.objectContaining({ publishedAt: new Date(at).toISOString(), text: "First line" }),
      },
    ]);
    expect((await ask(ctx, { limit: 3 })).rows.at(-1)).toMatchObject({
      key: "post_c",
      sampled: 0,
      metrics: { likes: null, views: null },
    });
  });

  it("says what forbids conclusions, and of each channel why it has no figure, once", async () => {
    await using ctx = await openWorld();
    const account = await addAccount(ctx);
    const costly = await addAccount(ctx, { provider: "priced" });
    await addAccount(ctx, { status: "disconnected" });
    for (let nth = 0; nth < 25; nth += 1)
      await addResult(ctx, account, {
        ...{ id: `post_${nth}`, media: "t", labels: [], figures: { views: nth } },
        at: ctx.clock.now() - DAY - nth * 7 * HOUR,
      });
    const views = await ask(ctx, { by: "weekdayHour" });
    expect(views.note).toMatch(/^The first row rests on 1 of 25 posts/);
    expect(views.unavailable).toEqual([
      {
        accountId: costly.id,
        metric: "views",
        reason: "Each reading costs a cent. POSTHORN_PRICED_RESULTS=on collects them.",
      },
    ]);
    expect((await ask(ctx, { by: "account" })).note).toBeNull();
    const clicks = await ask(ctx, { metric: "clicks" });
    expect(clicks.unavailable).toContainEqual({
      accountId: account.id,
      metric: "clicks",
      reason: "Scripted does not offer it.",
    });
    expect(clicks.rows[0]).toMatchObject({ sampled: 0, metrics: { clicks: null } });
  });

  it("shows a key no other owner's posts and no channel that it may not reach", async () => {
    await using ctx = await openWorld();
    const mine = await addAccount(ctx);
    const other = await addAccount(ctx);
    const foreign = await addAccount(ctx, { owner_id: "other" });
    for (const [nth, account] of [mine, other, foreign].entries())
      await addResult(ctx, account, {
        ...{ id: `post_${nth}`, media: "t", labels: ["news"], figures: { views: 1 } },
        at: ctx.clock.now() - 2 * DAY,
      });
    const keys = async (given: Partial<ReportArgs>, caller = callerOf()) =>
      (await ask(ctx, given, caller)).rows.map(({ key }) => key);
    expect(await keys({ by: "account" })).toEqual([mine.id, other.id].sort());
    expect(await keys({ by: "account", accountId: [foreign.id] })).toEqual([]);
    const limited = callerOf({ accountIds: [mine.id] });
    for (const by of ["account", "post", "label"] as const)
      expect(await keys({ by }, limited)).toEqual([{ account: mine.id, post: "post_0", label: "news" }[by]]);
    expect((await ask(ctx, { by: "label" }, limited)).rows[0]?.posts).toBe(1);
    expect(await keys({ by: "post", accountId: [other.id] }, limited)).toEqual([]);
  });

  it("refuses bounds that are the wrong way round", async () => {
    await using ctx = await openWorld();
    await expect(ask(ctx, { from: "2026-11-02", to: "2026-11-01" })).rejects.toThrow(AppError);
  });

  it("is a table in which no cell is a formula", async () => {
    await using ctx = await openWorld();
    const account = await addAccount(ctx, { name: '=HYPERLINK("x")' });
    const post = {
      id: "post_a",
      at: ctx.clock.now() - 2 * DAY,
      media: "t",
      labels: [],
      figures: { likes: 0 },
    };
    await addResult(ctx, account, post, { caption: '@sum, "quoted";=1+1' });
    const csv = toCsv(await ask(ctx), new Map([[account.id, account.name]]));
    const [head = "", row = ""] = csv.split("\n");
    expect(head).toContain("likes.median,likes.sum,likes.posts");
    expect(row).toContain(`"'=HYPERLINK(""x"")","'@sum, ""quoted"";'=1+1"`);
    expect(row).toMatch(/,1,1,,,,,,,,,,0,0,1,/);
  });
});

it("reads figures with and without ids, whatever is missing", () => {
  const read: unknown[] = [];
  readEach("10,t,1,,,2,,,,|post_a;11,v,|post_b;12,s,,,,,,,,7", ({ at, media, values, id }) =>
    read.push([at / (15 * MINUTE), media, [...values], id]),
  );
  expect(read).toEqual([
    [10, "t", [1, -1, -1, 2, -1, -1, -1, -1], "post_a"],
    [11, "v", Array.from({ length: 8 }, () => -1), "post_b"],
    [12, "s", [-1, -1, -1, -1, -1, -1, -1, 7], ""],
  ]);
  readEach("", () => expect.unreachable());
});

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../../src/domain/time.ts";
import type { EventKind } from "../../../src/domain/webhooks/webhook.ts";
import type { Caller } from "../../../src/domain/permissions.ts";
import { createOutbound } from "../../../src/media/outbound/outbound.ts";
import { readDueWebhooks } from "../../../src/store/queries/webhooks.ts";
import { remindOfExpiry, describeOfTheDay } from "../../../src/reporting/webhooks/reminders.ts";
import { deliverDue } from "../../../src/reporting/webhooks/webhook-deliveries.ts";
import { createWebhook } from "../../../src/reporting/webhooks/webhooks.ts";
import { type ChatServices, startChatServices } from "../../support/chat-services.ts";
import { FakeClock } from "../../support/clock.ts";
import { callerOf, callOf, createTestContext, type TestContext } from "../../support/context.ts";
import { queryOf } from "../../support/handles.ts";
import { addAccount, addPost } from "../../support/publishing.ts";
import { addResult } from "../../support/results.ts";
import { scriptedPlatform } from "../../support/scripted-platform.ts";
import { startReceiver } from "../../support/webhook-receiver.ts";

let chats: ChatServices;
let outbound: ReturnType<typeof createOutbound>;
let closers: AsyncDisposable[];

beforeEach(async () => {
  chats = await startChatServices();
  outbound = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
  closers = [chats, outbound];
});

afterEach(async () => {
  expect(chats.refused).toEqual([]);
  for (const closer of closers.toReversed()) await closer[Symbol.asyncDispose]();
});

/** A service at that moment, in that zone. */
async function at(start: string, timezone = "UTC"): Promise<TestContext> {
  const ctx = await createTestContext({
    platformList: [
      scriptedPlatform({ publish: async () => ({ state: "live", platformPostId: "1", platformUrl: null }) }),
    ],
    outbound,
    clock: new FakeClock(start),
    settings: { timezone, maxLatenessMs: HOUR, uploadFolders: [], platformSettings: {} },
  });
  closers.push(ctx);
  return ctx;
}

function make(ctx: TestContext, event: EventKind, caller: Partial<Caller> = {}): Promise<unknown> {
  const call = callOf(ctx, callerOf(caller));
  return createWebhook(call, { url: chats.targets.slack, format: "slack", events: [event] });
}

async function told(ctx: TestContext): Promise<string[]> {
  for (const { id } of await readDueWebhooks(ctx.store, ctx.clock.now()))
    await deliverDue(ctx, id, new AbortController().signal);
  return chats.seen.splice(0).map(({ text }) => text);
}

describe("access that ends", () => {
  it("is told a week ahead, once, and again when it has another end", async () => {
    const ctx = await at("2026-11-21T09:00:00Z");
    await make(ctx, "account.expiring");
    const endsAt = ctx.clock.now() + 10 * DAY;
    const account = await addAccount(ctx, { name: "News", access_ends_at: endsAt, secrets_enc: "canary" });
    await addAccount(ctx);
    const remind = async (): Promise<string[]> => {
      await remindOfExpiry(ctx);
      return told(ctx);
    };
    expect(await remind()).toEqual([]);
    await ctx.clock.advance(3 * DAY - 1);
    expect(await remind()).toEqual([]);
    await ctx.clock.advance(1);
    const [text = "", ...others] = await remind();
    expect(others).toEqual([]);
    expect(text).toBe(
      `Access to "News" (Scripted) ends soon\nIts access ends on Tuesday 1 December 2026, 09:00 (UTC). Reconnect it before then.\nReconnect it on the page (or ask your agent to).\n\nhttp://localhost:4747/app/channels?account=${account.id}`,
    );
    for (let hours = 0; hours < 7 * 24; hours += 12) {
      await ctx.clock.advance(12 * HOUR);
      expect(await remind()).toEqual([]);
    }
    const again = ctx.clock.now() + 5 * DAY;
    await queryOf(ctx.store)
      .updateTable("accounts")
      .set({ access_ends_at: again })
      .where("id", "=", account.id)
      .execute();
    expect(await remind()).toHaveLength(1);
    expect(await remind()).toEqual([]);
  });

  it("is told to programs as the account, without its secrets", async () => {
    const ctx = await at("2026-11-21T09:00:00Z");
    await using receiver = await startReceiver();
    await createWebhook(callOf(ctx), { url: receiver.url, events: ["account.expiring"] });
    const account = await addAccount(ctx, { access_ends_at: ctx.clock.now() + DAY, secrets_enc: "canary" });
    await addAccount(ctx, { access_ends_at: ctx.clock.now() - 1 });
    await addAccount(ctx, { access_ends_at: ctx.clock.now() + DAY, status: "reconnect_required" });
    await addAccount(ctx, { access_ends_at: ctx.clock.now() + DAY, owner_id: "other" });
    await Promise.all([remindOfExpiry(ctx), remindOfExpiry({ ...ctx, workerId: "wrk_other" })]);
    await told(ctx);
    expect(receiver.deliveries.map(({ body }) => JSON.parse(body))).toMatchObject([
      { type: "account.expiring", data: { id: account.id, status: "expiring", queuedCount: 0 } },
    ]);
    expect(receiver.deliveries[0]?.body).not.toContain("canary");
  });
});

describe("the day at eight", () => {
  it("tells what goes out today, what failed yesterday and what waits for a person", async () => {
    const ctx = await at("2026-11-22T06:00:00Z", "Europe/Berlin");
    await make(ctx, "digest.daily");
    const account = await addAccount(ctx, { name: "News" });
    await addAccount(ctx, { name: "Lost", status: "reconnect_required" });
    const post = (caption: string, time: string, over = {}): Promise<unknown> =>
      addPost(ctx, account, { caption, scheduled_at: Date.parse(time), ...over });
    const failed = { status: "failed", next_at: null } as const;
    await post("breakfast", "2026-11-22T09:30:00+01:00");
    await post("late", "2026-11-22T23:59:00+01:00");
    await post("tomorrow", "2026-11-23T00:00:00+01:00");
    await post("broken", "2026-11-21T00:00:00+01:00", { ...failed, in_doubt: 1 });
    await post("older", "2026-11-20T23:59:00+01:00", failed);
    await post("foreign", "2026-11-22T09:30:00+01:00", {
      owner_id: "other",
      account_id: (await addAccount(ctx, { owner_id: "other" })).id,
    });
    await ctx.clock.advance(HOUR - 1);
    await describeOfTheDay(ctx);
    expect(await told(ctx)).toEqual([]);
    await ctx.clock.advance(1);
    await describeOfTheDay(ctx);
    expect(await told(ctx)).toEqual([
      [
        "Posthorn on Sunday 22 November",
        "Goes out today: 2",
        '• 09:30 "News" (Scripted): “breakfast”',
        '• 23:59 "News" (Scripted): “late”',
        "Failed yesterday: 1",
        '• 00:00 "News" (Scripted): “broken”',
        "It is not known whether they went out: 1. Look at the channels.",
        'To be reconnected: "Lost" (Scripted)',
        "Times are in Europe/Berlin.",
        "",
        "http://localhost:4747/app/plan",
      ].join("\n"),
    ]);
  });

  it("is told once a day by two hosts, at eight of the wall's clock also when that changes", async () => {
    // The clocks of Berlin go back on 25 October 2026, those of Lord Howe by half an hour on 4 October.
    for (const [start, timezone, eights] of [
      ["2026-10-24T00:00:00+02:00", "Europe/Berlin", ["24T06:00", "25T07:00", "26T07:00"]],
      ["2026-10-03T00:00:00+10:30", "Australia/Lord_Howe", ["02T21:30", "03T21:00", "04T21:00"]],
    ] as const) {
      const ctx = await at(start, timezone);
      const other = { ...ctx, workerId: "wrk_other" };
      await make(ctx, "digest.daily");
      const account = await addAccount(ctx);
      const heard: string[] = [];
      for (let minutes = 0; minutes < 3 * 24 * 60; minutes += 30) {
        await addPost(ctx, account, { scheduled_at: ctx.clock.now() + HOUR / 2 });
        await Promise.all([describeOfTheDay(ctx), describeOfTheDay(other)]);
        for (const _text of await told(ctx)) heard.push(new Date(ctx.clock.now()).toISOString().slice(8, 16));
        await ctx.clock.advance(30 * MINUTE);
      }
      expect(heard).toEqual(eights);
    }
  });

  it("leaves out a day that the calendar leaves out", async () => {
    // Samoa had no 30 December 2011.
    const ctx = await at("2011-12-29T17:00:00Z", "Pacific/Apia");
    await make(ctx, "digest.daily");
    const account = await addAccount(ctx);
    const heard: string[] = [];
    for (let hours = 0; hours < 48; hours += 1) {
      await addPost(ctx, account, { scheduled_at: ctx.clock.now() + MINUTE });
      await describeOfTheDay(ctx);
      for (const text of await told(ctx)) heard.push(text.split("\n")[0] ?? "");
      await ctx.clock.advance(HOUR);
    }
    expect(heard).toEqual(["Posthorn on Thursday 29 December", "Posthorn on Saturday 31 December"]);
  });

  it("is left out where there is nothing to say, and where the morning is over", async () => {
    const ctx = await at("2026-11-22T07:00:00Z");
    await make(ctx, "digest.daily");
    await ctx.clock.advance(HOUR);
    await describeOfTheDay(ctx);
    // What is planned after it is no news of eight o'clock.
    const account = await addAccount(ctx);
    await addPost(ctx, account, { scheduled_at: ctx.clock.now() + HOUR });
    await describeOfTheDay(ctx);
    expect(await told(ctx)).toEqual([]);
    await ctx.clock.advance(28 * HOUR);
    await addPost(ctx, account, { scheduled_at: ctx.clock.now() + HOUR });
    await describeOfTheDay(ctx);
    expect(await told(ctx)).toEqual([]);
  });

  it("is each owner's own, and of a limited key that of its channels", async () => {
    const ctx = await at("2026-11-22T07:00:00Z");
    const [mine, second] = [
      await addAccount(ctx, { name: "Mine" }),
      await addAccount(ctx, { name: "Second" }),
    ];
    const foreign = await addAccount(ctx, { name: "Foreign", owner_id: "other" });
    await addAccount(ctx, { name: "Lost", status: "reconnect_required" });
    for (const account of [mine, second, foreign])
      await addPost(ctx, account, { scheduled_at: ctx.clock.now() + 2 * HOUR, owner_id: account.owner_id });
    await make(ctx, "digest.daily", { accountIds: [mine.id] });
    await make(ctx, "digest.daily", { ownerId: "other" });
    await ctx.clock.advance(HOUR);
    await describeOfTheDay(ctx);
    const [limited = "", other = ""] = await told(ctx);
    expect(limited).toContain("Mine");
    expect(limited).not.toMatch(/Second|Foreign|Lost/);
    expect(other).toContain("Foreign");
    expect(other).not.toMatch(/Mine|Second|Lost/);
  });
});

it("tells at eight what became of posts of the day before yesterday, where something is known", async () => {
  const ctx = await at("2026-11-21T08:00:00Z");
  await make(ctx, "digest.daily");
  const account = await addAccount(ctx, { name: "News" });
  await ctx.clock.advance(DAY);
  const post = { media: "t", labels: [], figures: { likes: 3, views: 120 } };
  await addResult(ctx, account, { ...post, id: "post_old", at: Date.parse("2026-11-19T23:00:00Z") });
  await addResult(ctx, account, { ...post, id: "post_new", at: Date.parse("2026-11-20T09:00:00Z") });
  await addResult(ctx, account, {
    ...post,
    id: "post_unknown",
    at: Date.parse("2026-11-20T10:00:00Z"),
    figures: {},
  });
  await addResult(ctx, account, {
    ...post,
    id: "post_none",
    at: Date.parse("2026-11-20T11:00:00Z"),
    figures: null,
  });
  await describeOfTheDay(ctx);
  const [text = ""] = await told(ctx);
  expect(text).toContain('After 24 hours:\n• "News" (Scripted): “Hello” 120 views, 3 likes\n');
  expect(text).toContain("“Hello” no figures");
  expect(text.match(/“Hello”/g)).toHaveLength(2);
});

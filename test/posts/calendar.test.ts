import { describe, expect, it } from "vitest";
import { MINUTE } from "../../src/domain/time.ts";
import { getStatus } from "../../src/reporting/health/status.ts";
import { changePosts } from "../../src/posts/change-posts.ts";
import { showCalendar } from "../../src/posts/list-posts.ts";
import { callOf, callerOf, createTestContext } from "../support/context.ts";
import { queryOf } from "../support/handles.ts";
import { createMemoryMedia } from "../support/memory-media.ts";
import { addAccount, addPosts } from "../support/post-rows.ts";

async function setUp(timezone = "UTC") {
  const ctx = await createTestContext({
    settings: { timezone, maxLatenessMs: 60 * MINUTE, uploadFolders: [], platformSettings: {} },
    media: createMemoryMedia(new Map()),
  });
  await addAccount(ctx.store, { id: "acc_1" });
  await addAccount(ctx.store, { id: "acc_2" });
  await addAccount(ctx.store, { id: "acc_foreign", ownerId: "other" });
  return ctx;
}

const ids = (calendar: { posts: { id: string }[] }) => calendar.posts.map((post) => post.id);

/** Late posts on channels that are tried again, held back, or free; and a later one. */
async function addLate(ctx: Awaited<ReturnType<typeof setUp>>) {
  const now = ctx.clock.now();
  const minutes = (count: number) => new Date(now + count * MINUTE).toISOString();
  await addAccount(ctx.store, { id: "acc_3" });
  await addPosts(ctx.store, [
    { id: "post_retried", scheduledAt: minutes(-2) },
    { id: "post_limited", accountId: "acc_2", scheduledAt: minutes(-3) },
    { id: "post_paused", accountId: "acc_3", scheduledAt: minutes(-50) },
    { id: "post_missed", scheduledAt: minutes(-61) },
    { id: "post_gone", scheduledAt: minutes(-4), status: "published" },
    { id: "post_later", scheduledAt: minutes(90) },
  ]);
  const query = queryOf(ctx.store);
  const retry = { next_at: now + 2 * MINUTE, error: "Feed asks to slow down." };
  await query.updateTable("posts").set(retry).where("id", "=", "post_retried").execute();
  const limit = { next_allowed_at: now + 70 * MINUTE, wait_cause: "rate_limit" as const };
  await query.updateTable("accounts").set(limit).where("id", "=", "acc_2").execute();
  await query.updateTable("accounts").set({ paused: 1 }).where("id", "=", "acc_3").execute();
  return minutes;
}

describe("posts whose time has passed", () => {
  it("stand in every window in which they go out: now, or when they are tried next", async () => {
    await using ctx = await setUp();
    const minutes = await addLate(ctx);
    const call = callOf(ctx);
    const hour = { from: minutes(0), to: minutes(60) };
    expect(ids(await showCalendar(call, hour))).toEqual(["post_paused", "post_retried"]);
    expect(ids(await showCalendar(call, { from: minutes(1), to: minutes(60) }))).toEqual(["post_retried"]);
    expect(ids(await showCalendar(call, { from: minutes(60), to: minutes(80) }))).toEqual(["post_limited"]);
    expect(ids(await showCalendar(call, { limit: 2 }))).toEqual(["post_paused", "post_limited"]);
    expect(ids(await showCalendar(call, { ...hour, status: ["published"] }))).toEqual([]);
    const { posts } = await showCalendar(call, { ...hour, accountId: ["acc_1"] });
    expect(posts.map(({ error }) => error)).toEqual([
      "Feed asks to slow down. It is tried again on Saturday 21 November 2026, 09:02 (UTC).",
    ]);
  });

  it("are cancelled with those of a window, and are the next that is due", async () => {
    await using ctx = await setUp();
    const minutes = await addLate(ctx);
    const call = callOf(ctx);
    // Nobody knows when the paused one goes out.
    expect((await getStatus(call)).nextDueAt).toBe(minutes(2));
    const hour = { from: minutes(0), to: minutes(60) };
    const { changed } = await changePosts(call, { ...hour, cancel: true });
    expect(changed.map(({ id }) => id)).toEqual(["post_paused", "post_retried"]);
    expect((await getStatus(call)).nextDueAt).toBe(minutes(70));
    await changePosts(call, { from: minutes(60), to: minutes(80), cancel: true });
    expect((await getStatus(call)).nextDueAt).toBe(minutes(90));
  });
});

describe("the calendar", () => {
  it("shows the current month of the configured zone, earliest first, in every state", async () => {
    await using ctx = await setUp("Pacific/Auckland");
    await addPosts(ctx.store, [
      { id: "post_late", scheduledAt: "2026-11-30T10:59:59.999Z" },
      { id: "post_early", scheduledAt: "2026-10-31T11:00:00Z", status: "published" },
      { id: "post_mid", scheduledAt: "2026-11-10T00:00:00Z", status: "cancelled" },
      { id: "post_before", scheduledAt: "2026-10-31T10:59:59.999Z" },
      { id: "post_after", scheduledAt: "2026-11-30T11:00:00Z" },
    ]);
    const calendar = await showCalendar(callOf(ctx), {});
    expect(ids(calendar)).toEqual(["post_early", "post_mid", "post_late"]);
    expect(calendar).toMatchObject({
      from: "2026-10-31T11:00:00.000Z",
      to: "2026-11-30T10:59:59.999Z",
      timezone: "Pacific/Auckland",
    });
  });

  it("makes a month of one bound", async () => {
    await using ctx = await setUp();
    expect(await showCalendar(callOf(ctx), { from: "2027-01-31" })).toMatchObject({
      from: "2027-01-31T00:00:00.000Z",
      to: "2027-02-27T23:59:59.999Z",
    });
    expect(await showCalendar(callOf(ctx), { to: "2027-03-15" })).toMatchObject({
      from: "2027-02-16T00:00:00.000Z",
      to: "2027-03-15T23:59:59.999Z",
    });
  });

  it("keeps to the accounts asked for, to the owner, and to the key's reach", async () => {
    await using ctx = await setUp();
    await addPosts(ctx.store, [
      { id: "post_1", scheduledAt: "2026-11-20T10:00:00Z" },
      { id: "post_2", accountId: "acc_2", scheduledAt: "2026-11-20T10:00:00Z" },
      { id: "post_x", accountId: "acc_foreign", ownerId: "other", scheduledAt: "2026-11-20T10:00:00Z" },
    ]);
    expect(ids(await showCalendar(callOf(ctx), {}))).toEqual(["post_1", "post_2"]);
    expect(ids(await showCalendar(callOf(ctx), { accountId: ["acc_2", "acc_foreign"] }))).toEqual(["post_2"]);
    expect(ids(await showCalendar(callOf(ctx, callerOf({ accountIds: ["acc_1"] })), {}))).toEqual(["post_1"]);
    expect(ids(await showCalendar(callOf(ctx, callerOf({ ownerId: "other" })), {}))).toEqual(["post_x"]);
  });

  it("shows the earliest so many, and what is next without bounds", async () => {
    await using ctx = await setUp();
    const now = ctx.clock.now();
    const at = (days: number) => new Date(now + days * 86_400_000).toISOString();
    await addPosts(ctx.store, [
      { id: "post_past", scheduledAt: at(-1), status: "published" },
      { id: "post_off", scheduledAt: at(1), status: "cancelled" },
      { id: "post_next", scheduledAt: at(40) },
      { id: "post_then", accountId: "acc_2", scheduledAt: at(300) },
      { id: "post_far", scheduledAt: at(400) },
    ]);
    const call = callOf(ctx);
    expect(ids(await showCalendar(call, { status: ["scheduled"], limit: 1 }))).toEqual(["post_next"]);
    expect(ids(await showCalendar(call, { limit: 2 }))).toEqual(["post_off", "post_next"]);
    expect(ids(await showCalendar(call, { limit: 9 }))).toEqual(["post_off", "post_next", "post_then"]);
    expect(ids(await showCalendar(call, { limit: 1, accountId: ["acc_2"] }))).toEqual(["post_then"]);
    const from = at(-2);
    expect(ids(await showCalendar(call, { from, limit: 2 }))).toEqual(["post_past", "post_off"]);
    expect(ids(await showCalendar(call, { from, to: at(41), status: ["scheduled", "published"] }))).toEqual([
      "post_past",
      "post_next",
    ]);
  });

  it("says what to do about too many posts", async () => {
    await using ctx = await setUp();
    const posts = Array.from({ length: 501 }, (_, at) => ({
      id: `post_${at}`,
      scheduledAt: "2026-11-20T10:00:00Z",
    }));
    await addPosts(ctx.store, posts.slice(1));
    expect((await showCalendar(callOf(ctx), {})).posts).toHaveLength(500);
    await addPosts(ctx.store, posts.slice(0, 1));
    await expect(showCalendar(callOf(ctx), {})).rejects.toThrow(
      /more than 500 posts .* Choose a shorter time/,
    );
  });

  it.each([
    [{ from: "2026-12-02", to: "2026-12-01" }, /^from: "2026-12-02" is after to/],
    [{ from: "soon" }, /^from: "soon" is not a date\. Give one such as 2031-01-30\./],
    [{ to: "2026-02-30" }, /^to: "2026-02-30" is not a date: that month has 28 days/],
  ])("refuses %j", async (args, sentence) => {
    await using ctx = await setUp();
    await expect(showCalendar(callOf(ctx), args)).rejects.toThrow(sentence);
  });
});

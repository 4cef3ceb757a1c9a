import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HOUR, MINUTE, SECOND } from "../../src/domain/time.ts";
import { claimDue, LateCauses } from "../../src/publishing/claim.ts";
import { takeOver } from "../../src/store/queries/publishing/release.ts";
import { queryOf } from "../support/handles.ts";
import { drain, readPost, runTick } from "../support/publishing.ts";
import { startService, type Service } from "../support/service.ts";

let service: Service;
let accountId: string;
beforeEach(async () => {
  service = await startService();
  accountId = await service.addFeed();
});
afterEach(() => service[Symbol.asyncDispose]());

const at = (ms: number): string => new Date(service.clock.now() + ms).toISOString();

async function schedule(ms: number, more: object = {}): Promise<string> {
  const args = { accountId, scheduledAt: at(ms), caption: `In ${ms}`, ...more };
  return (await service.call("schedule_post", args)).post.id;
}

const pause = (paused = true, args: object = {}): Promise<any> =>
  service.call("update_account", { accountId, paused, ...args });
const statusesOf = async (ids: readonly string[]): Promise<string[]> =>
  (await Promise.all(ids.map((id) => readPost(service.ctx, id)))).map((row) => row.status);

/** A minute at a time, as the publisher would look. */
async function pass(minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute++) {
    await service.clock.advance(MINUTE);
    await drain(service.ctx);
  }
}

const PAUSED =
  "The channel Feed of default on Feed is paused, so the post waits until the channel is resumed.";
const LIMIT =
  "A post may go out up to 1 hour late. Once the channel is resumed, what is later than that fails.";

describe("a paused channel", () => {
  it("shows it, sends nothing, and its due posts say so once", async () => {
    const elsewhere = await schedule(MINUTE, { accountId: await service.addFeed() });
    const [due, future] = [await schedule(MINUTE), await schedule(HOUR)];
    const { account } = await pause();
    expect(account.schedule).toEqual({ timezone: "UTC", slots: [], minGapMinutes: 0, paused: true });
    const { warnings } = await service.call("schedule_post", {
      accountId,
      scheduledAt: at(2 * HOUR),
      caption: "Later",
    });
    expect(warnings).toEqual([`${PAUSED} ${LIMIT}`]);
    await pass(3);
    expect(await readPost(service.ctx, due)).toMatchObject({
      status: "scheduled",
      error: PAUSED,
      attempts: 0,
    });
    expect((await readPost(service.ctx, due)).updated_at).toBeLessThan(service.clock.now());
    expect(await readPost(service.ctx, future)).toMatchObject({ error: null });
    expect(await statusesOf([elsewhere])).toEqual(["published"]);
    const { accountsPaused, accountsToReconnect } = await service.call("get_status", {});
    expect([accountsPaused, accountsToReconnect]).toEqual([
      [
        {
          id: accountId,
          name: `Feed of default on Feed (${accountId.slice(-6)})`,
          provider: "feed",
          queuedCount: 3,
        },
      ],
      [],
    ]);
  });

  it("keeps its posts however long it lasts, and sends none that is too late, nor all at once", async () => {
    await pause();
    const late = [await schedule(MINUTE), await schedule(20 * MINUTE)];
    const inTime = [await schedule(90 * MINUTE), await schedule(91 * MINUTE), await schedule(92 * MINUTE)];
    await pass(125);
    expect(await statusesOf([...late, ...inTime])).toEqual(Array.from({ length: 5 }, () => "scheduled"));
    const dry = await pause(false, { dryRun: true });
    expect(dry.warnings[0]).toMatch(
      /2 posts fail, being more than 1 hour late: “In 60000”, which was due on .*; “In 1200000”, .*\. Move them first, or send them again afterwards\. change_posts moves posts\.$/,
    );
    expect(await statusesOf(late)).toEqual(["scheduled", "scheduled"]);
    const { account, warnings } = await pause(false);
    expect(account.schedule).toBeNull();
    expect(warnings[0]).toMatch(/2 posts failed, being more than 1 hour late: “In 60000”/);
    expect(warnings[0]).toContain(` Send them again. retry_post does that: ${late.join(", ")}.`);
    expect(await statusesOf(late)).toEqual(["failed", "failed"]);
    await drain(service.ctx);
    expect(await statusesOf([...late, ...inTime])).toEqual([
      ...["failed", "failed"],
      ...["published", "scheduled", "scheduled"],
    ]);
    for (const id of late)
      expect((await readPost(service.ctx, id)).error).toMatch(
        /^It waited because the channel Feed of default on Feed was paused, and was more than 1 hour late when that was resumed.* Send it again\.$/,
      );
    for (const expected of [2, 3]) {
      await service.clock.advance(29 * SECOND);
      await drain(service.ctx);
      expect((await statusesOf(inTime)).filter((one) => one === "published")).toHaveLength(expected - 1);
      await service.clock.advance(SECOND);
      await drain(service.ctx);
      expect((await statusesOf(inTime)).filter((one) => one === "published")).toHaveLength(expected);
    }
  });

  it("is told before and after it begins how many posts wait, and until when they can go out", async () => {
    expect(await pause()).not.toHaveProperty("warnings");
    await pause(false);
    await schedule(30 * MINUTE, { caption: "Fresh bread" });
    await schedule(2 * HOUR);
    const told = [
      "2 posts wait for this channel. A post may go out up to 1 hour late. Once the channel is resumed, what is later than that fails. The first, “Fresh bread”, is due on Saturday 21 November 2026, 09:30 (UTC), and can go out until Saturday 21 November 2026, 10:30 (UTC). Should it be paused for a week, 2 of them fail.",
    ];
    expect((await pause(true, { dryRun: true })).warnings).toEqual(told);
    expect((await pause()).warnings).toEqual(told);
    await service.clock.advance(31 * MINUTE);
    const [late] = (await pause(true, { dryRun: true })).warnings;
    expect(late).toContain("was due on Saturday 21 November 2026, 09:30 (UTC), and can go out until");
    await service.clock.advance(HOUR);
    const [tooLate] = (await pause(true, { dryRun: true })).warnings;
    expect(tooLate).toContain(", and could go out until Saturday 21 November 2026, 10:30 (UTC).");
  });

  it("makes no post late, and none of its posts is the next one", async () => {
    const ids = [await schedule(MINUTE), await schedule(2 * MINUTE)];
    await schedule(2 * HOUR);
    await pause();
    expect((await service.call("get_status", {})).nextDueAt).toBeNull();
    await pass(30);
    const held = await service.call("get_status", {});
    expect([held.nextDueAt, held.counts.overdue]).toEqual([null, 0]);
    const window = { from: at(-MINUTE), to: at(MINUTE), status: ["scheduled"] };
    const { posts, warnings } = await service.call("list_posts", window);
    expect(posts).toEqual([]);
    expect(warnings[0]).toMatch(
      /^2 posts whose time is over still wait, and may go out within from and to: “In 60000” on Feed of default, which was due on Saturday 21 November 2026, 09:01 \(UTC\)\. The channel .* is paused/,
    );
    expect(await service.call("list_posts", { ...window, from: at(-HOUR) })).not.toHaveProperty("warnings");
    await pause(false);
    await drain(service.ctx);
    await service.clock.advance(30 * SECOND);
    await drain(service.ctx);
    expect(await statusesOf(ids)).toEqual(["published", "published"]);
    expect((await service.call("get_status", {})).lateness).toMatchObject({ sampleSize: 0, maxMs: null });
  });

  it("goes on where it stood for what lies ahead", async () => {
    await pause();
    const id = await schedule(MINUTE);
    await pass(2);
    await pause(false);
    expect(await readPost(service.ctx, id)).toMatchObject({ status: "scheduled", error: null });
    await drain(service.ctx);
    expect(await statusesOf([id])).toEqual(["published"]);
  });

  it("holds what its dead worker had in hand, and sends it once when it is resumed", async () => {
    const id = await schedule(MINUTE);
    await service.clock.advance(MINUTE);
    const dead = { ...service.ctx, workerId: "wrk_dead" };
    const now = service.clock.now();
    const times = { started_at: now, heartbeat_at: now };
    await queryOf(service.ctx.store)
      .insertInto("workers")
      .values({ id: dead.workerId, role: "serve", host: "test", pid: 1, version: "0", ...times })
      .execute();
    const { posts } = await claimDue(dead, { limit: 10, lateCauses: new LateCauses() });
    expect(posts.map(({ post }) => post.id)).toEqual([id]);
    await pause();
    await service.ctx.store.write((tx) =>
      takeOver(tx, dead.workerId, { now: service.clock.now(), arrivedAt: -Infinity }),
    );
    await pass(3);
    expect(await readPost(service.ctx, id)).toMatchObject({ status: "publishing", lease_worker: null });
    await pause(false);
    expect(await runTick(service.ctx)).toBe(1);
    expect(await readPost(service.ctx, id)).toMatchObject({ status: "published", attempts: 2 });
    const feed = await service.ask(`GET /feed/${accountId}.json`, {});
    expect(feed.json.items).toHaveLength(1);
  });

  it("does not go live with what was prepared ahead of its time", async () => {
    const id = await schedule(10 * MINUTE, { leadMinutes: 5 });
    await pass(6);
    expect(await statusesOf([id])).toEqual(["uploaded"]);
    await pause();
    await pass(10);
    expect(await statusesOf([id])).toEqual(["uploaded"]);
    await pause(false);
    await drain(service.ctx);
    expect(await statusesOf([id])).toEqual(["published"]);
  });

  it("does not resume for what else is changed of it, nor for a reconnection", async () => {
    await pause();
    const id = await schedule(MINUTE);
    await service.call("update_account", { accountId, name: "News" });
    await service.call("disconnect_channel", { accountId });
    await service.call("connect_channel", { provider: "feed", accountId });
    await pass(2);
    expect(await statusesOf([id])).toEqual(["scheduled"]);
    const { accounts } = await service.call("list_accounts", {});
    expect(accounts.find((one: any) => one.id === accountId)).toMatchObject({
      name: "News",
      status: "connected",
      schedule: { paused: true },
    });
  });
});

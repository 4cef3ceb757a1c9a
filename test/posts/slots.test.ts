import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../src/domain/time.ts";
import { newId } from "../../src/domain/ids.ts";
import { insertPost } from "../../src/store/queries/posts.ts";
import { drain, readPost } from "../support/publishing.ts";
import { startService, type Service } from "../support/service.ts";

let service: Service;
let accountId: string;
/** The clock begins at a full hour. */
let start: number;
beforeEach(async () => {
  service = await startService();
  accountId = await service.addFeed();
  start = service.clock.now();
});
afterEach(() => service[Symbol.asyncDispose]());

const EVERY_DAY = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const at = (ms: number): string => new Date(start + ms).toISOString();
const clockAt = (ms: number): string => at(ms).slice(11, 16);

/** Slots in so many minutes from now, each day. */
async function setSlots(minutes: readonly number[], more: object = {}, args: object = {}): Promise<any> {
  const slots = [{ days: EVERY_DAY, times: minutes.map((one) => clockAt(one * MINUTE)) }];
  return service.call("update_account", {
    accountId,
    schedule: { timezone: "UTC", slots, ...more },
    ...args,
  });
}

async function schedule(args: object = {}): Promise<any> {
  return service.call("schedule_post", { accountId, slot: "next", caption: newId("post"), ...args });
}

const timeOf = async (args: object = {}): Promise<string> => (await schedule(args)).post.scheduledAt;
const freeSlots = async (args: object = {}): Promise<string[]> =>
  (await service.call("show_calendar", { from: at(0), to: at(2 * DAY), ...args })).freeSlots.map(
    (slot: any) => slot.at,
  );

describe("a post for the next free slot", () => {
  it("takes one after the other, and shows nothing of it", async () => {
    await setSlots([60, 120]);
    const { post, warnings } = await schedule();
    expect([post.scheduledAt, warnings]).toEqual([at(HOUR), []]);
    expect(Object.keys(post)).toEqual(
      Object.keys((await schedule({ slot: undefined, scheduledAt: at(DAY) })).post),
    );
    expect([await timeOf(), await timeOf(), await timeOf()]).toEqual([
      at(2 * HOUR),
      at(25 * HOUR),
      at(26 * HOUR),
    ]);
  });

  it("is shown before by a dry run, which takes none", async () => {
    await setSlots([60, 120]);
    for (let i = 0; i < 2; i++)
      expect(await schedule({ dryRun: true })).toMatchObject({
        dryRun: true,
        post: { id: "", scheduledAt: at(HOUR) },
      });
    expect(await timeOf()).toBe(at(HOUR));
  });

  it.each(["cancelled", "moved", "moved with others"])("gives its slot back once it is %s", async (how) => {
    await setSlots([60, 120]);
    const { post } = await schedule();
    if (how === "cancelled") await service.call("cancel_post", { id: post.id });
    else if (how === "moved")
      await service.call("update_post", { id: post.id, scheduledAt: at(90 * MINUTE) });
    else await service.call("change_posts", { ids: [post.id], shiftMinutes: 5 });
    expect(await timeOf()).toBe(at(HOUR));
    expect(await timeOf()).toBe(at(2 * HOUR));
  });

  it("keeps its slot when only its text is changed, and comes back without one", async () => {
    await setSlots([60]);
    const { post } = await schedule();
    await service.call("update_post", { id: post.id, caption: "Another" });
    expect((await readPost(service.ctx, post.id)).slot_at).toBe(start + HOUR);
    await service.call("update_post", { id: post.id, scheduledAt: at(2 * HOUR) });
    const second = await schedule();
    expect(second.post.scheduledAt).toBe(at(HOUR));
    // A person may put two posts at one time.
    await service.call("update_post", { id: post.id, scheduledAt: at(HOUR) });
    expect(await readPost(service.ctx, post.id)).toMatchObject({ scheduled_at: start + HOUR, slot_at: null });
  });

  it("leaves a slot free again that a published post had", async () => {
    await setSlots([60]);
    const { post } = await schedule();
    await service.clock.advance(HOUR);
    await drain(service.ctx);
    expect((await readPost(service.ctx, post.id)).status).toBe("published");
    expect(await timeOf()).toBe(at(25 * HOUR));
  });

  it("keeps the gap to every waiting post, and takes none at whose time one waits", async () => {
    await setSlots([60, 120, 180], { minGapMinutes: 60 });
    await schedule({ slot: undefined, scheduledAt: at(90 * MINUTE) });
    expect(await timeOf()).toBe(at(3 * HOUR));
    await setSlots([240, 300]);
    await schedule({ slot: undefined, scheduledAt: at(4 * HOUR) });
    expect(await timeOf()).toBe(at(5 * HOUR));
  });

  it("lies further ahead than its lead", async () => {
    await setSlots([60, 120]);
    expect(await timeOf({ leadMinutes: 60 })).toBe(at(2 * HOUR));
    expect(await timeOf({ leadMinutes: 59 })).toBe(at(HOUR));
  });

  it("is refused beside a time, without slots, and for what is no slot", async () => {
    await expect(schedule()).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringMatching(
        /^slot: the channel Feed of default on Feed has no slots\. Set slots with update_account/,
      ),
    });
    // What is wrong with the form comes first.
    await expect(schedule({ metadata: { nothing: 1 } })).rejects.toMatchObject({ kind: "invalid" });
    await setSlots([60]);
    await expect(schedule({ scheduledAt: at(HOUR) })).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(/^slot, scheduledAt: give one of the two/),
    });
    await expect(schedule({ slot: "last" })).rejects.toMatchObject({ kind: "invalid" });
    await service.call("update_account", { accountId, schedule: null });
    await expect(schedule()).rejects.toMatchObject({ kind: "conflict" });
  });

  it("is one of many in a batch, each with a slot of its own", async () => {
    await setSlots([60, 120, 180]);
    const other = await service.addFeed();
    const one = (more: object = {}): object => ({ accountId, slot: "next", caption: newId("post"), ...more });
    const posts = [
      one({ dryRun: true }),
      one(),
      one({ slot: undefined, scheduledAt: at(2 * HOUR) }),
      one({ accountId: other }),
      one(),
    ];
    const { results } = await service.call("schedule_posts", { posts });
    expect(results.map((result: any) => result.post?.scheduledAt ?? result.error.slice(0, 30))).toEqual([
      at(HOUR),
      at(HOUR),
      at(2 * HOUR),
      "slot: the channel Feed of defa",
      at(3 * HOUR),
    ]);
    const all = await service.call("schedule_posts", { posts, atomic: true });
    expect(all.results.every((result: any) => result.post === null)).toBe(true);
    expect(await freeSlots({ to: at(30 * HOUR) })).toEqual([at(25 * HOUR), at(26 * HOUR), at(27 * HOUR)]);
  });

  it("is shown for a whole batch before, each beside the others and beside those with a time", async () => {
    await setSlots([60, 120, 180]);
    const one = (more: object = {}): object => ({ accountId, slot: "next", caption: newId("post"), ...more });
    const posts = [one(), one(), one({ slot: undefined, scheduledAt: at(HOUR) }), one({ caption: "" })];
    const times = async (args: object): Promise<any> =>
      (await service.call("schedule_posts", { posts, ...args })).results.map(
        (result: any) => result.post?.scheduledAt ?? result.error,
      );
    const wrong = expect.stringMatching(/^caption: is empty/);
    const expected = [at(2 * HOUR), at(3 * HOUR), at(HOUR), wrong];
    expect(await times({ dryRun: true })).toEqual(expected);
    expect(await times({ dryRun: true, atomic: true })).toEqual(expected);
    expect((await service.call("list_posts", {})).posts).toEqual([]);
    expect(await times({})).toEqual(expected);
  });

  it("is one only for a repeated idempotency key", async () => {
    await setSlots([60, 120]);
    const args = { accountId, slot: "next", caption: "Once", idempotencyKey: "one" };
    const [first, again] = [await schedule(args), await schedule(args)];
    expect(again).toEqual(first);
    expect(await timeOf()).toBe(at(2 * HOUR));
  });

  it("gets a slot nobody else has, whatever comes at once", async () => {
    await setSlots([60, 120, 180, 240, 300]);
    const jobs = Array.from({ length: 60 }, async (_, index) => {
      const { post } = await schedule();
      if (index % 4 === 0) await service.call("cancel_post", { id: post.id });
      return index % 4 === 0 ? [] : [post.scheduledAt];
    });
    const times = (await Promise.all(jobs)).flat();
    expect(new Set(times).size).toBe(45);
  });
});

describe("the database", () => {
  it("refuses two waiting posts in one slot", async () => {
    await setSlots([60]);
    const row = await readPost(service.ctx, (await schedule()).post.id);
    const twin = { ...row, id: newId("post") };
    const insert = (more: object = {}): Promise<void> =>
      service.ctx.store.write((tx) => insertPost(tx, { ...twin, ...more }));
    for (const status of ["scheduled", "publishing", "uploaded"] as const)
      await expect(insert({ status })).rejects.toThrow(/unique/i);
    await insert({ status: "failed" });
    await insert({ id: newId("post"), slot_at: null });
  });
});

describe("the calendar", () => {
  it("shows the slots that are free, from now on, of the channels that are asked for", async () => {
    await setSlots([-60, 60, 120]);
    await schedule();
    expect(await freeSlots({ from: at(-DAY) })).toEqual([
      at(2 * HOUR),
      at(23 * HOUR),
      at(25 * HOUR),
      at(26 * HOUR),
      at(47 * HOUR),
    ]);
    const other = await service.addFeed();
    expect(await freeSlots({ accountId: [other] })).toEqual([]);
    expect(await freeSlots({ from: at(-2 * DAY), to: at(-DAY) })).toEqual([]);
    // Nothing goes out on a paused channel, so none of its times is offered.
    await service.call("update_account", { accountId, paused: true });
    expect(await freeSlots()).toEqual([]);
    await service.call("update_account", { accountId, paused: false });
    const { freeSlots: shown, names } = await service.call("show_calendar", {
      from: at(0),
      to: at(3 * HOUR),
    });
    expect([shown, names]).toEqual([
      [{ accountId, at: at(2 * HOUR) }],
      { [accountId]: `Feed of default on Feed (${accountId.slice(-6)})` },
    ]);
  });

  it("shows at most 500, and a limited key only those of its channels", async () => {
    await setSlots(Array.from({ length: 24 }, (_, hour) => hour * 60));
    expect(await freeSlots({ to: at(100 * DAY) })).toHaveLength(500);
    const other = await service.addFeed();
    const { freeSlots: seen } = await service.call(
      "show_calendar",
      { from: at(0), to: at(DAY) },
      { accountIds: [other] },
    );
    expect(seen).toEqual([]);
  });
});

describe("another schedule", () => {
  const waiting = async (): Promise<string[]> => {
    const { posts } = await service.call("show_calendar", {
      from: at(0),
      to: at(5 * DAY),
      status: ["scheduled"],
    });
    return posts.map((post: any) => post.scheduledAt);
  };

  it("leaves posts where they wait, and moves them in their order when that is asked for", async () => {
    await setSlots([60, 120]);
    const ids = [(await schedule()).post.id, (await schedule()).post.id];
    const fixed = (await schedule({ slot: undefined, scheduledAt: at(210 * MINUTE) })).post.id;
    const plan = [150, 210, 270] as const;
    const kept = await setSlots(plan);
    expect(kept.moved).toEqual([]);
    expect(await waiting()).toEqual([at(HOUR), at(2 * HOUR), at(210 * MINUTE)]);
    const text = expect.stringMatching(/^“.+”$/);
    const expected = [
      { id: ids[0], accountId, scheduledAt: at(150 * MINUTE), was: at(HOUR), status: "scheduled", text },
      { id: ids[1], accountId, scheduledAt: at(270 * MINUTE), was: at(2 * HOUR), status: "scheduled", text },
    ];
    const shown = await setSlots(plan, {}, { move: true, dryRun: true });
    expect([shown.moved, shown.dryRun]).toEqual([expected, true]);
    expect(await waiting()).toEqual([at(HOUR), at(2 * HOUR), at(210 * MINUTE)]);
    expect((await setSlots(plan, {}, { move: true })).moved).toEqual(expected);
    expect((await readPost(service.ctx, fixed)).scheduled_at).toBe(start + 210 * MINUTE);
    // Once more changes nothing, and their slots are held.
    expect((await service.call("update_account", { accountId, move: true })).moved).toEqual([]);
    expect(await timeOf()).toBe(at(DAY + 150 * MINUTE));
  });

  it("moves into slots that others of them held before", async () => {
    await setSlots([60, 120, 180]);
    for (let i = 0; i < 3; i++) await schedule();
    await service.call("cancel_post", { id: (await service.call("list_posts", { limit: 3 })).posts[2].id });
    const { moved } = await service.call("update_account", { accountId, move: true });
    expect(moved.map((post: any) => post.scheduledAt)).toEqual([at(HOUR), at(2 * HOUR)]);
  });

  it("keeps the new gap between those that move", async () => {
    await setSlots([60, 61, 62]);
    for (let i = 0; i < 3; i++) await schedule();
    const { moved } = await setSlots([60, 90, 120, 150, 180], { minGapMinutes: 60 }, { move: true });
    expect(moved.map((post: any) => post.scheduledAt)).toEqual([at(2 * HOUR), at(3 * HOUR)]);
    expect(await waiting()).toEqual([at(HOUR), at(2 * HOUR), at(3 * HOUR)]);
  });

  it("is not taken where the posts find no place in it", async () => {
    await setSlots([60]);
    await schedule();
    await expect(
      service.call("update_account", { accountId, schedule: null, move: true }),
    ).rejects.toMatchObject({
      kind: "conflict",
    });
    expect(await freeSlots()).toEqual([at(25 * HOUR)]);
  });
});

import { describe, expect, it } from "vitest";
import { newId } from "../../src/domain/ids.ts";
import { DAY, HOUR, MINUTE, SECOND, toIso } from "../../src/domain/time.ts";
import { startPublisher, type Publisher } from "../../src/publishing/loop.ts";
import { schedulePost } from "../../src/posts/schedule-post.ts";
import { FakeClock } from "../support/clock.ts";
import { callOf, type TestContext } from "../support/context.ts";
import { addAccount, addPost, drain, readPost } from "../support/publishing.ts";
import { createWorld, early, type Sent } from "./noting-world.ts";
import { queryOf } from "../support/handles.ts";

describe("a clock", () => {
  it("publishes through the nights in which the hour changes, each post at its instant", async () => {
    // An hour that does not exist, and one that comes twice.
    for (const [night, hours] of [
      ["2027-03-28", ["01:30", "02:00", "02:30", "03:00", "03:30"]],
      ["2026-10-25", ["01:30", "02:00", "02:30", "03:00", "03:30"]],
    ] as const) {
      const clock = new FakeClock(new Date(Date.parse(`${night}T00:00:00Z`) - 2 * HOUR).toISOString());
      await using world = await createWorld(clock, "Europe/Berlin");
      const account = await addAccount(world);
      const times: number[] = [];
      for (const hour of hours) {
        const { post } = await schedulePost(callOf(world), {
          accountId: account.id,
          caption: hour,
          scheduledAt: `${night}T${hour}:00`,
        });
        times.push(Date.parse(post.scheduledAt));
      }
      for (let minute = 0; minute < 8 * 60; minute++) {
        await clock.advance(MINUTE);
        await drain(world);
      }
      expect(world.sent.map(({ at }) => at)).toEqual(times.toSorted((a, b) => a - b));
      expect(early(world.sent)).toEqual([]);
    }
  });
});

/** The publisher itself, on a clock that the test sets; looks when it is told to, and once a second. */
async function startOn(world: TestContext): Promise<Publisher> {
  return startPublisher(world, {
    identity: { role: "serve", host: "test", pid: process.pid, version: "0" },
  });
}

const statuses = async (world: TestContext): Promise<string[]> =>
  (await queryOf(world.store).selectFrom("posts").select("status").orderBy("scheduled_at").execute()).map(
    ({ status }) => status,
  );

/** Lets the publisher look, and finish what it found. */
async function look(publisher: Publisher, world: { sent: readonly Sent[] }, sent: number): Promise<void> {
  publisher.wake();
  await expect.poll(() => world.sent.length, { timeout: 5_000, interval: 5 }).toBe(sent);
  // What else it would do, it does in the turns of the event loop after that.
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(world.sent).toHaveLength(sent);
}

describe("a clock that is set", () => {
  it("back by an hour: posts wait a minute, then go on, and no channel waits for the hour that is past", async () => {
    await using world = await createWorld();
    const { clock, log, sent } = world;
    const account = await addAccount(world, { next_allowed_at: clock.now() + 20 * SECOND });
    const publisher = await startOn(world);
    try {
      clock.jumpTo(toIso(clock.now() - HOUR));
      const post = await addPost(world, account);
      await look(publisher, world, 0);
      expect(log.lines).toContainEqual(
        expect.objectContaining({ level: "warn", message: expect.stringContaining("went back") }),
      );
      const waiting = async (): Promise<number> => {
        const row = await queryOf(world.store)
          .selectFrom("accounts")
          .select("next_allowed_at")
          .executeTakeFirstOrThrow();
        return row.next_allowed_at - clock.now();
      };
      await expect.poll(waiting, { timeout: 10_000 }).toBe(20 * SECOND);
      await clock.advance(59 * SECOND);
      await look(publisher, world, 0);
      await clock.advance(SECOND);
      await look(publisher, world, 1);
      await expect.poll(async () => (await readPost(world, post.id)).status).toBe("published");
      expect(early(sent)).toEqual([]);
    } finally {
      await publisher.close();
    }
  });

  it("back by a few seconds: only until it has caught up", async () => {
    await using world = await createWorld();
    const publisher = await startOn(world);
    try {
      world.clock.jumpTo(toIso(world.clock.now() - 5 * SECOND));
      await addPost(world, await addAccount(world));
      await look(publisher, world, 0);
      await world.clock.advance(4_999);
      await look(publisher, world, 0);
      await world.clock.advance(1);
      await look(publisher, world, 1);
    } finally {
      await publisher.close();
    }
  });

  it("back while nothing was running: the next process notices it, too", async () => {
    await using world = await createWorld();
    await (await startOn(world)).close();
    world.clock.jumpTo(toIso(world.clock.now() - HOUR));
    const account = await addAccount(world, { next_allowed_at: world.clock.now() + HOUR + 10 * SECOND });
    await addPost(world, account);
    await using next = { ...world, workerId: newId("wrk") };
    const publisher = await startOn(next);
    try {
      await look(publisher, world, 0);
      await world.clock.advance(MINUTE);
      await look(publisher, world, 1);
    } finally {
      await publisher.close();
    }
  });

  it.each([
    ["an hour ahead, or a machine that slept for it", HOUR - MINUTE],
    ["ahead by ten minutes", 10 * MINUTE],
  ])("%s: what was due in between goes out oldest first, half a minute apart", async (_what, ahead) => {
    await using world = await createWorld();
    const { clock, sent } = world;
    const account = await addAccount(world);
    const due = [1, 2, 3].map((n) => clock.now() + n * MINUTE);
    for (const at of due) await addPost(world, account, { scheduled_at: at });
    const publisher = await startOn(world);
    try {
      clock.jumpTo(toIso(clock.now() + ahead));
      await look(publisher, world, 0);
      await clock.advance(10 * SECOND);
      for (const nth of [1, 2, 3]) {
        await look(publisher, world, nth);
        await clock.advance(29 * SECOND);
        await look(publisher, world, nth);
        await clock.advance(SECOND);
      }
      expect(sent.map(({ scheduledAt }) => scheduledAt)).toEqual(due);
    } finally {
      await publisher.close();
    }
  });

  it("40 days ahead: what was due in between is called missed, and nothing of it goes out", async () => {
    await using world = await createWorld();
    const { clock } = world;
    const account = await addAccount(world);
    for (const days of [1, 39, 41]) await addPost(world, account, { scheduled_at: clock.now() + days * DAY });
    const publisher = await startOn(world);
    try {
      clock.jumpTo(toIso(clock.now() + 40 * DAY));
      await look(publisher, world, 0);
      expect(await statuses(world)).toEqual(["scheduled", "scheduled", "scheduled"]);
      await clock.advance(10 * SECOND);
      publisher.wake();
      await expect.poll(() => statuses(world)).toEqual(["failed", "failed", "scheduled"]);
      expect(world.sent).toEqual([]);
    } finally {
      await publisher.close();
    }
  });

  it("40 days ahead and put right within ten seconds: nothing has happened", async () => {
    await using world = await createWorld();
    const { clock } = world;
    const account = await addAccount(world);
    for (const days of [1, 39]) await addPost(world, account, { scheduled_at: clock.now() + days * DAY });
    const publisher = await startOn(world);
    try {
      const before = clock.now();
      clock.jumpTo(toIso(before + 40 * DAY));
      await look(publisher, world, 0);
      await clock.advance(9 * SECOND);
      await look(publisher, world, 0);
      clock.jumpTo(toIso(before + 9 * SECOND));
      await look(publisher, world, 0);
      await clock.advance(2 * MINUTE);
      await look(publisher, world, 0);
      expect(await statuses(world)).toEqual(["scheduled", "scheduled"]);
    } finally {
      await publisher.close();
    }
  });
});

import { once } from "node:events";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/app/system-clock.ts";
import { newId } from "../../../src/domain/ids.ts";
import { MINUTE } from "../../../src/domain/time.ts";
import { startPublisher } from "../../../src/publishing/loop.ts";
import { openStore } from "../../../src/store/open-store.ts";
import { createTestContext } from "../../support/context.ts";
import { queryOf } from "../../support/handles.ts";
import { createDatabase } from "../../support/postgres.ts";
import { openStoreOn } from "../../support/postgres-store-on.ts";
import { addAccount, addPost, readPost } from "../../support/publishing.ts";
import { scriptedPlatform } from "../../support/scripted-platform.ts";

describe("a host whose clock is wrong", () => {
  it.each([-3 * MINUTE, 3 * MINUTE])("by %d ms sends neither early nor late", async (by) => {
    await using database = await createDatabase();
    const machine = { ...systemClock, now: () => systemClock.now() + by };
    const store = await openStoreOn(database.url, { clock: machine });
    const sentAt: number[] = [];
    await using ctx = await createTestContext({
      store,
      clock: store.liveness.clock!,
      workerId: newId("wrk"),
      platformList: [
        scriptedPlatform({
          publish: async (post) => {
            sentAt.push(Date.now());
            return { state: "live", platformPostId: post.id, platformUrl: null };
          },
        }),
      ],
      media: { forPost: () => ({}) as never, release: async () => {} },
    });
    const dueAt = Date.now() + 1_500;
    const post = await addPost(ctx, await addAccount(ctx), { scheduled_at: dueAt });
    const identity = { role: "serve", host: "test", pid: process.pid, version: "0" } as const;
    const publisher = await startPublisher(ctx, { identity });
    try {
      await expect
        .poll(async () => (await readPost(ctx, post.id)).status, { timeout: 10_000 })
        .toBe("published");
      // Both clocks are this machine's: what lies between them is what was measured wrongly.
      expect(sentAt[0]).toBeGreaterThanOrEqual(dueAt - 20);
      expect(sentAt[0]).toBeLessThan(dueAt + 1_000);
    } finally {
      await publisher.close();
    }
  });
});

/** The proportions of the real ones. */
const TIMES = { beatEveryMs: 150, answerWithinMs: 500, silentMs: 1_000 };
const LEASES = { leaseMs: 800, stopsMs: 500, leaseElsewhereMs: 3_000, requestMs: 1_400 };

it("a post whose worker lost its tie is broken off at once, and asked about once nobody can be sending it", async () => {
  await using database = await createDatabase();
  const sent: string[] = [];
  let brokenOffAt = Infinity;
  let askedAt = Infinity;
  let laterSentAt = Infinity;
  const platform = scriptedPlatform({
    publish: async (post, io) => {
      if (post.caption === "later") {
        laterSentAt = performance.now();
        return { state: "live", platformPostId: post.id, platformUrl: null };
      }
      const id = await io.effect({
        step: "create",
        request: null,
        send: async ({ signal }) => {
          sent.push(post.id);
          await once(signal, "abort");
          brokenOffAt = performance.now();
          throw new Error("The socket was closed.");
        },
        reconcile: async () => {
          askedAt = performance.now();
          return { outcome: "done", result: post.id };
        },
      });
      return { state: "live", platformPostId: id, platformUrl: null };
    },
  });
  const openHost = async () =>
    createTestContext({
      store: await openStore({ url: database.url, clock: systemClock, times: TIMES, leases: LEASES }),
      clock: systemClock,
      workerId: newId("wrk"),
      platformList: [platform],
      media: { forPost: () => ({}) as never, release: async () => {} },
    });
  await using one = await openHost();
  await using other = await openHost();
  const identity = { role: "serve", host: "test", pid: process.pid, version: "0" } as const;
  const account = await addAccount(one);
  const post = await addPost(one, account, { scheduled_at: Date.now() - 10 });
  await addPost(one, account, { scheduled_at: Date.now(), caption: "later" });
  let isLost = false;
  const first = await startPublisher(one, { identity, onLost: () => (isLost = true) });
  await expect.poll(() => sent).toEqual([post.id]);
  const second = await startPublisher(other, { identity });
  const ended = performance.now();
  await sql`SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
    WHERE l.locktype = 'advisory' AND d.datname = current_database()
      AND (l.classid::bigint << 32 | l.objid::bigint) = hashtextextended(${one.workerId}, 0)`.execute(
    queryOf(one.store),
  );
  await expect.poll(() => isLost, { timeout: 1_000, interval: 5 }).toBe(true);
  await first.close();
  try {
    await expect
      .poll(async () => (await readPost(one, post.id)).status, { timeout: 10_000 })
      .toBe("published");
  } finally {
    await second.close();
  }
  expect(sent).toEqual([post.id]);
  expect(brokenOffAt - ended).toBeLessThan(500);
  // The last sign of life came at most so long before the end.
  expect(askedAt - ended).toBeGreaterThan(LEASES.stopsMs + LEASES.requestMs - TIMES.beatEveryMs - 50);
  // Only that post waits for what may be on its way, and no other one of its channel.
  expect(laterSentAt - ended).toBeGreaterThan(LEASES.leaseMs - TIMES.beatEveryMs - 50);
  expect(laterSentAt).toBeLessThan(askedAt);
});

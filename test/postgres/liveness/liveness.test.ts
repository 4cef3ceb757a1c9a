import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { hostname } from "node:os";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/app/system-clock.ts";
import { newId } from "../../../src/domain/ids.ts";
import { MINUTE } from "../../../src/domain/time.ts";
import { TIME_LIMITS } from "../../../src/domain/time-limits.ts";
import { PROCESS_PLACE } from "../../../src/store/engine/process-place.ts";
import { proveDeath, type Leases } from "../../../src/store/postgres/liveness.ts";
import { queryOf } from "../../support/handles.ts";
import { insertWorker } from "../../../src/store/queries/workers.ts";
import { createDatabase } from "../../support/postgres.ts";
import { openWorker, type Worker } from "../../support/postgres-workers.ts";
import { startSilentProxy } from "../../support/silent-proxy.ts";

const HOLDER = fileURLToPath(new URL("holder.ts", import.meta.url));

/** The proportions of the real ones. */
const QUICK = { beatEveryMs: 150, answerWithinMs: 500, silentMs: 1_000 };
/** Node's timers may, by a millisecond or two. */
const EARLY_CLOCK = {
  ...systemClock,
  after: (ms: number, work: () => void) => systemClock.after(ms - 3, work),
};
const NO_LEASE: Leases = { leaseMs: 0, stopsMs: 0, leaseElsewhereMs: 0, requestMs: 0 };

let database: Awaited<ReturnType<typeof createDatabase>>;
let onlooker: Worker;
const children: ChildProcess[] = [];

beforeEach(async () => {
  database = await createDatabase();
  onlooker = await openWorker(database.url);
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await onlooker[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function list(worker: Worker, id: string): Promise<void> {
  const now = worker.liveness.clock.now();
  const row = { id, role: "serve", host: "here", pid: 1, version: "0" } as const;
  await worker.write((tx) => insertWorker(tx, { ...row, started_at: now, heartbeat_at: now }));
}

/** Another process that holds the worker, from when it does. */
async function startHolder(id: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ["--import", "tsx", HOLDER, database.url, id], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  children.push(child);
  await once(child.stdout, "data");
  return child;
}

const deathOf = (id: string, leases?: Leases) => onlooker.write((tx) => proveDeath(tx, id, leases));
const isDead = async (id: string, leases?: Leases): Promise<boolean> => (await deathOf(id, leases)) !== null;
/** How long ago its last heartbeat came. */
const silence = async (ms: number): Promise<void> => {
  const heartbeatAt = onlooker.liveness.clock.now() - ms;
  await onlooker.query.updateTable("workers").set({ heartbeat_at: heartbeatAt }).execute();
};

const isLocked = async (): Promise<boolean> => {
  const { rows } = await sql<{ n: number }>`SELECT count(*)::int AS n FROM pg_locks l
    JOIN pg_database d ON d.oid = l.database WHERE l.locktype = 'advisory' AND d.datname = current_database()`.execute(
    onlooker.query,
  );
  return rows[0]?.n !== 0;
};

describe("a worker on PostgreSQL", () => {
  it("lives until its process ends in whatever way, and its lease for longer", async () => {
    const holder = await startHolder("wrk_other");
    expect(await isDead("wrk_other", NO_LEASE)).toBe(false);
    holder.kill("SIGSTOP");
    expect(await isDead("wrk_other", NO_LEASE)).toBe(false);
    holder.kill("SIGKILL");
    await once(holder, "close");
    await expect.poll(() => isDead("wrk_other", NO_LEASE), { timeout: 2_000, interval: 5 }).toBe(true);
    expect(await isDead("wrk_other")).toBe(false);
    expect(await onlooker.liveness.listDead("wrk_me")).toEqual([]);
    await onlooker.query
      .updateTable("workers")
      .set({ heartbeat_at: onlooker.liveness.clock.now() - MINUTE - 100 })
      .execute();
    expect(await onlooker.liveness.listDead("wrk_me")).toEqual(["wrk_other"]);
    expect(await onlooker.liveness.listDead("wrk_other")).toEqual([]);
    expect(await isDead("wrk_other")).toBe(true);
  });

  it("is taken over by one at a time", async () => {
    await list(onlooker, "wrk_gone");
    let goOn = (): void => {};
    const first = onlooker.write(async (tx) => {
      const isMine = await proveDeath(tx, "wrk_gone", NO_LEASE);
      await new Promise<void>((resolve) => (goOn = resolve));
      await queryOf(tx).deleteFrom("workers").execute();
      return isMine !== null;
    });
    await expect.poll(isLocked).toBe(true);
    expect(await isDead("wrk_gone", NO_LEASE)).toBe(false);
    goOn();
    expect(await first).toBe(true);
    expect(await isDead("wrk_gone", NO_LEASE)).toBe(false);
  });

  it("that nobody knows is not dead", async () => {
    expect(await isDead("wrk_never", NO_LEASE)).toBe(false);
  });

  it("gives signs of life while it is held", async () => {
    await using worker = await openWorker(database.url, { times: QUICK });
    const hold = await worker.liveness.hold("wrk_one", () => {});
    await list(worker, "wrk_one");
    await onlooker.query.updateTable("workers").set({ heartbeat_at: 0 }).execute();
    const beat = async (): Promise<number> =>
      (await onlooker.query.selectFrom("workers").select("heartbeat_at").executeTakeFirstOrThrow())
        .heartbeat_at;
    await expect.poll(beat).toBeGreaterThan(Date.now() - 2_000);
    await hold.release();
    expect(await isDead("wrk_one", NO_LEASE)).toBe(true);
    // The last one that is released takes the connection with it; another one opens it again.
    await worker.liveness.hold("wrk_two", () => {});
    expect(await isLocked()).toBe(true);
  });

  it.each([
    ["", systemClock],
    [" where timers fire early", EARLY_CLOCK],
  ])(
    "learns that it may be taken for dead well before the server gives up a silent connection%s",
    async (_where, clock) => {
      const target = Number(new URL(database.url).port);
      await using proxy = await startSilentProxy(target);
      const directUrl = database.url.replace(`:${target}/`, `:${proxy.port}/`);
      await using worker = await openWorker(database.url, { directUrl, times: QUICK, clock });
      const stop = new AbortController();
      let lostAt = Infinity;
      await worker.liveness.hold("wrk_cut", (reason) => {
        lostAt = performance.now();
        stop.abort(reason);
      });
      await list(worker, "wrk_cut");
      const cutAt = performance.now();
      proxy.silence();
      await expect.poll(isLocked, { timeout: 5_000, interval: 10 }).toBe(false);
      const freeAt = performance.now();
      expect(stop.signal.reason).toMatchObject({ message: expect.stringContaining("has not answered") });
      expect(lostAt - cutAt).toBeLessThan(QUICK.answerWithinMs + 150);
      expect(freeAt - lostAt).toBeGreaterThan((QUICK.silentMs - QUICK.answerWithinMs) / 2);
      expect(freeAt - cutAt).toBeLessThan(QUICK.silentMs + 1_000);
      // The lease goes on.
      expect(await isDead("wrk_cut")).toBe(false);
      // The network is there again: another id, another connection.
      proxy.speak();
      await worker.liveness.hold("wrk_cut2", () => {});
      expect(await isLocked()).toBe(true);
    },
  );

  it("learns at once that its connection was ended, and can be held again", async () => {
    await using worker = await openWorker(database.url);
    const lost: Error[] = [];
    await worker.liveness.hold("wrk_one", (reason) => lost.push(reason));
    await worker.liveness.hold("wrk_two", (reason) => lost.push(reason));
    await sql`SELECT pg_terminate_backend(l.pid) FROM pg_locks l
      JOIN pg_database d ON d.oid = l.database WHERE l.locktype = 'advisory' AND d.datname = current_database()`.execute(
      onlooker.query,
    );
    await expect.poll(() => lost.length, { timeout: 1_000, interval: 5 }).toBe(2);
    worker.liveness.check();
    expect(lost).toHaveLength(2);
    await worker.liveness.hold("wrk_one", () => {});
    await worker.liveness.hold("wrk_three", () => {});
  });

  it("cannot be held twice", async () => {
    await using worker = await openWorker(database.url);
    await onlooker.liveness.hold("wrk_one", () => {});
    await expect(worker.liveness.hold("wrk_one", () => {})).rejects.toThrow(/keeps the last connection/);
  });

  it("knows before it sends that it stood still", async () => {
    await using worker = await openWorker(database.url, { times: QUICK });
    let isLost = false;
    await worker.liveness.hold("wrk_one", () => (isLost = true));
    worker.liveness.check();
    expect(isLost).toBe(false);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, QUICK.answerWithinMs + 10);
    expect(isLost).toBe(false);
    worker.liveness.check();
    expect(isLost).toBe(true);
  });

  it("knows so where its machine slept, too, which stops the clock that never jumps", async () => {
    let sleptMs = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + sleptMs };
    await using worker = await openWorker(database.url, { clock });
    let isLost = false;
    await worker.liveness.hold("wrk_one", () => (isLost = true));
    worker.liveness.check();
    expect(isLost).toBe(false);
    sleptMs = MINUTE;
    worker.liveness.check();
    expect(isLost).toBe(true);
  });

  it("is known to be gone soon on the server that had its lock, and late on any other", async () => {
    await list(onlooker, "wrk_gone");
    await silence(TIME_LIMITS.takeOver - 1_000);
    expect(await isDead("wrk_gone")).toBe(false);
    await silence(TIME_LIMITS.takeOver + 100);
    expect(await isDead("wrk_gone")).toBe(true);
    expect(await onlooker.liveness.listDead("wrk_me")).toEqual(["wrk_gone"]);
    // A standby that took over, or the same server after a restart, began at another moment.
    await sql`UPDATE workers SET server = server - interval '1 microsecond'`.execute(onlooker.query);
    expect(await isDead("wrk_gone")).toBe(false);
    await silence(TIME_LIMITS.takeOverElsewhere - 1_000);
    expect(await isDead("wrk_gone")).toBe(false);
    await silence(TIME_LIMITS.takeOverElsewhere + 100);
    expect(await isDead("wrk_gone")).toBe(true);
  });

  it("says with each heartbeat which start of the server has its lock", async () => {
    await using worker = await openWorker(database.url, { times: QUICK });
    await worker.liveness.hold("wrk_one", () => {});
    await list(worker, "wrk_one");
    await sql`UPDATE workers SET server = NULL`.execute(onlooker.query);
    const isSame = async (): Promise<boolean> => {
      const { rows } = await sql<{ same: boolean }>`
        SELECT server IS NOT DISTINCT FROM pg_postmaster_start_time() AS same FROM workers`.execute(
        onlooker.query,
      );
      return rows[0]!.same;
    };
    await expect.poll(isSame).toBe(true);
  });

  it.runIf(process.platform === "linux")(
    "is gone at once where its process is, and only where the id means that process",
    async () => {
      const ended = spawn(process.execPath, ["--version"], { stdio: "ignore" });
      await once(ended, "close");
      const rows = [
        { id: "wrk_ended", host: PROCESS_PLACE, pid: ended.pid! },
        { id: "wrk_alive", host: PROCESS_PLACE, pid: process.pid },
        { id: "wrk_elsewhere", host: `${PROCESS_PLACE}0`, pid: ended.pid! },
        { id: "wrk_named", host: hostname(), pid: ended.pid! },
      ];
      const now = onlooker.liveness.clock.now();
      const times = { started_at: now, heartbeat_at: now };
      for (const row of rows)
        await onlooker.write((tx) => insertWorker(tx, { ...row, role: "serve", version: "0", ...times }));
      expect(await onlooker.liveness.listDead("wrk_me")).toEqual(["wrk_ended"]);
      const dead = [];
      for (const { id } of rows) if (await isDead(id)) dead.push(id);
      expect(dead).toEqual(["wrk_ended"]);
    },
  );

  it("may have sent something that is still on its way", async () => {
    await list(onlooker, "wrk_gone");
    await silence(20_000);
    const heartbeatAt = onlooker.liveness.clock.now() - 20_000;
    const { arrivedAt } = (await deathOf("wrk_gone"))!;
    const late = TIME_LIMITS.stopsByItself + TIME_LIMITS.arrives;
    expect(Math.abs(arrivedAt - heartbeatAt - late)).toBeLessThan(1_000);
  });
});

describe("the clock of the service", () => {
  it.each([-3 * MINUTE, 0, 3 * MINUTE])(
    "is the database's where the machine's is %d ms wrong",
    async (by) => {
      const clock = { ...systemClock, now: () => systemClock.now() + by };
      await using worker = await openWorker(database.url, { clock, times: QUICK });
      await worker.liveness.hold("wrk_one", () => {});
      for (let n = 0; n < 20; n++) {
        const before = worker.liveness.clock.now();
        const { rows } = await sql<{
          now: number;
        }>`SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`.execute(onlooker.query);
        const after = worker.liveness.clock.now();
        const now = rows[0]!.now;
        expect(before).toBeLessThanOrEqual(now + 25);
        // Late by the way of an answer, and never early.
        expect(after).toBeGreaterThanOrEqual(now - 500);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  );
});

describe("a word to other processes", () => {
  it("is one word where another role sends thousands of them", async () => {
    await using worker = await openWorker(database.url);
    await worker.liveness.hold("wrk_one", () => {});
    let heard = 0;
    worker.wake.listen(() => (heard += 1));
    const startedAt = performance.now();
    await sql`SELECT count(pg_notify('posthorn', n::text)) FROM generate_series(1, 20000) n`.execute(
      onlooker.query,
    );
    await expect.poll(() => heard).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(heard).toBeLessThan((performance.now() - startedAt) / 50 + 2);
  });

  it("arrives, many of them as few", async () => {
    const holder = await startHolder(newId("wrk"));
    await using worker = await openWorker(database.url);
    await worker.liveness.hold("wrk_one", () => {});
    const heard: number[] = [];
    const stop = worker.wake.listen(() => heard.push(performance.now()));
    const told = performance.now();
    holder.stdin?.write("tell\n");
    await expect.poll(() => heard.length, { timeout: 2_000, interval: 2 }).toBe(1);
    expect(heard[0]! - told).toBeLessThan(500);
    for (let n = 0; n < 100; n++) onlooker.wake.tell();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(heard.length).toBe(3);
    stop();
    onlooker.wake.tell();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(heard.length).toBe(3);
  });
});

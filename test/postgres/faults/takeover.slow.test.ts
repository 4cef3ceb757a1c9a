import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startClassServers } from "../../faults/class-servers.ts";
import { buildWorker, type RunningWorker } from "../../faults/fault-runner.ts";
import { randomFor, report, times, TIMEOUT_MS } from "../../faults/report.ts";
import { queryOf } from "../../support/handles.ts";
import { startPostgres, type PostgresServer } from "../../support/postgres-server.ts";
import { installWorkspace } from "../../support/workspace.ts";
import { gatherFleet } from "./fleet.ts";

/* Two hosts with the time limits of earnest, of which one after the other is killed. */

const KILLS = times({ short: 4, long: 20 });
const EVERY_MS = 13_000;
/** Of those whose outcome the platform tells. */
const PROVIDERS = ["class_a", "class_b", "class_c", "class_d", "class_e"];
const LATE_MS = 45_000;

let worker: string;
let server: PostgresServer;
beforeAll(async () => {
  worker = await buildWorker("worker", import.meta.dirname);
  await installWorkspace("postgres");
  server = await startPostgres({ isDurable: true });
});
afterAll(() => server[Symbol.asyncDispose]());

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? 0;

it(
  "hosts that are killed in turn make no post later than their take-over, and none is spaced",
  async () => {
    const minutes = Math.ceil((KILLS * EVERY_MS) / 60_000);
    await using servers = await startClassServers({ delayMs: 30 });
    const posts = { providers: PROVIDERS, accounts: 2, posts: 40 * minutes, withinMs: minutes * 60_000 };
    const at = { address: server.address, servers, worker };
    await using fleet = await gatherFleet(at, posts, randomFor("takeover"));
    // Hosts of their own: their process ids mean nothing to one another.
    let hosts = 0;
    const start = (): RunningWorker => {
      hosts += 1;
      return fleet.run({ hasRealTimes: true, host: `host ${hosts}`, giveUpMs: 2 * TIMEOUT_MS });
    };
    const running = [start(), start()];
    await Promise.all(running.map(({ ready }) => ready));
    for (let kill = 0; kill < KILLS; kill++) {
      await pause(EVERY_MS);
      running.shift()?.child.kill("SIGKILL");
      running.push(start());
    }
    for (const { exit } of running) {
      const end = await exit;
      expect(end, end.stderr).toMatchObject({ code: 0 });
    }
    expect(await fleet.wrong()).toEqual([]);
    const query = queryOf(fleet.ctx.store);
    const rows = await query.selectFrom("posts").select(["status", "published_at", "scheduled_at"]).execute();
    expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(["published"]));
    const late = rows.map((row) => (row.published_at ?? Infinity) - row.scheduled_at);
    const causes = await query.selectFrom("attempts").select("late_cause").distinct().execute();
    expect(causes.map(({ late_cause: cause }) => cause)).not.toContain("spacing");
    const [p50, p99, most] = [0.5, 0.99, 1].map((share) => percentile(late, share));
    console.log(`late: p50 ${p50} ms, p99 ${p99} ms, at most ${most} ms`);
    expect(p99).toBeLessThanOrEqual(LATE_MS);
    report({
      fault: "F1",
      how: "PostgreSQL: two hosts on several channels, one of which is killed every 13 s, and followed by another one",
      runs: `${KILLS} kills, ${rows.length} posts`,
      seen: `0 twice, 0 lost, none spaced out; late p50 ${p50} ms, p99 ${p99} ms, at most ${most} ms`,
      isSeeded: true,
    });
  },
  2 * TIMEOUT_MS,
);

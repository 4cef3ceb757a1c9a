import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startClassServers } from "../../faults/class-servers.ts";
import { buildWorker } from "../../faults/fault-runner.ts";
import { randomFor, report, SEED, times, TIMEOUT_MS } from "../../faults/report.ts";
import { startPostgres, type PostgresServer } from "../../support/postgres-server.ts";
import { CLASSES, gatherFleet } from "./fleet.ts";

const WRITES = ["claim", "intent", "handle", "asked", "result", "end", "takeover"];
const REQUESTS = ["change:sending", "change:answered", "read:sending", "read:answered"];
const POINTS = [
  ...WRITES.flatMap((name) => ["written", "committing", "durable"].map((when) => `${name}:${when}`)),
  ...REQUESTS,
];

const ROUNDS = times({ short: 1, long: 10 });

let worker: string;
let server: PostgresServer;
beforeAll(async () => {
  worker = await buildWorker("worker", import.meta.dirname);
  server = await startPostgres({ isDurable: true, flags: ["-c", "max_connections=400"] });
});
afterAll(() => server[Symbol.asyncDispose]());

interface Tally {
  kills: number;
  unknown: number;
}

/**
 * Two to four workers beside each other. All but one are killed at the n-th hit of a point, and of those who
 * follow every second one at its first; the others take over from them.
 */
async function killWorkers(point: string, random: () => number): Promise<Tally> {
  await using servers = await startClassServers({ delayMs: 30 });
  const posts = { providers: CLASSES, accounts: 2, posts: 2, withinMs: 1_200 };
  await using fleet = await gatherFleet({ address: server.address, servers, worker }, posts, random);
  const count = 2 + Math.floor(random() * 3);
  let kills = 0;
  const live = async (place: number, task: { point?: string; hit?: number }): Promise<void> => {
    const exit = await fleet.run(task).exit;
    if (exit.signal !== "SIGKILL") return expect(exit, exit.stderr).toMatchObject({ code: 0 });
    kills += 1;
    const isKilledAgain = task.hit !== undefined && place % 2 === 0;
    await live(place, isKilledAgain ? { point } : {});
  };
  await Promise.all(
    Array.from({ length: count }, (_, place) => {
      if (place === count - 1) return live(place, {});
      // A take-over needs somebody to take over from.
      const isFirstDead = place === 0 && point.startsWith("takeover");
      const hit = 1 + Math.floor(random() * (isFirstDead ? 1 : 3));
      return live(place, isFirstDead ? { point: "intent:durable", hit } : { point, hit });
    }),
  );
  expect({ SEED, point, wrong: await fleet.wrong() }).toEqual({ SEED, point, wrong: [] });
  return { kills, unknown: (await fleet.readOutcome()).filter(({ inDoubt }) => inDoubt).length };
}

describe.concurrent("SIGKILL of hosts on one PostgreSQL", { timeout: TIMEOUT_MS }, () => {
  it.each(POINTS)("at %s: each post of every class once", async (point) => {
    const random = randomFor(point);
    const tally: Tally = { kills: 0, unknown: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const { kills, unknown } = await killWorkers(point, random);
      tally.kills += kills;
      tally.unknown += unknown;
    }
    report({
      fault: "F1",
      how: `PostgreSQL: SIGKILL at ${point} of 1 to 3 of 2 to 4 workers, half of those who follow killed there, too; classes A to F`,
      runs: `${tally.kills} kills`,
      seen: `0 twice, 0 lost, 0 wrong; ${tally.unknown} unknown (blind platforms: said, never sent again)`,
      isSeeded: true,
    });
    console.log(point, JSON.stringify(tally), `seed ${SEED}`);
  });
});

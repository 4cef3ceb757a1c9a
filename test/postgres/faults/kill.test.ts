import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startClassServers } from "../../faults/class-servers.ts";
import { buildWorker } from "../../faults/fault-runner.ts";
import { randomFor, report, SEED, times, TIMEOUT_MS } from "../../faults/report.ts";
import { startPostgres, type PostgresServer } from "../../support/postgres-server.ts";
import { CLASSES, gatherFleet } from "./fleet.ts";
import { AFTER_A_DEATH, POINTS } from "./worker-task.ts";

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
 * Two to four workers beside each other. All but one are killed, each at a point of its own, and so is every
 * second one of those who follow; whoever is left takes over from them.
 */
async function killWorkers(points: readonly string[], random: () => number): Promise<Tally> {
  await using servers = await startClassServers({ delayMs: 30 });
  const posts = { providers: CLASSES, accounts: 2, posts: 2, withinMs: 1_200 };
  await using fleet = await gatherFleet({ address: server.address, servers, worker }, posts, random);
  let kills = 0;
  const live = async (task: { point?: string; hit?: number }, next: string[]): Promise<void> => {
    const exit = await fleet.run(task).exit;
    if (exit.signal !== "SIGKILL") return expect(exit, exit.stderr).toMatchObject({ code: 0 });
    kills += 1;
    const [point, ...rest] = next;
    await live(point === undefined ? {} : { point }, rest);
  };
  const victims = points.map((point, place) => {
    if (AFTER_A_DEATH.test(point)) return live({ point: "change:answered" }, [point]);
    const hit = 1 + Math.floor(random() * 2);
    return live({ point, hit }, place % 2 === 0 ? [point] : []);
  });
  await Promise.all([...victims, live({}, [])]);
  expect({ SEED, points, wrong: await fleet.wrong() }).toEqual({ SEED, points, wrong: [] });
  return { kills, unknown: (await fleet.readOutcome()).filter(({ inDoubt }) => inDoubt).length };
}

/** In an order of this seed, by one to three: so many workers are killed beside each other. */
function groupPoints(random: () => number): string[][] {
  const order = POINTS.map((point) => ({ point, at: random() })).sort((a, b) => a.at - b.at);
  const groups: string[][] = [];
  while (order.length > 0)
    groups.push(order.splice(0, 2 + Math.floor(random() * 2)).map(({ point }) => point));
  return groups;
}

describe.concurrent("SIGKILL of hosts on one PostgreSQL", { timeout: TIMEOUT_MS }, () => {
  const random = randomFor("groups");
  const rounds = Array.from({ length: ROUNDS }, () => groupPoints(random)).flat();
  const total: Tally = { kills: 0, unknown: 0 };
  afterAll(() => {
    console.log(`${total.kills} kills, ${total.unknown} unknown, seed ${SEED}`);
    expect(total.kills).toBeGreaterThan(10 * ROUNDS);
    report({
      fault: "F1",
      how: `PostgreSQL: SIGKILL at each of ${POINTS.length} points of 1 to 3 of 2 to 4 workers, and of half of those who follow; classes A to F`,
      runs: `${total.kills} kills`,
      seen: `0 twice, 0 lost, 0 wrong; ${total.unknown} unknown (blind platforms: said, never sent again)`,
      isSeeded: true,
    });
  });
  it.each(rounds.map((points, n) => [n, points.join(", "), points] as const))(
    "%i, at %s: each post of every class once",
    async (n, _name, points) => {
      const { kills, unknown } = await killWorkers(points, randomFor(`kill ${n}`));
      total.kills += kills;
      total.unknown += unknown;
    },
  );
});

import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startClassServers } from "../../faults/class-servers.ts";
import { buildWorker } from "../../faults/fault-runner.ts";
import { randomFor, report, SEED, times, TIMEOUT_MS } from "../../faults/report.ts";
import { administer, startPostgres, type PostgresServer } from "../../support/postgres-server.ts";
import { CLASSES, gatherFleet, type Fleet } from "./fleet.ts";

const ROUNDS = times({ short: 1, long: 20 });
const POSTS = { providers: CLASSES, accounts: 4, posts: 3, withinMs: 3_000 };

let worker: string;
let server: PostgresServer;
beforeAll(async () => {
  worker = await buildWorker("worker", import.meta.dirname);
  server = await startPostgres({ isDurable: true, flags: ["-c", "max_connections=60"] });
});
afterAll(() => server[Symbol.asyncDispose]());

/** Two hosts go on with what a killed one has left while it happens. Returns how often it happened. */
async function publishThrough(
  name: string,
  happen: (fleet: Fleet, random: () => number) => Promise<number>,
): Promise<number> {
  const random = randomFor(name);
  let times = 0;
  for (let round = 0; round < ROUNDS; round++) {
    await using servers = await startClassServers({ delayMs: 60 });
    await using fleet = await gatherFleet({ address: server.address, servers, worker }, POSTS, random);
    const victim = fleet.run({ what: "SIGKILL" });
    expect(await victim.exit).toMatchObject({ signal: "SIGKILL" });
    const workers = [fleet.run(), fleet.run()];
    await Promise.all(workers.map(({ ready }) => ready));
    times += await happen(fleet, random);
    for (const { exit } of workers) {
      const { code, stderr } = await exit;
      expect(code, stderr).toBe(0);
    }
    expect({ SEED, name, wrong: await fleet.wrong() }).toEqual({ SEED, name, wrong: [] });
  }
  return times;
}

function tell(how: string, runs: string): void {
  report({ fault: "F15", how: `PostgreSQL: ${how}`, runs, seen: "0 twice, 0 lost, 0 wrong", isSeeded: true });
}

describe("two hosts publish while", { timeout: TIMEOUT_MS }, () => {
  it("the server ends their connections, one after the other and all at once", async () => {
    const ended = await publishThrough("terminate", async (fleet, random) => {
      const own = `application_name = 'posthorn' AND datname = '${new URL(fleet.url).pathname.slice(1)}'`;
      for (let n = 0; n < 12; n++) {
        await delay(random() * 400);
        const which = n % 4 === 3 ? "" : "ORDER BY random() LIMIT 2";
        await administer(
          server.address,
          `SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE ${own} ${which}) t`,
        );
      }
      return 12;
    });
    tell("pg_terminate_backend on some or all connections of two workers that publish", `${ended} times`);
  });

  it("the server restarts in order, and after a crash", async () => {
    const restarts = await publishThrough("restart", async (_fleet, random) => {
      for (const how of ["stop", "crash"] as const) {
        await delay(300 + random() * 900);
        await server[how]();
        await delay(random() * 1_000);
        await server.start();
      }
      return 2;
    });
    tell("the server stops, or crashes, and starts again while two workers publish", `${restarts} restarts`);
  });
});

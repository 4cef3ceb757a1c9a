import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MINUTE } from "../../../src/domain/time.ts";
import { startClassServers } from "../../faults/class-servers.ts";
import { buildWorker, type RunningWorker } from "../../faults/fault-runner.ts";
import { randomFor, report, SEED, times, TIMEOUT_MS } from "../../faults/report.ts";
import { startCuttingProxy, type Cut } from "../../support/cutting-proxy.ts";
import { administer, startPostgres, urlOf, type PostgresServer } from "../../support/postgres-server.ts";
import { CLASSES, gatherFleet, type Fleet, type FleetPosts } from "./fleet.ts";
import { LIMITS, type WorkerTask } from "./worker-task.ts";

const ROUNDS = times({ short: 1, long: 20 });
const POSTS: FleetPosts = { providers: CLASSES, accounts: 4, posts: 3, withinMs: 3_000 };

let worker: string;
let server: PostgresServer;
beforeAll(async () => {
  worker = await buildWorker("worker", import.meta.dirname);
  server = await startPostgres({ isDurable: true, flags: ["-c", "max_connections=60"] });
});
afterAll(() => server[Symbol.asyncDispose]());

interface Trouble {
  readonly name: string;
  /** Of each worker. */
  readonly tasks?: readonly ((fleet: Fleet) => Partial<WorkerTask>)[];
  readonly posts?: FleetPosts;
  /** What happens while they publish; answers how often it did. */
  readonly happen?: (fleet: Fleet, random: () => number) => Promise<number>;
}

/** Returns how often it happened. */
async function publishThrough({ name, tasks, posts = POSTS, happen }: Trouble): Promise<number> {
  const random = randomFor(name);
  let times = 0;
  for (let round = 0; round < ROUNDS; round++) {
    await using servers = await startClassServers({ delayMs: 60 });
    await using fleet = await gatherFleet({ address: server.address, servers, worker }, posts, random);
    const workers: RunningWorker[] = (tasks ?? [() => ({}), () => ({})]).map((task) =>
      fleet.run(task(fleet)),
    );
    await Promise.all(workers.map(({ ready }) => ready));
    times += (await happen?.(fleet, random)) ?? 1;
    for (const { exit } of workers) {
      const { code, stderr } = await exit;
      expect(code, stderr).toBe(0);
    }
    expect({ SEED, name, wrong: await fleet.wrong() }).toEqual({ SEED, name, wrong: [] });
  }
  return times;
}

function tell(how: string, runs: string, fault = "F15"): void {
  report({ fault, how: `PostgreSQL: ${how}`, runs, seen: "0 twice, 0 lost, 0 wrong", isSeeded: true });
}

describe("two hosts publish while", { timeout: TIMEOUT_MS }, () => {
  it("the server ends their connections, one after the other and all at once", async () => {
    const ended = await publishThrough({
      name: "terminate",
      happen: async (fleet, random) => {
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
      },
    });
    tell("pg_terminate_backend on some or all connections of two workers that publish", `${ended} times`);
  });

  it("the server restarts in order, and after a crash", async () => {
    const restarts = await publishThrough({
      name: "restart",
      happen: async (_fleet, random) => {
        for (const how of ["stop", "crash"] as const) {
          await delay(300 + random() * 900);
          await server[how]();
          await delay(random() * 1_000);
          await server.start();
        }
        return 2;
      },
    });
    tell("the server stops, or crashes, and starts again while two workers publish", `${restarts} restarts`);
  });

  it("a connection is cut in the middle of COMMIT", async () => {
    await using proxy = await startCuttingProxy(server.address.port);
    const through = (fleet: Fleet) => ({
      url: urlOf({ ...server.address, port: proxy.port }, new URL(fleet.url).pathname.slice(1)),
    });
    const cuts = await publishThrough({
      name: "cut",
      tasks: [through, through],
      happen: async (_fleet, random) => {
        const before = proxy.cuts;
        for (let n = 0; n < 24 && proxy.cuts - before < 18; n++) {
          const cut = (["before", "during", "after"] as Cut[])[Math.floor(random() * 3)] ?? "after";
          proxy.cutAt("COMMIT", cut);
          await delay(60 + random() * 120);
        }
        return proxy.cuts - before;
      },
    });
    expect(cuts).toBeGreaterThan(3 * ROUNDS);
    tell("a connection is cut before, during or after COMMIT while two workers publish", `${cuts} cuts`);
  });

  it("each has a single connection, and the server none left for a while", async () => {
    const alone = () => ({ size: 1 });
    const times = await publishThrough({
      name: "exhausted",
      tasks: [alone, alone],
      happen: async (fleet) => {
        const others = Array.from({ length: 60 }, () => new pg.Client({ connectionString: fleet.url }));
        const open = await Promise.all(
          others.map(async (client) => {
            client.on("error", () => {});
            return client.connect().then(
              () => client,
              () => null,
            );
          }),
        );
        expect(open).toContain(null);
        await open[0]?.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'posthorn' AND datname = current_database()",
        );
        await delay(1_500);
        await Promise.all(open.map((client) => client?.end()));
        return 1;
      },
    });
    tell("pools of one connection, and a server that has none left for 1.5 s", `${times} times`);
  });

  it("somebody holds the lock on all posts, for less and for longer than a statement waits", async () => {
    const times = await publishThrough({
      name: "locked",
      happen: async (fleet, random) => {
        for (const heldMs of [LIMITS.lockMs / 2, LIMITS.lockMs * 1.5]) {
          await delay(random() * 400);
          const client = new pg.Client({ connectionString: fleet.url });
          await client.connect();
          await client.query("BEGIN; LOCK TABLE posts IN ACCESS EXCLUSIVE MODE");
          await delay(heldMs);
          await client.end();
        }
        return 2;
      },
    });
    const how = "another connection holds the lock on all posts, half and one and a half times as long as a";
    tell(`${how} statement waits, while two workers publish`, `${times} locks`, "F8");
  });

  it("one's clock is three minutes ahead, and the other's three behind", async () => {
    const times = await publishThrough({
      name: "clock",
      tasks: [3 * MINUTE, -3 * MINUTE].map((clockErrorMs) => () => ({ clockErrorMs })),
      happen: async (fleet) => {
        // Whoever is ahead must not take over from the other, nor be taken for dead.
        const victim = fleet.run({ clockErrorMs: -3 * MINUTE, what: "SIGKILL" });
        if (await victim.reached) await once(victim.child, "close").catch(() => {});
        return 1;
      },
    });
    tell("one worker's clock is 3 min ahead, the other's 3 min behind, a third is killed", `${times} times`);
  });
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startClassServers } from "../../faults/class-servers.ts";
import { buildWorker, type RunningWorker } from "../../faults/fault-runner.ts";
import { randomFor, report, SEED, times, TIMEOUT_MS } from "../../faults/report.ts";
import { startPostgres, urlOf, type PostgresServer } from "../../support/postgres-server.ts";
import { startSilentProxy } from "../../support/silent-proxy.ts";
import { CLASSES, gatherFleet } from "./fleet.ts";

const ROUNDS = times({ short: 1, long: 30 });
const POSTS = { providers: CLASSES, accounts: 1, posts: 2, withinMs: 0 };

let worker: string;
let server: PostgresServer;
beforeAll(async () => {
  worker = await buildWorker("worker", import.meta.dirname);
  server = await startPostgres({ isDurable: true });
});
afterAll(() => server[Symbol.asyncDispose]());

/** When a worker told each thing, in milliseconds since 1970. */
function listenTo({ child }: RunningWorker): (name: string) => number[] {
  let said = "";
  child.stdout?.on("data", (chunk: Buffer) => (said += chunk.toString()));
  return (name) => [...said.matchAll(new RegExp(`^${name}=(\\d+)$`, "gm"))].map(([, at]) => Number(at));
}

/** By themselves, once nothing waited any more. */
async function ended(...workers: RunningWorker[]): Promise<void> {
  for (const { exit } of workers) {
    const { code, stderr } = await exit;
    expect(code, stderr).toBe(0);
  }
}

describe("a host that cannot be reached while it sends", { timeout: TIMEOUT_MS }, () => {
  it("has broken off before another takes over, and nothing goes out twice", async () => {
    const marginsMs: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      await using proxy = await startSilentProxy(server.address.port);
      await using servers = await startClassServers();
      const at = { address: server.address, servers, worker };
      await using fleet = await gatherFleet(at, POSTS, randomFor("cut off"));
      // Every post is visible, and its host waits for an answer.
      servers.misbehave(...CLASSES.map(() => "hang-after" as const));
      const database = new URL(fleet.url).pathname.slice(1);
      const afar = fleet.run({
        url: urlOf({ ...server.address, port: proxy.port }, database),
        host: "elsewhere",
      });
      const ofAfar = listenTo(afar);
      await expect.poll(() => servers.visible().size, { timeout: 20_000 }).toBe(CLASSES.length);
      const near = fleet.run({ host: "here" });
      const ofNear = listenTo(near);
      await near.ready;
      const silentAt = Date.now();
      proxy.silence();
      await expect.poll(() => ofNear("took-over").length, { timeout: 20_000 }).toBeGreaterThan(0);
      proxy.speak();
      await ended(near, afar);
      expect({ SEED, wrong: await fleet.wrong() }).toEqual({ SEED, wrong: [] });
      expect(ofAfar("broken-off")).toHaveLength(CLASSES.length);
      const marginMs = Math.min(...ofNear("took-over")) - Math.max(...ofAfar("broken-off"));
      const told = [ofAfar, ofNear].map((of) => ["publishing", "lost", "broken-off", "took-over"].map(of));
      expect(marginMs, JSON.stringify({ silentAt, told })).toBeGreaterThan(0);
      marginsMs.push(marginMs);
    }
    console.log(`broken off ${marginsMs.join(", ")} ms before the take-over`);
    report({
      fault: "F9",
      how: "PostgreSQL: a host is cut off silently from the database while posts of classes A to F wait for their answers; another takes over",
      runs: `${ROUNDS * CLASSES.length} sendings`,
      seen: `0 twice, 0 lost; broken off at least ${Math.min(...marginsMs)} ms before the take-over, with a lease of 2 s in place of 60`,
    });
  });

  it("comes to a SIGSTOP until another has taken over, and goes on", async () => {
    await using servers = await startClassServers({ delayMs: 20 });
    await using fleet = await gatherFleet(
      { address: server.address, servers, worker },
      POSTS,
      randomFor("stop"),
    );
    const still = fleet.run({ what: "SIGSTOP" });
    expect(await still.reached).toBe(true);
    const other = fleet.run();
    const ofOther = listenTo(other);
    await expect.poll(() => ofOther("took-over").length, { timeout: 20_000 }).toBeGreaterThan(0);
    still.child.kill("SIGCONT");
    await ended(other, still);
    expect({ SEED, wrong: await fleet.wrong() }).toEqual({ SEED, wrong: [] });
  });
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startClassServers } from "../../faults/class-servers.ts";
import { buildWorker, type RunningWorker } from "../../faults/fault-runner.ts";
import { IS_LONG, randomFor, report, SEED, times, TIMEOUT_MS } from "../../faults/report.ts";
import { startPostgres, urlOf, type PostgresServer } from "../../support/postgres-server.ts";
import { startSilentProxy } from "../../support/silent-proxy.ts";
import { CLASSES, gatherFleet } from "./fleet.ts";
import { AFTER_A_DEATH, POINTS } from "./worker-task.ts";

const ROUNDS = times({ short: 1, long: 30 });
/** At each point. */
const STANDSTILLS = times({ short: 1, long: 8 });
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

  const atPoints = IS_LONG ? POINTS : ["intent:durable", "change:answered"];
  const cases = (["stop", "block"] as const).flatMap((what) => atPoints.map((point) => ({ what, point })));
  const held = { stop: 0, block: 0 };
  const HOW = {
    stop: "SIGSTOP until another worker has taken over, then SIGCONT",
    block: "an event loop that stands still for twice the lease while another worker takes over",
  };
  afterAll(() => {
    for (const what of ["stop", "block"] as const)
      if (held[what] === atPoints.length * STANDSTILLS)
        report({
          fault: what === "stop" ? "F9" : "F10",
          how: `PostgreSQL: ${HOW[what]}, at each of ${atPoints.length} points; classes A to F`,
          runs: `${held[what]} times`,
          seen: "0 twice, 0 lost, 0 wrong",
          isSeeded: true,
        });
  });
  it.each(cases)(
    "comes to a $what at $point until another has taken over, and goes on",
    async ({ what, point }) => {
      const random = randomFor(`${what} ${point}`);
      for (let round = 0; round < STANDSTILLS; round++) {
        await using servers = await startClassServers({ delayMs: 20 });
        const at = { address: server.address, servers, worker };
        await using fleet = await gatherFleet(at, POSTS, random);
        const isLater = AFTER_A_DEATH.test(point);
        if (isLater) await fleet.run({ point: "change:answered", hit: 2 }).exit;
        const still = fleet.run({
          point,
          what,
          hit: isLater ? 1 : 1 + Math.floor(random() * (IS_LONG ? 2 : 4)),
        });
        expect(await still.reached).toBe(true);
        const other = fleet.run();
        const ofOther = listenTo(other);
        await expect.poll(() => ofOther("took-over").length, { timeout: 20_000 }).toBeGreaterThan(0);
        if (what === "stop") still.child.kill("SIGCONT");
        await ended(other, still);
        expect({ SEED, point, wrong: await fleet.wrong() }).toEqual({ SEED, point, wrong: [] });
        held[what] += 1;
      }
    },
  );
});

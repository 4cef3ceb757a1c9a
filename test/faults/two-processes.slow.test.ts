import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { startClassServers } from "./class-servers.ts";
import {
  buildWorker,
  className,
  countInterrupted,
  judge,
  makeDataFolder,
  readOutcome,
  runWorker,
  type Exit,
} from "./fault-runner.ts";
import { randomFor, report, SEED, times, TIMEOUT_MS } from "./report.ts";

let worker: string;
beforeAll(async () => {
  worker = await buildWorker("worker-entry");
});

const POSTS = { count: 120, accounts: 6 };
const ANSWER_MS = 60;
const KILLS = 6;

const ROUNDS = times({ short: 1, long: 5 });

/** Kills one or the other of two processes until all is done. Returns the attempts that were cut off. */
async function killInTurn(provider: string, random: () => number): Promise<number> {
  await using servers = await startClassServers({ delayMs: ANSWER_MS });
  await using folder = await makeDataFolder(provider, POSTS);
  const args = [folder.path, servers.baseUrl];
  let running = [runWorker(worker, args), runWorker(worker, args)];
  for (let kill = 0; kill < KILLS; kill++) {
    const victim = running[kill % 2];
    await victim?.ready;
    await delay(random() * 300);
    victim?.child.kill("SIGKILL");
    await victim?.exit;
    running = running.map((one) => (one === victim ? runWorker(worker, args) : one));
  }
  const exits: Exit[] = await Promise.all(running.map((one) => one.exit));
  for (const exit of exits) expect(exit, exit.stderr).toMatchObject({ code: 0 });
  const posts = await readOutcome(folder.path);
  expect(posts).toHaveLength(POSTS.count);
  expect({
    SEED,
    wrong: judge(posts, servers.visible(), provider === "class_f"),
    violations: servers.violations,
  }).toEqual({
    SEED,
    wrong: [],
    violations: [],
  });
  return countInterrupted(folder.path);
}

describe.concurrent(
  "F1 two processes on one data folder, killed at random moments",
  { timeout: TIMEOUT_MS },
  () => {
    it.each(["class_a", "class_b", "class_c", "class_d", "class_e", "class_f"])(
      "%s: each post exactly once",
      async (provider) => {
        const random = randomFor(provider);
        let interrupted = 0;
        for (let round = 0; round < ROUNDS; round++) interrupted += await killInTurn(provider, random);
        expect(interrupted).toBeGreaterThan(0);
        report({
          fault: "F1",
          how: `two processes on one folder, one of them killed at a random moment, ${POSTS.count} posts: ${className(provider)}`,
          runs: `${ROUNDS * KILLS} kills`,
          seen: `${interrupted} attempts cut off; 0 twice, 0 lost, 0 wrong`,
          isSeeded: true,
        });
      },
    );
  },
);

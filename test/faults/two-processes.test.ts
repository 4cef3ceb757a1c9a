import { randomInt } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { createRandom } from "../support/random.ts";
import { startClassServers } from "./class-servers.ts";
import { buildWorker, countInterrupted, judge, makeDataFolder, readOutcome, runWorker, type Exit } from "./fault-runner.ts";

let worker: string;
beforeAll(async () => {
  worker = await buildWorker("worker-entry");
});

const POSTS = { count: 120, accounts: 6 };
const ANSWER_MS = 60;
const KILLS = 6;

describe.concurrent("two processes on one data folder, killed at random moments", { timeout: 120_000 }, () => {
  it.each(["class_a", "class_b", "class_c", "class_d", "class_e", "class_f"])("%s: each post exactly once", async (provider) => {
    const seed = randomInt(2 ** 31);
    const random = createRandom(seed);
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
    expect(await countInterrupted(folder.path)).toBeGreaterThan(0);
    const posts = await readOutcome(folder.path);
    expect(posts).toHaveLength(POSTS.count);
    expect({ seed, wrong: judge(posts, servers.visible(), provider === "class_f"), violations: servers.violations }).toEqual({
      seed,
      wrong: [],
      violations: [],
    });
  });
});

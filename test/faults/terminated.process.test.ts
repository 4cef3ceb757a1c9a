import { performance } from "node:perf_hooks";
import { beforeAll, describe, expect, it } from "vitest";
import { startClassServers } from "./class-servers.ts";
import { buildWorker, judge, makeDataFolder, readOutcome, runWorker } from "./fault-runner.ts";
import { report, times, TIMEOUT_MS } from "./report.ts";

let worker: string;
beforeAll(async () => {
  worker = await buildWorker("worker-entry");
});

/** Of the class with sessions (class-platforms.ts): an upload of 30 bytes in chunks of 10. */
const SIZE = 30;
const CHUNK = 10;
/** Each answer takes longer than the process is given to end: what is under way is broken off. */
const ANSWER_MS = 300;
const GRACE_MS = 50;
const POINTS = ["change:sending", "change:answered", "read:sending", "handle:durable"];

describe("F17 SIGTERM during an upload", { timeout: TIMEOUT_MS }, () => {
  it("ends soon, and the next process goes on at the offset", async () => {
    const wanted = times({ short: 4, long: 50 });
    let ended = 0;
    let slowestMs = 0;
    let mostBytes = 0;
    const once = async (point: string, hit: number): Promise<void> => {
      await using servers = await startClassServers({ delayMs: ANSWER_MS });
      await using folder = await makeDataFolder("class_c", { count: 1, accounts: 1 });
      const args = [folder.path, servers.baseUrl];
      const first = runWorker(worker, [...args, point, String(hit), "terminate", String(GRACE_MS)]);
      if (await first.reached) {
        const at = performance.now();
        await first.exit;
        slowestMs = Math.max(slowestMs, performance.now() - at);
        ended += 1;
      }
      expect(await first.exit, (await first.exit).stderr).toMatchObject({ code: 0 });
      const second = await runWorker(worker, args).exit;
      expect(second, second.stderr).toMatchObject({ code: 0 });
      mostBytes = Math.max(mostBytes, servers.uploadedBytes());
      const wrong = judge(await readOutcome(folder.path), servers.visible(), false);
      expect({ point, hit, wrong, violations: servers.violations }).toEqual({
        point,
        hit,
        wrong: [],
        violations: [],
      });
    };
    for (let round = 0; ended < wanted; round++) {
      for (const hit of [1, 2, 3, 4]) {
        if (ended < wanted) await Promise.all(POINTS.map((point) => once(point, hit)));
      }
    }
    expect(mostBytes).toBeLessThanOrEqual(SIZE + CHUNK);
    expect(slowestMs).toBeLessThan(10_000);
    report({
      fault: "F17",
      how: "SIGTERM at each step of an upload in chunks, and too little time to end it",
      runs: `${ended} ends`,
      seen: `ended within ${(slowestMs / 1_000).toFixed(1)} s; ${mostBytes - SIZE} bytes of a chunk of ${CHUNK} sent again at most; 0 twice, 0 lost`,
    });
  });
});

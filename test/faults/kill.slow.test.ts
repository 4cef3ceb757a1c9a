import { beforeAll, describe, expect, it } from "vitest";
import { startClassServers, type ClassServers } from "./class-servers.ts";
import {
  buildWorker,
  className,
  judge,
  KILL_POINTS,
  makeDataFolder,
  readOutcome,
  runWorker,
} from "./fault-runner.ts";
import { report, times, TIMEOUT_MS } from "./report.ts";

/** Kills of each class at least; a round of one post on one account is done in any case. */
const KILLS = times({ short: 1, long: 340 });

let worker: string;
beforeAll(async () => {
  worker = await buildWorker("worker-entry");
});

interface Tally {
  kills: number;
  unknown: number;
}

interface Run {
  readonly provider: string;
  readonly posts: number;
}

/** How often a process that is not killed comes to each point. */
async function countHits(servers: ClassServers, { provider, posts }: Run): Promise<Record<string, number>> {
  servers.reset();
  await using folder = await makeDataFolder(provider, { count: posts, accounts: 1 });
  const running = runWorker(worker, [folder.path, servers.baseUrl, "none", "1", "count"]);
  const exit = await running.exit;
  expect(exit, exit.stderr).toMatchObject({ code: 0 });
  const [, counted = "{}"] = /^counted (.*)$/m.exec(running.said()) ?? [];
  return JSON.parse(counted) as Record<string, number>;
}

/**
 * SQLite's method: the first, second, … hit of a point is killed. After each kill a new process takes over; in
 * every second run it is killed at the same point, too.
 */
async function killAtEveryHit(
  servers: ClassServers,
  run: Run & { readonly point: string; readonly hits: number },
): Promise<Tally> {
  const { provider, point } = run;
  const tally: Tally = { kills: 0, unknown: 0 };
  for (let hit = 1; hit <= run.hits; hit++) {
    servers.reset();
    await using folder = await makeDataFolder(provider, { count: run.posts, accounts: 1 });
    const first = await runWorker(worker, [folder.path, servers.baseUrl, point, String(hit)]).exit;
    const isKilled = first.signal === "SIGKILL";
    if (isKilled) {
      tally.kills += 1;
      const second = await runWorker(worker, [
        folder.path,
        servers.baseUrl,
        hit % 2 === 1 ? point : "none",
        "1",
      ]).exit;
      if (second.signal === "SIGKILL") tally.kills += 1;
      const last =
        second.signal === "SIGKILL" ? await runWorker(worker, [folder.path, servers.baseUrl]).exit : second;
      expect(last, last.stderr).toMatchObject({ code: 0 });
    } else {
      expect(first, first.stderr).toMatchObject({ code: 0 });
    }
    const posts = await readOutcome(folder.path);
    tally.unknown += posts.filter((post) => post.inDoubt).length;
    expect({
      point,
      hit,
      wrong: judge(posts, servers.visible(), provider === "class_f"),
      violations: servers.violations,
    }).toEqual({
      point,
      hit,
      wrong: [],
      violations: [],
    });
    if (!isKilled) break;
  }
  return tally;
}

// A post that was there at two kills in a row waits before it is tried again.
describe.concurrent("F1 kill -9 at every point", { timeout: 3 * TIMEOUT_MS }, () => {
  it.each(["class_a", "class_b", "class_c", "class_d", "class_e", "class_f"])(
    "%s: each post exactly once, and the truth",
    async (provider) => {
      await using servers = await startClassServers();
      const tally: Tally = { kills: 0, unknown: 0 };
      // With more than one post, kills also fall between them.
      for (let posts = 1; posts === 1 || tally.kills < KILLS; posts++) {
        const counts = await countHits(servers, { provider, posts });
        for (const point of KILL_POINTS) {
          const hits = counts[point] ?? 0;
          const at = await killAtEveryHit(servers, { provider, point, posts, hits });
          tally.kills += at.kills;
          tally.unknown += at.unknown;
        }
        expect(tally.kills).toBeGreaterThanOrEqual(10);
        // After each round, because the whole takes long.
        report({
          fault: "F1",
          how: `SIGKILL at the 1st, 2nd, … hit of each of ${KILL_POINTS.length} points of the protocol, half of the successors killed, too: ${className(provider)}`,
          runs: `${tally.kills} kills`,
          seen: `0 twice, 0 lost, 0 wrong; ${tally.unknown} unknown${provider === "class_f" ? " (a blind platform: said, never sent again)" : ""}`,
        });
      }
    },
  );
});

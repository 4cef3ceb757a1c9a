import { beforeAll, describe, expect, it } from "vitest";
import { startClassServers, type ClassServers } from "./class-servers.ts";
import { buildWorker, judge, KILL_POINTS, makeDataFolder, readOutcome, runWorker } from "./fault-runner.ts";

/** Posts in a run, on one account. With more than one, kills also fall between them, and a run takes longer. */
const POSTS = { count: Number(process.env["FAULT_POSTS"] ?? 1), accounts: 1 };

let worker: string;
beforeAll(async () => {
  worker = await buildWorker("worker-entry");
});

interface Tally {
  kills: number;
  unknown: number;
}

/**
 * SQLite's method: the first, second, … hit of a point is killed until a run ends without the kill. After each kill a new
 * process takes over; in every second run it is killed at the same point, too.
 */
async function killAtEveryHit(servers: ClassServers, provider: string, point: string): Promise<Tally> {
  const tally: Tally = { kills: 0, unknown: 0 };
  for (let hit = 1; ; hit++) {
    servers.reset();
    await using folder = await makeDataFolder(provider, POSTS);
    const first = await runWorker(worker, [folder.path, servers.baseUrl, point, String(hit)]).exit;
    const isKilled = first.signal === "SIGKILL";
    if (isKilled) {
      tally.kills += 1;
      const second = await runWorker(worker, [folder.path, servers.baseUrl, hit % 2 === 1 ? point : "none", "1"]).exit;
      if (second.signal === "SIGKILL") tally.kills += 1;
      const last = second.signal === "SIGKILL" ? await runWorker(worker, [folder.path, servers.baseUrl]).exit : second;
      expect(last, last.stderr).toMatchObject({ code: 0 });
    } else {
      expect(first, first.stderr).toMatchObject({ code: 0 });
    }
    const posts = await readOutcome(folder.path);
    tally.unknown += posts.filter((post) => post.inDoubt).length;
    expect({ point, hit, wrong: judge(posts, servers.visible(), provider === "class_f"), violations: servers.violations }).toEqual({
      point,
      hit,
      wrong: [],
      violations: [],
    });
    if (!isKilled) return tally;
  }
}

describe.concurrent("kill -9 at every point", { timeout: 240_000 }, () => {
  it.each(["class_a", "class_b", "class_c", "class_d", "class_e", "class_f"])(
    "%s: each post exactly once, and the truth",
    async (provider) => {
      await using servers = await startClassServers();
      const tally: Tally = { kills: 0, unknown: 0 };
      for (const point of KILL_POINTS) {
        const at = await killAtEveryHit(servers, provider, point);
        tally.kills += at.kills;
        tally.unknown += at.unknown;
      }
      expect(tally.kills).toBeGreaterThanOrEqual(10);
    },
  );
});

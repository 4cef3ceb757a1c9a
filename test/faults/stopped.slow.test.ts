import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { CLASS_PLATFORMS } from "./class-platforms.ts";
import { startClassServers } from "./class-servers.ts";
import { buildWorker, judge, makeDataFolder, readOutcome, runWorker } from "./fault-runner.ts";
import { report, times, TIMEOUT_MS } from "./report.ts";

let worker: string;
beforeAll(async () => {
  worker = await buildWorker("worker-entry");
});

/** Between the writes; in the middle of one, a stopped process holds the database's lock (F8). */
const POINTS = [
  "claim:durable",
  "intent:durable",
  "change:sending",
  "change:answered",
  "read:answered",
  "handle:durable",
  "result:durable",
];
const CLASSES = Object.keys(CLASS_PLATFORMS);
const POSTS = { count: 5, accounts: 2 };
const IN_VAIN_MS = "600000";

/**
 * Longer than three beats of the heart, after which a process is shown as gone; long enough to be passed
 * over, in the short form.
 */
const HOLD_MS = times({ short: 1_500, long: 16_000 });

interface Held {
  readonly provider: string;
  readonly point: string;
  readonly hit: number;
  readonly what: "stop" | "block";
}

/**
 * Holds a process at the point while another works beside it. Answers how many posts are unknown afterwards, which
 * only blind platforms may leave. Null: it never came there.
 */
async function hold({ provider, point, hit, what }: Held): Promise<number | null> {
  await using servers = await startClassServers();
  await using folder = await makeDataFolder(provider, POSTS);
  const args = [folder.path, servers.baseUrl];
  const first = runWorker(worker, [...args, point, String(hit), what, String(HOLD_MS), IN_VAIN_MS]);
  const isHeld = await first.reached;
  const second = runWorker(worker, [...args, "none", "1", "kill", "0", IN_VAIN_MS]);
  if (isHeld && what === "stop") {
    await second.ready;
    await delay(HOLD_MS);
    first.child.kill("SIGCONT");
  }
  for (const { exit } of [first, second]) expect(await exit, (await exit).stderr).toMatchObject({ code: 0 });
  const posts = await readOutcome(folder.path);
  const wrong = judge(posts, servers.visible(), provider === "class_f");
  expect({ provider, point, hit, wrong, violations: servers.violations }).toEqual({
    provider,
    point,
    hit,
    wrong: [],
    violations: [],
  });
  return isHeld ? posts.filter(({ inDoubt }) => inDoubt).length : null;
}

interface Tally {
  held: number;
  unknown: number;
}

/** Every hit of every point of every class, in lanes, until there were enough. */
async function holdEverywhere(what: Held["what"], enough: number, lanes: number): Promise<Tally> {
  const tally: Tally = { held: 0, unknown: 0 };
  const reached = new Set(POINTS.flatMap((point) => CLASSES.map((provider) => `${provider} ${point}`)));
  const work = function* (): Generator<Held> {
    for (let hit = 1; reached.size > 0; hit++) {
      for (const point of POINTS) {
        for (const provider of CLASSES)
          if (reached.has(`${provider} ${point}`)) yield { provider, point, hit, what };
      }
    }
  };
  const queue = work();
  const lane = async (): Promise<void> => {
    for (const one of queue) {
      if (tally.held >= enough) return;
      const unknown = await hold(one);
      if (unknown === null) reached.delete(`${one.provider} ${one.point}`);
      else {
        tally.held += 1;
        tally.unknown += unknown;
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return tally;
}

const REPORTED = `points × 6 classes, for ${HOLD_MS / 1_000} s with a second process beside it`;

describe.concurrent("F9 a process that is stopped (SIGSTOP)", { timeout: TIMEOUT_MS }, () => {
  it("keeps what it works on, and nothing goes out twice when it goes on", async () => {
    const { held, unknown } = await holdEverywhere(
      "stop",
      times({ short: 3, long: 200 }),
      times({ short: 3, long: 8 }),
    );
    expect(held).toBeGreaterThan(0);
    report({
      fault: "F9",
      how: `SIGSTOP at every hit of ${POINTS.length} ${REPORTED}`,
      runs: `${held} stops`,
      seen: `0 twice, 0 lost; ${unknown} unknown, which only a blind platform may leave`,
    });
  });
});

describe.concurrent("F10 an event loop that is blocked", { timeout: TIMEOUT_MS }, () => {
  it("keeps what it works on, and nothing goes out twice", async () => {
    const { held, unknown } = await holdEverywhere(
      "block",
      times({ short: 1, long: 24 }),
      times({ short: 1, long: 2 }),
    );
    expect(held).toBeGreaterThan(0);
    report({
      fault: "F10",
      how: `a busy loop at every hit of ${POINTS.length} ${REPORTED}`,
      runs: `${held} blocks`,
      seen: `0 twice, 0 lost; ${unknown} unknown, which only a blind platform may leave`,
    });
  });
});

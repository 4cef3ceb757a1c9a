import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { addAccount, addPost } from "../support/publishing.ts";
import { CLASS_PLATFORMS } from "./class-platforms.ts";
import { startClassServers } from "./class-servers.ts";
import { buildWorker, judge, makeDataFolder, openFolder, readOutcome, runWorker } from "./fault-runner.ts";
import { report, times, TIMEOUT_MS } from "./report.ts";
import { queryOf } from "../support/handles.ts";

let worker: string;
beforeAll(async () => {
  worker = await buildWorker("worker-entry");
});

const POSTS = times({ short: 60, long: 1_000 });
const CLASSES = Object.keys(CLASS_PLATFORMS).filter((provider) => provider !== "class_f");
const ANSWER_MS = 100;

/** A post each on as many channels: most are due, some are uploaded, and some are done with. */
async function fillFolder(path: string): Promise<void> {
  await using ctx = await openFolder(path);
  const due = Date.now() - 50;
  for (let n = 0; n < POSTS; n++) {
    const account = await addAccount(ctx, { provider: CLASSES[n % CLASSES.length]! });
    const done = { caption: `done ${n}`, scheduled_at: due, next_at: null };
    if (n % 20 === 0) await addPost(ctx, account, { ...done, status: "cancelled" });
    else if (n % 20 === 1)
      await addPost(ctx, account, {
        ...done,
        status: "failed",
        in_doubt: 1,
        error: "outcome unknown: of before.",
      });
    else
      await addPost(ctx, account, {
        caption: `post ${n}`,
        scheduled_at: due,
        status: n % 20 < 4 ? "uploaded" : "scheduled",
      });
  }
}

async function countStates(path: string): Promise<Record<string, number>> {
  await using ctx = await openFolder(path);
  const rows = await queryOf(ctx.store).selectFrom("posts").select("status").execute();
  return Object.fromEntries(
    [...new Set(rows.map(({ status }) => status))].map((one) => [
      one,
      rows.filter(({ status }) => status === one).length,
    ]),
  );
}

describe("Recovery after kill -9", { timeout: TIMEOUT_MS }, () => {
  it("takes up posts in all states and brings each to its end", async () => {
    await using servers = await startClassServers({ delayMs: ANSWER_MS });
    await using folder = await makeDataFolder("class_a", { count: 0, accounts: 0 });
    await fillFolder(folder.path);
    const args = [folder.path, servers.baseUrl];
    const first = runWorker(worker, args);
    await first.ready;
    await delay(ANSWER_MS * 2.5);
    first.child.kill("SIGKILL");
    await first.exit;
    const before = await countStates(folder.path);
    const startedAt = performance.now();
    const exit = await runWorker(worker, args).exit;
    const seconds = (performance.now() - startedAt) / 1_000;
    expect(exit, exit.stderr).toMatchObject({ code: 0 });
    const posts = (await readOutcome(folder.path)).filter(({ caption }) => caption.startsWith("post"));
    expect({ wrong: judge(posts, servers.visible(), false), violations: servers.violations }).toEqual({
      wrong: [],
      violations: [],
    });
    report({
      fault: "Recovery",
      how: `${POSTS} posts on as many channels, killed in the middle of publishing and started again; a platform that takes ${ANSWER_MS} ms for each answer`,
      runs: Object.entries(before)
        .map(([state, count]) => `${count} ${state}`)
        .join(", "),
      seen: `all at their end ${seconds.toFixed(1)} s after the new process was started; 0 twice, 0 lost, 0 unknown`,
    });
  });
});

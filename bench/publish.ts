import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "../src/domain/ids.ts";
import { startPublisher } from "../src/publisher/loop.ts";
import type { AppContext } from "../src/services/context.ts";
import { openDb, type Db } from "../src/store/db.ts";
import { createWorkerLocks } from "../src/store/worker-lock.ts";
import { systemClock } from "../src/system-clock.ts";
import { createMemoryLogger, createTestContext } from "../test/support/context.ts";
import { addAccount, addPost } from "../test/support/publishing.ts";
import { scriptedPlatform } from "../test/support/scripted-platform.ts";

/**
 * How fast due posts go out with a platform that does nothing, every step durable (synchronous = FULL), against the same writes
 * made one after the other with the bare driver in the same run. Prints ratios; decides nothing.
 *
 *   npx tsx bench/publish.ts [posts] [posts at once]
 */
const POSTS = Number(process.argv[2] ?? 10_000);
const BURST = Number(process.argv[3] ?? 10_000);

const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "posthorn-bench-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function fill(ctx: AppContext, shape: { posts: number; accounts: number; dueAt: number }): Promise<void> {
  const accounts = [];
  for (let n = 0; n < shape.accounts; n++) accounts.push(await addAccount(ctx));
  ctx.db.raw.exec("PRAGMA synchronous = OFF");
  for (let n = 0; n < shape.posts; n++) {
    const account = accounts[n % accounts.length];
    const times = { scheduled_at: shape.dueAt, due_at: shape.dueAt, next_at: shape.dueAt };
    if (account !== undefined) await addPost(ctx, account, { caption: `Post ${n}`, ...times });
  }
  ctx.db.raw.exec("PRAGMA synchronous = FULL");
}

/** The writes of the protocol, one post after the other: claim, intent, result, end; four transactions. */
function floor(db: Db): number {
  const { raw } = db;
  const posts = raw.prepare("SELECT id, account_id FROM posts").all([]) as { id: string; account_id: string }[];
  const claim = raw.prepare(
    "UPDATE posts SET status='publishing', fence=fence+1, lease_worker='w', updated_at=1 WHERE id=? AND status='scheduled'",
  );
  const flight = raw.prepare("UPDATE accounts SET in_flight_post=? WHERE id=?");
  const attempt = raw.prepare(
    "INSERT INTO attempts (id, owner_id, post_id, number, run, worker_id, outcome, lateness_ms, started_at) VALUES (?, 'default', ?, 1, 1, 'w', 'running', 0, 1)",
  );
  const intent = raw.prepare(
    "INSERT INTO effects (post_id, run, step, fence, effect_key, request_hash, state, asked, started_at) VALUES (?, 1, 'create', 1, 'k', 'h', 'intent', 0, 1)",
  );
  const result = raw.prepare("UPDATE effects SET state='done', result='1', finished_at=1 WHERE post_id=? AND run=1 AND step='create'");
  const end = raw.prepare(
    "UPDATE posts SET status='published', next_at=NULL, lease_worker=NULL, published_at=1, platform_post_id='p' WHERE id=? AND fence=1",
  );
  const endAttempt = raw.prepare("UPDATE attempts SET outcome='published', finished_at=1 WHERE post_id=? AND number=1");
  const durable = (work: () => void): void => {
    raw.exec("BEGIN IMMEDIATE");
    work();
    raw.exec("COMMIT");
  };
  const started = performance.now();
  for (const { id, account_id } of posts) {
    durable(() => {
      claim.run([id]);
      flight.run([id, account_id]);
      attempt.run([newId("att"), id]);
    });
    durable(() => intent.run([id]));
    durable(() => result.run([id]));
    durable(() => {
      end.run([id]);
      endAttempt.run([id]);
      flight.run([null, account_id]);
    });
  }
  return (posts.length / (performance.now() - started)) * 1_000;
}

interface Run {
  readonly perSecond: number;
  readonly handedOverMs: readonly number[];
}

async function publish(shape: { posts: number; accounts: number; leadInMs: number }): Promise<Run> {
  return withFolder(async (folder) => {
    const handedOver: number[] = [];
    const platform = scriptedPlatform({
      publish: async (post, io) => {
        handedOver.push(Date.now() - post.scheduledAt);
        const id = await io.effect({
          step: "create",
          request: null,
          send: async () => post.id,
          settle: async () => ({ outcome: "send_again" }),
        });
        return { state: "live", platformPostId: id, platformUrl: null };
      },
    });
    const ctx = await createTestContext({
      db: await openDb({ file: join(folder, "posthorn.db") }),
      clock: systemClock,
      log: createMemoryLogger(),
      platformList: [platform],
      media: { forPost: () => ({}) as never, release: async () => {} },
      workerId: newId("wrk"),
    });
    // On a whole second, as people schedule; far enough ahead that filling is over.
    const dueAt = shape.leadInMs === 0 ? Date.now() : Math.ceil((Date.now() + shape.leadInMs) / 1_000) * 1_000;
    await fill(ctx, { ...shape, dueAt });
    const started = performance.now();
    const publisher = await startPublisher(ctx, {
      identity: { role: "serve", host: "bench", pid: process.pid, version: "0" },
      locks: createWorkerLocks(join(folder, "workers")),
    });
    const waiting = ctx.db.raw.prepare("SELECT COUNT(*) AS n FROM posts WHERE next_at IS NOT NULL");
    while ((waiting.get([]) as { n: number }).n > 0) await systemClock.sleep(20);
    const seconds = (performance.now() - started) / 1_000;
    await publisher.close();
    await ctx[Symbol.asyncDispose]();
    return { perSecond: shape.posts / seconds, handedOverMs: handedOver.sort((a, b) => a - b) };
  });
}

const raw = await withFolder(async (folder) => {
  const ctx = await createTestContext({ db: await openDb({ file: join(folder, "posthorn.db") }), clock: systemClock });
  await fill(ctx, { posts: Math.min(POSTS, 3_000), accounts: 100, dueAt: Date.now() });
  const perSecond = floor(ctx.db);
  await ctx[Symbol.asyncDispose]();
  return perSecond;
});
print(`floor: bare driver, one by one, 4 durable transactions a post   ${raw.toFixed(0)} posts/s`);
for (const accounts of [1_000, 100, 1]) {
  const { perSecond } = await publish({ posts: accounts === 1 ? Math.min(POSTS, 2_000) : POSTS, accounts, leadInMs: 0 });
  print(
    `publisher, ${String(accounts).padStart(5)} account(s)   ${perSecond.toFixed(0)} posts/s   ${(perSecond / raw).toFixed(2)} × floor`,
  );
}
const burst = await publish({ posts: BURST, accounts: BURST, leadInMs: 6_000 });
const at = (share: number): string => `${burst.handedOverMs[Math.min(BURST - 1, Math.floor(BURST * share))] ?? 0} ms`;
print(`${BURST} posts due in one second, handed over after: first ${at(0)}, p50 ${at(0.5)}, p99 ${at(0.99)}, last ${at(1)}`);

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "../../src/domain/ids.ts";
import { startPublisher } from "../../src/publisher/loop.ts";
import type { AppContext } from "../../src/services/context.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { Store } from "../../src/store/engine/store.ts";
import { systemClock } from "../../src/app/system-clock.ts";
import { createMemoryLogger, createTestContext } from "../../test/support/context.ts";
import { addAccount, addPost } from "../../test/support/publishing.ts";
import { scriptedPlatform } from "../../test/support/scripted-platform.ts";
import { rawOf } from "../../test/support/handles.ts";

/** What `bench/publish.ts` bundles and runs. */
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

async function fill(
  ctx: AppContext,
  shape: { posts: number; accounts: number; dueAt: number },
): Promise<void> {
  const accounts = [];
  for (let n = 0; n < shape.accounts; n++) accounts.push(await addAccount(ctx));
  rawOf(ctx.store).exec("PRAGMA synchronous = OFF");
  for (let n = 0; n < shape.posts; n++) {
    const account = accounts[n % accounts.length];
    const times = { scheduled_at: shape.dueAt, due_at: shape.dueAt, next_at: shape.dueAt };
    if (account !== undefined) await addPost(ctx, account, { caption: `Post ${n}`, ...times });
  }
  rawOf(ctx.store).exec("PRAGMA synchronous = FULL");
}

/** On a whole second, as people schedule, and far enough ahead that the publisher is there before. */
function putOff(ctx: AppContext): void {
  const dueAt = Math.ceil((Date.now() + 3_000) / 1_000) * 1_000;
  rawOf(ctx.store)
    .prepare("UPDATE posts SET scheduled_at = ?, due_at = ?, next_at = ?")
    .run([dueAt, dueAt, dueAt]);
}

/** The writes of the protocol, one post after the other: claim, intent, result, end; four transactions. */
function floor(store: Store): number {
  const raw = rawOf(store);
  const posts = raw.prepare("SELECT id, account_id FROM posts").all([]) as {
    id: string;
    account_id: string;
  }[];
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
  const result = raw.prepare(
    "UPDATE effects SET state='done', result='1', finished_at=1 WHERE post_id=? AND run=1 AND step='create'",
  );
  const end = raw.prepare(
    "UPDATE posts SET status='published', next_at=NULL, lease_worker=NULL, published_at=1, platform_post_id='p' WHERE id=? AND fence=1",
  );
  const endAttempt = raw.prepare(
    "UPDATE attempts SET outcome='published', finished_at=1 WHERE post_id=? AND number=1",
  );
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
  /** When the platform's file got each post, in milliseconds after it was due. */
  readonly handedOverMs: readonly number[];
  /** When its request may leave: the intent is on disk. */
  readonly sentMs: readonly number[];
  /**
   * What the process worked from the first that was handed over to the last; less than the time where others
   * work beside it.
   */
  readonly cpuMs: number;
}

const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

const msOf = (used: NodeJS.CpuUsage): number => Math.round((used.user + used.system) / 1_000);

async function publish(shape: { posts: number; accounts: number; isAtOnce: boolean }): Promise<Run> {
  return withFolder(async (folder) => {
    const handedOver: number[] = [];
    const sent: number[] = [];
    let ended = 0;
    let cpuAtFirst = process.cpuUsage();
    let cpuMs = 0;
    const platform = scriptedPlatform({
      publish: async (post, io) => {
        handedOver.push(Date.now() - post.scheduledAt);
        if (handedOver.length === 1) cpuAtFirst = process.cpuUsage();
        if (handedOver.length === shape.posts) cpuMs = msOf(process.cpuUsage(cpuAtFirst));
        const id = await io.effect({
          step: "create",
          request: null,
          send: async () => {
            sent.push(Date.now() - post.scheduledAt);
            return post.id;
          },
          settle: async () => ({ outcome: "send_again" }),
        });
        return { state: "live", platformPostId: id, platformUrl: null };
      },
    });
    const ctx = await createTestContext({
      store: await openStore({ file: join(folder, "posthorn.db"), locks: join(folder, "workers") }),
      clock: systemClock,
      log: createMemoryLogger(),
      platformList: [platform],
      media: { forPost: () => ({}) as never, release: async () => void (ended += 1) },
      workerId: newId("wrk"),
    });
    await fill(ctx, { ...shape, dueAt: Date.now() });
    if (shape.isAtOnce) putOff(ctx);
    const started = performance.now();
    const publisher = await startPublisher(ctx, {
      identity: { role: "serve", host: "bench", pid: process.pid, version: "0" },
    });
    while (ended < shape.posts) await systemClock.sleep(20);
    const seconds = (performance.now() - started) / 1_000;
    await publisher.close();
    await ctx[Symbol.asyncDispose]();
    return {
      perSecond: shape.posts / seconds,
      handedOverMs: sorted(handedOver),
      sentMs: sorted(sent),
      cpuMs,
    };
  });
}

async function drain(): Promise<void> {
  const raw = await withFolder(async (folder) => {
    const ctx = await createTestContext({
      store: await openStore({ file: join(folder, "posthorn.db"), locks: join(folder, "workers") }),
      clock: systemClock,
    });
    await fill(ctx, { posts: Math.min(POSTS, 3_000), accounts: 100, dueAt: Date.now() });
    const perSecond = floor(ctx.store);
    await ctx[Symbol.asyncDispose]();
    return perSecond;
  });
  print(`floor: bare driver, one by one, 4 durable transactions a post   ${raw.toFixed(0)} posts/s`);
  for (const accounts of [1_000, 100, 1]) {
    const { perSecond } = await publish({
      posts: accounts === 1 ? Math.min(POSTS, 2_000) : POSTS,
      accounts,
      isAtOnce: false,
    });
    print(
      `publisher, ${String(accounts).padStart(5)} account(s)   ${perSecond.toFixed(0)} posts/s   ${(perSecond / raw).toFixed(2)} × floor`,
    );
  }
}

if (POSTS > 0) await drain();
const burst = await publish({ posts: BURST, accounts: BURST, isAtOnce: true });
for (const [what, moments] of [
  ["handed over", burst.handedOverMs],
  ["sent", burst.sentMs],
] as const) {
  const at = (share: number): string => `${moments[Math.min(BURST - 1, Math.floor(BURST * share))] ?? 0} ms`;
  print(
    `${BURST} posts due in one second, ${what} after: first ${at(0)}, p50 ${at(0.5)}, p99 ${at(0.99)}, last ${at(1)}`,
  );
}
print(`processor time while they were handed over: ${burst.cpuMs} ms`);

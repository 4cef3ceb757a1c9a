import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "../../src/domain/ids.ts";
import { startPublisher } from "../../src/publishing/loop.ts";
import type { AppContext } from "../../src/context.ts";
import { openStore } from "../../src/store/open-store.ts";
import { systemClock } from "../../src/app/system-clock.ts";
import { createMemoryLogger, createTestContext } from "../../test/support/context.ts";
import { addAccount, addPost } from "../../test/support/publishing.ts";
import { scriptedPlatform } from "../../test/support/scripted-platform.ts";
import { rawOf } from "../../test/support/handles.ts";

/** What `bench/publish.ts` bundles and runs. */
const POSTS = Number(process.argv[2] ?? 1_000);

const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "posthorn-bench-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** All due on a whole second, as people schedule, and far enough ahead that the publisher is there before. */
async function fill(ctx: AppContext): Promise<void> {
  const raw = rawOf(ctx.store);
  raw.exec("PRAGMA synchronous = OFF");
  for (let n = 0; n < POSTS; n++) await addPost(ctx, await addAccount(ctx), { caption: `Post ${n}` });
  const dueAt = Math.ceil((Date.now() + 3_000) / 1_000) * 1_000;
  raw.prepare("UPDATE posts SET scheduled_at = ?, due_at = ?, next_at = ?").run([dueAt, dueAt, dueAt]);
  raw.exec("PRAGMA synchronous = FULL");
}

interface Run {
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

async function publish(): Promise<Run> {
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
        if (handedOver.length === POSTS) cpuMs = msOf(process.cpuUsage(cpuAtFirst));
        const id = await io.effect({
          step: "create",
          request: null,
          send: async () => {
            sent.push(Date.now() - post.scheduledAt);
            return post.id;
          },
          reconcile: async () => ({ outcome: "send_again" }),
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
    await fill(ctx);
    const publisher = await startPublisher(ctx, {
      identity: { role: "serve", host: "bench", pid: process.pid, version: "0" },
    });
    while (ended < POSTS) await systemClock.sleep(20);
    await publisher.close();
    await ctx[Symbol.asyncDispose]();
    return {
      handedOverMs: sorted(handedOver),
      sentMs: sorted(sent),
      cpuMs,
    };
  });
}

const run = await publish();
for (const [what, moments] of [
  ["handed over", run.handedOverMs],
  ["sent", run.sentMs],
] as const) {
  const at = (share: number): string => `${moments[Math.min(POSTS - 1, Math.floor(POSTS * share))] ?? 0} ms`;
  print(`${POSTS} posts due at one moment, ${what} after: p50 ${at(0.5)}, p99 ${at(0.99)}, last ${at(1)}`);
}
print(`processor time while they were handed over: ${run.cpuMs} ms`);

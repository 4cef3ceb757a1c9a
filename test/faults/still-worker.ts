import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import type { ThreadData } from "../../src/app/publishing/publisher-thread.ts";
import { startThreadedPublisher } from "../../src/app/publishing/threaded-publisher.ts";
import { systemClock } from "../../src/app/system-clock.ts";
import { newId } from "../../src/domain/ids.ts";
import { startPublisher } from "../../src/publisher/loop.ts";
import { openStore } from "../../src/store/open-store.ts";
import { createMemoryLogger, createTestContext } from "../support/context.ts";
import { rawOf } from "../support/handles.ts";
import { scriptedPlatform } from "../support/scripted-platform.ts";

/**
 * A publisher in a thread that stands still, once, in the middle of a post with such a caption; what goes out
 * is a line of the file `sent`. The watch over the thread goes by a clock that is ten times as fast. argv:
 * data folder, and how it stands still.
 */
const [folder = "", how = "spins"] = process.argv.slice(2);

const STANDSTILLS: Readonly<Record<string, () => void>> = {
  spins: () => {
    for (;;);
  },
  waits: () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
};

function standStillOnce(): void {
  const note = join(folder, "stood still");
  if (existsSync(note)) return;
  writeFileSync(note, "");
  STANDSTILLS[how]?.();
}

async function runThread(): Promise<void> {
  const ctx = await createTestContext({
    store: await openStore({ file: join(folder, "posthorn.db"), locks: join(folder, "workers") }),
    clock: systemClock,
    media: { forPost: () => ({}) as never, release: async () => {} },
    platformList: [
      scriptedPlatform({
        publish: async (post, io) => {
          const platformPostId = await io.effect<string>({
            step: "create",
            request: null,
            send: async () => {
              appendFileSync(join(folder, "sent"), `${post.caption}\n`);
              return post.id;
            },
            settle: async () => ({ outcome: "send_again" }),
          });
          await delay(100);
          if (post.caption === "stands still") standStillOnce();
          return { state: "live", platformPostId, platformUrl: null };
        },
      }),
    ],
    workerId: newId("wrk"),
  });
  const publisher = await startPublisher(ctx, {
    identity: { role: "serve", host: "test", pid: process.pid, version: "0" },
  });
  setInterval(() => parentPort?.postMessage({ isHealthy: publisher.isHealthy() }), 50);
  parentPort?.postMessage({ isHealthy: true });
  parentPort?.on("message", () => void publisher.close().then(() => process.exit(0)));
}

async function runProcess(): Promise<void> {
  const store = await openStore({ file: join(folder, "posthorn.db"), locks: join(folder, "workers") });
  const log = createMemoryLogger();
  const clock = {
    ...systemClock,
    after: (ms: number, work: () => void) => systemClock.after(ms / 10, work),
    sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 10, signal),
  };
  const ctx = await createTestContext({ store, log, clock });
  const links = { publicUrl: async () => "", wakePublisher: () => {} };
  const publisher = await startThreadedPublisher(
    { ...ctx, links },
    { startPublisher: () => new Worker(new URL(import.meta.url), { argv: process.argv.slice(2) }) },
    {} as ThreadData,
  );
  process.stdout.write("publishing\n");
  const timer = setInterval(() => {
    const sql = "SELECT 1 FROM posts WHERE next_at IS NOT NULL OR lease_worker IS NOT NULL";
    if (rawOf(store).prepare(sql).get([]) !== undefined) return;
    clearInterval(timer);
    const stood = log.lines.filter((line) => JSON.stringify(line).includes("stands still and is ended"));
    process.stdout.write(`ended ${stood.length}, healthy ${publisher.isHealthy()}\n`);
    void publisher.close(1_000).then(() => process.exit(0));
  }, 20);
}

await (isMainThread ? runProcess() : runThread());

import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import type { ThreadData } from "../../../src/app/publishing/publisher-thread.ts";
import { startThreadedPublisher } from "../../../src/app/publishing/threaded-publisher.ts";
import { createTestContext } from "../../support/context.ts";

const DATA = {} as ThreadData;

/** Threads that say they are healthy and then do what the test wants; `seen` collects what they were told. */
function threads(...scripts: readonly string[]) {
  const started: Worker[] = [];
  return {
    started,
    start: (): Worker => {
      const script = scripts[Math.min(started.length, scripts.length - 1)] ?? "";
      const worker = new Worker(
        `const { parentPort, threadId } = require("node:worker_threads"); ${script}`,
        { eval: true },
      );
      started.push(worker);
      return worker;
    },
  };
}

const OBEDIENT = `
  parentPort.postMessage({ isHealthy: true });
  parentPort.on("message", (message) => { if (message.type === "close") parentPort.close(); });`;
const DYING = `parentPort.postMessage({ isHealthy: true }); parentPort.on("message", () => { throw new Error("out of luck"); });`;
const DEAF = `parentPort.postMessage({ isHealthy: true }); setInterval(() => {}, 1000);`;

describe("a publisher in a thread", () => {
  it("is healthy while the thread says so, and closes with it", async () => {
    await using ctx = await createTestContext();
    const pool = threads(OBEDIENT);
    const publisher = await startThreadedPublisher(
      { ...ctx, links: { ...LINKS } },
      { startPublisher: pool.start },
      DATA,
    );
    expect(publisher.isHealthy()).toBe(true);
    await ctx.clock.advance(16_000);
    expect(publisher.isHealthy()).toBe(false);
    await publisher.close();
    expect(pool.started[0]!.threadId).toBe(-1);
  });

  it("starts a thread again that died, and wakes the new one", async () => {
    await using ctx = await createTestContext();
    const pool = threads(DYING, OBEDIENT);
    const publisher = await startThreadedPublisher(
      { ...ctx, links: { ...LINKS } },
      { startPublisher: pool.start },
      DATA,
    );
    publisher.wake();
    await expect.poll(() => publisher.isHealthy()).toBe(false);
    await ctx.clock.advance(1_000);
    await expect.poll(() => publisher.isHealthy()).toBe(true);
    publisher.wake();
    await publisher.close();
    expect(pool.started).toHaveLength(2);
  });

  it("says why it could not start", async () => {
    await using ctx = await createTestContext();
    const start = (script: string) =>
      startThreadedPublisher(
        { ...ctx, links: { ...LINKS } },
        { startPublisher: threads(script).start },
        DATA,
      );
    await expect(start(`throw new Error("no database")`)).rejects.toThrow("no database");
    await expect(start(`process.exit(0)`)).rejects.toThrow("ended before it published");
  });

  it("ends a thread that does not listen", async () => {
    await using ctx = await createTestContext();
    const pool = threads(DEAF);
    const publisher = await startThreadedPublisher(
      { ...ctx, links: { ...LINKS } },
      { startPublisher: pool.start },
      DATA,
    );
    const closed = publisher.close(500);
    await expect.poll(() => ctx.clock.sleepers).toBe(1);
    await ctx.clock.advance(2_500);
    await closed;
    expect(pool.started[0]!.threadId).toBe(-1);
  });
});

const LINKS = { publicUrl: async () => "http://localhost:4747", wakePublisher: () => {} };

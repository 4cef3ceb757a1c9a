import { describe, expect, it } from "vitest";
import { supervise } from "../../src/publishing/workers.ts";
import { runPublisher } from "../../src/publishing/running-publisher.ts";
import { createTestContext } from "../support/context.ts";
import { queryOf } from "../support/handles.ts";
import { IN_FOLDER } from "../../src/store/engine/capabilities.ts";

const REASON = new Error("The server does not answer.");

/** Something that can be lost, with what happened to it. */
function losable(failures = 0) {
  const events: string[] = [];
  const losses: (() => void)[] = [];
  let begun = 0;
  return {
    events,
    lose: () => losses.at(-1)?.(),
    begin: async (onLost: (reason: Error) => void) => {
      const n = ++begun;
      if (n > 1 && n <= 1 + failures) throw new Error("No database.");
      losses.push(() => onLost(REASON));
      events.push(`begin ${n}`);
      return { n, close: async (graceMs?: number) => void events.push(`close ${n} ${graceMs}`) };
    },
  };
}

describe("what is kept up", () => {
  it("begins again each time that it is lost, as soon as that works", async () => {
    await using ctx = await createTestContext();
    const part = losable(2);
    const kept = await supervise(ctx, part.begin);
    expect(kept.current()?.n).toBe(1);
    part.lose();
    await expect.poll(() => ctx.clock.sleepers).toBe(1);
    expect(kept.current()).toBe(null);
    await ctx.clock.advance(1_000);
    await expect.poll(() => ctx.clock.sleepers).toBe(1);
    await ctx.clock.advance(1_000);
    await expect.poll(() => kept.current()?.n).toBe(4);
    part.lose();
    await expect.poll(() => kept.current()?.n).toBe(5);
    await kept.close(77);
    expect(part.events).toEqual(["begin 1", "close 1 0", "begin 4", "close 4 0", "begin 5", "close 5 77"]);
  });

  it("ends while it tries", async () => {
    await using ctx = await createTestContext();
    const part = losable(Infinity);
    const kept = await supervise(ctx, part.begin);
    part.lose();
    await expect.poll(() => ctx.clock.sleepers).toBe(1);
    await kept.close();
    expect(part.events).toEqual(["begin 1", "close 1 0"]);
    expect(ctx.clock.sleepers).toBe(0);
  });

  it("says why it cannot begin at all", async () => {
    await using ctx = await createTestContext();
    await expect(supervise(ctx, () => Promise.reject(new Error("No database.")))).rejects.toThrow(
      "No database.",
    );
  });
});

describe("the publisher of a process", () => {
  it("begins again under another id, and is not healthy in between", async () => {
    await using base = await createTestContext();
    const held: string[] = [];
    const losses: (() => void)[] = [];
    let mayHold = true;
    const liveness: typeof base.store.liveness = {
      clock: null,
      hold: async (workerId, onLost) => {
        if (!mayHold) throw new Error("No database.");
        held.push(workerId);
        losses.push(() => onLost(REASON));
        return { release: async () => {} };
      },
      check() {},
      hasEnded: () => false,
      listDead: async () => [],
    };
    const links = { publicUrl: async () => "http://localhost:4747", wakePublisher: () => {} };
    // As on one machine, where nothing is noted of the database's generation.
    const ctx = { ...base, store: { ...base.store, capabilities: IN_FOLDER, liveness }, links };
    const publisher = await runPublisher(
      ctx,
      "/nowhere/generation",
      { host: "test", pid: 1, role: "serve" },
      {
        startEvents: () => ({ wake: () => {}, close: async () => {} }),
        jobs: [],
      },
    );
    expect(publisher.isHealthy()).toBe(true);
    mayHold = false;
    losses[0]!();
    await expect.poll(() => publisher.isHealthy()).toBe(false);
    mayHold = true;
    await expect
      .poll(async () => {
        await ctx.clock.advance(1_000);
        return publisher.isHealthy();
      })
      .toBe(true);
    await publisher.close();
    expect(new Set([...held, ctx.workerId]).size).toBe(3);
    // The first one stays in the list for whoever takes over from it.
    expect(await queryOf(ctx.store).selectFrom("workers").select("id").execute()).toEqual([{ id: held[0] }]);
  });
});

import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../src/domain/time.ts";
import { startMaintenance } from "../../src/publishing/running-publisher.ts";
import { createTestContext, isOnPostgres } from "../support/context.ts";
import { addAccount } from "../support/publishing.ts";
import { scriptedPlatform } from "../support/scripted-platform.ts";

it.skipIf(isOnPostgres)(
  "asks the platforms about their accounts soon after the start, and once a day from then on",
  async () => {
    const asked: number[] = [];
    const platform = scriptedPlatform({
      publish: async () => ({ state: "live", platformPostId: "1", platformUrl: null }),
      inspect: async (io) => {
        asked.push(io.now());
        return { problem: null };
      },
    });
    await using ctx = await createTestContext({ platformList: [platform], feed: {} as never });
    for (let account = 0; account < 3; account += 1) await addAccount(ctx);
    const startedAt = ctx.clock.now();
    const maintenance = startMaintenance(ctx, { random: () => 0.5 });
    await ctx.clock.advance(MINUTE);
    await expect.poll(() => asked.length).toBe(3);
    for (let pass = 0; pass < 23; pass += 1) await ctx.clock.advance(HOUR);
    expect(asked).toHaveLength(3);
    for (let pass = 0; pass < 3; pass += 1) {
      await ctx.clock.advance(HOUR);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await expect.poll(() => asked.length).toBe(6);
    expect(asked.at(-1)! - startedAt).toBeGreaterThan(DAY);
    maintenance.close();
  },
);

it.skipIf(isOnPostgres)("goes on with its other jobs, and at the next pass, when one fails", async () => {
  await using ctx = await createTestContext();
  const runs: string[] = [];
  const job = (name: string, work: () => void) => ({
    name,
    everyMs: HOUR,
    run: async () => {
      runs.push(name);
      work();
    },
  });
  const broken = job("broken", () => {
    throw new Error("It broke.");
  });
  const maintenance = startMaintenance(ctx, { jobs: [broken, job("whole", () => {})], random: () => 0 });
  await ctx.clock.advance(MINUTE);
  await expect.poll(() => runs.length).toBe(2);
  await ctx.clock.advance(HOUR);
  await expect.poll(() => runs.toSorted()).toEqual(["broken", "broken", "whole", "whole"]);
  expect(ctx.log.text()).toContain("It broke.");
  maintenance.close();
  await ctx.clock.advance(2 * HOUR);
  expect(runs).toHaveLength(4);
});

import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/app/system-clock.ts";
import { newId } from "../../../src/domain/ids.ts";
import { MINUTE } from "../../../src/domain/time.ts";
import { startPublisher } from "../../../src/publisher/loop.ts";
import { createTestContext } from "../../support/context.ts";
import { createDatabase } from "../../support/postgres.ts";
import { openStoreOn } from "../../support/postgres-store.ts";
import { addAccount, addPost, readPost } from "../../support/publishing.ts";
import { scriptedPlatform } from "../../support/scripted-platform.ts";

describe("a host whose clock is wrong", () => {
  it.each([-3 * MINUTE, 3 * MINUTE])("by %d ms sends neither early nor late", async (by) => {
    await using database = await createDatabase();
    const machine = { ...systemClock, now: () => systemClock.now() + by };
    const store = await openStoreOn(database.url, { clock: machine });
    const sentAt: number[] = [];
    await using ctx = await createTestContext({
      store,
      clock: store.liveness.clock!,
      workerId: newId("wrk"),
      platformList: [
        scriptedPlatform({
          publish: async (post) => {
            sentAt.push(Date.now());
            return { state: "live", platformPostId: post.id, platformUrl: null };
          },
        }),
      ],
      media: { forPost: () => ({}) as never, release: async () => {} },
    });
    const dueAt = Date.now() + 1_500;
    const post = await addPost(ctx, await addAccount(ctx), { scheduled_at: dueAt });
    const identity = { role: "serve", host: "test", pid: process.pid, version: "0" } as const;
    const publisher = await startPublisher(ctx, { identity });
    try {
      await expect
        .poll(async () => (await readPost(ctx, post.id)).status, { timeout: 10_000 })
        .toBe("published");
      // Both clocks are this machine's: what lies between them is what was measured wrongly.
      expect(sentAt[0]).toBeGreaterThanOrEqual(dueAt - 20);
      expect(sentAt[0]).toBeLessThan(dueAt + 1_000);
    } finally {
      await publisher.close();
    }
  });
});

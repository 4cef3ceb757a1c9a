import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { newId } from "../../src/domain/ids.ts";
import { startPublisher } from "../../src/publisher/loop.ts";
import { openStore } from "../../src/store/open-store.ts";
import { systemClock } from "../../src/app/system-clock.ts";
import { createTestContext } from "../support/context.ts";
import { queryOf, rawOf } from "../support/handles.ts";
import { addAccount, addPost } from "../support/publishing.ts";
import { scriptedPlatform } from "../support/scripted-platform.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

describe("an owner whose receivers never answer", () => {
  it.each([
    ["text", 2_100, {}],
    ["media", 540, { media_url: "https://example.com/a.png", is_light: 0 }],
  ] as const)("holds up nobody else, with posts of %s on %d channels", async (_, channels, columns) => {
    using folder = temporaryFolder();
    let letGo = (): void => {};
    const silence = new Promise<void>((resolve) => (letGo = resolve));
    await using ctx = await createTestContext({
      store: await openStore({ file: join(folder.path, "posthorn.db"), locks: join(folder.path, "workers") }),
      clock: systemClock,
      platformList: [
        scriptedPlatform({
          publish: async (post) => {
            if (post.caption === "silent") await silence;
            return { state: "live", platformPostId: post.id, platformUrl: null };
          },
        }),
      ],
      media: { forPost: () => ({}) as never, release: async () => {} },
      workerId: newId("wrk"),
    });
    rawOf(ctx.store).exec("PRAGMA synchronous = OFF");
    const dueAt = Date.now() - 1_000;
    for (let at = 0; at < channels; at += 1) {
      const account = await addAccount(ctx, { owner_id: "bob" });
      await addPost(ctx, account, { ...columns, caption: "silent", scheduled_at: dueAt });
    }
    const mine = await addAccount(ctx, { owner_id: "alice" });
    const { id } = await addPost(ctx, mine, { ...columns, scheduled_at: dueAt + 500 });
    const identity = { role: "serve", host: "test", pid: process.pid, version: "0" } as const;
    const publisher = await startPublisher(ctx, { identity });
    try {
      const posts = queryOf(ctx.store).selectFrom("posts");
      const mineNow = posts.select("status").where("id", "=", id);
      await expect
        .poll(async () => (await mineNow.executeTakeFirstOrThrow()).status, { timeout: 20_000 })
        .toBe("published");
      const underWay = posts.select("id").where("lease_worker", "is not", null);
      const held = (await underWay.execute()).length;
      expect(held).toBeGreaterThan(channels / 2);
      expect(held).toBeLessThan(channels);
    } finally {
      letGo();
      await publisher.close();
    }
  });
});

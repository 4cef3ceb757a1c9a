import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { newId } from "../../src/domain/ids.ts";
import { startPublisher, type Publisher } from "../../src/publishing/loop.ts";
import type { AppContext } from "../../src/context.ts";
import { openStore } from "../../src/store/open-store.ts";
import { systemClock } from "../../src/app/system-clock.ts";
import { createTestContext } from "../support/context.ts";
import { addAccount, addPost, readPost } from "../support/publishing.ts";
import { scriptedPlatform } from "../support/scripted-platform.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { queryOf, rawOf } from "../support/handles.ts";

const IDENTITY = { role: "serve", host: "test", pid: process.pid, version: "0" } as const;

async function open(
  folder: string,
  publish: Parameters<typeof scriptedPlatform>[0]["publish"],
): Promise<AppContext & AsyncDisposable> {
  return createTestContext({
    store: await openStore({ file: join(folder, "posthorn.db"), locks: join(folder, "workers") }),
    clock: systemClock,
    platformList: [scriptedPlatform({ publish })],
    media: { forPost: () => ({}) as never, release: async () => {} },
    workerId: newId("wrk"),
  });
}

const start = (ctx: AppContext): Promise<Publisher> => startPublisher(ctx, { identity: IDENTITY });

describe("the publisher", () => {
  it("sends a post at its moment between two ticks, never before it", async () => {
    using folder = temporaryFolder();
    const early: number[] = [];
    await using ctx = await open(folder.path, async (post, io) => {
      if (io.now() < post.scheduledAt) early.push(io.now());
      return { state: "live", platformPostId: post.id, platformUrl: null };
    });
    const account = await addAccount(ctx);
    const posts: { id: string }[] = [];
    for (const after of [137, 311, 498, 733])
      posts.push(await addPost(ctx, account, { scheduled_at: Date.now() + after }));
    const publisher = await start(ctx);
    try {
      await expect
        .poll(
          async () =>
            (await Promise.all(posts.map((post) => readPost(ctx, post.id)))).every(
              (row) => row.status === "published",
            ),
          {
            timeout: 10_000,
          },
        )
        .toBe(true);
      expect(early).toEqual([]);
      expect(publisher.isHealthy()).toBe(true);
    } finally {
      await publisher.close();
    }
    expect(await queryOf(ctx.store).selectFrom("workers").selectAll().execute()).toEqual([]);
  });

  it("hands over many posts that are due at one moment in their order, each once, and sends them all", async () => {
    using folder = temporaryFolder();
    const handedOver: string[] = [];
    const sent: string[] = [];
    await using ctx = await open(folder.path, async (post, io) => {
      handedOver.push(post.id);
      const id = await io.effect({
        step: "create",
        request: null,
        send: async () => {
          sent.push(post.id);
          return post.id;
        },
        reconcile: async () => ({ outcome: "unknown", reason: "never asked" }),
      });
      return { state: "live", platformPostId: id, platformUrl: null };
    });
    const posts: string[] = [];
    const dueAt = Date.now() + 3_000;
    rawOf(ctx.store).exec("PRAGMA synchronous = OFF");
    for (let n = 0; n < 700; n++)
      posts.push((await addPost(ctx, await addAccount(ctx), { scheduled_at: dueAt })).id);
    rawOf(ctx.store).exec("PRAGMA synchronous = FULL");
    const publisher = await start(ctx);
    try {
      const count = queryOf(ctx.store)
        .selectFrom("posts")
        .select((eb) => eb.fn.countAll<number>().as("n"));
      const live = count.where("status", "=", "published").where("attempts", "=", 1);
      await expect.poll(async () => (await live.executeTakeFirstOrThrow()).n, { timeout: 20_000 }).toBe(700);
      expect(handedOver).toEqual(posts);
      expect([...sent].sort()).toEqual([...posts].sort());
    } finally {
      await publisher.close();
    }
  });

  it("wakes for the next moment although a post before it waits for its channel", async () => {
    using folder = temporaryFolder();
    await using ctx = await open(folder.path, async (post) => ({
      state: "live",
      platformPostId: post.id,
      platformUrl: null,
    }));
    await addPost(ctx, await addAccount(ctx, { status: "reconnect_required" }), {
      scheduled_at: Date.now() - 1_000,
    });
    const account = await addAccount(ctx);
    const timers = vi.spyOn(globalThis, "setTimeout");
    const post = await addPost(ctx, account, { scheduled_at: Date.now() + 600 });
    const publisher = await start(ctx);
    const waits = timers.mock.calls.map(([, wait]) => wait);
    timers.mockRestore();
    try {
      expect(waits.some((wait) => wait !== undefined && wait > 0 && wait <= 600)).toBe(true);
      await expect
        .poll(async () => (await readPost(ctx, post.id)).status, { timeout: 10_000 })
        .toBe("published");
    } finally {
      await publisher.close();
    }
  });

  it("is stopped in the middle: the next process goes on where it was, once", async () => {
    using folder = temporaryFolder();
    let sent = 0;
    const publish: Parameters<typeof scriptedPlatform>[0]["publish"] = async (post, io) => {
      const id = await io.effect({
        step: "create",
        request: null,
        send: async () => {
          sent += 1;
          return post.id;
        },
        reconcile: async () => ({ outcome: "unknown", reason: "never asked" }),
      });
      // The first process hangs here until it is stopped.
      if (sent === 1 && !io.signal.aborted && !isSecond) {
        await new Promise((_resolve, reject) =>
          io.signal.addEventListener("abort", () => reject(io.signal.reason as Error)),
        );
      }
      return { state: "live", platformPostId: id, platformUrl: null };
    };
    let isSecond = false;
    await using ctx = await open(folder.path, publish);
    const post = await addPost(ctx, await addAccount(ctx), { scheduled_at: Date.now() - 10 });
    const first = await start(ctx);
    await expect.poll(() => sent, { timeout: 10_000 }).toBe(1);
    await first.close(10);
    expect(await readPost(ctx, post.id)).toMatchObject({
      status: "publishing",
      lease_worker: null,
      in_doubt: 0,
    });
    isSecond = true;
    await using again = await open(folder.path, publish);
    const second = await start(again);
    try {
      await expect
        .poll(async () => (await readPost(again, post.id)).status, { timeout: 10_000 })
        .toBe("published");
      expect(sent).toBe(1);
    } finally {
      await second.close();
    }
  });
});

import { once } from "node:events";
import { Cron } from "croner";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SECOND } from "../../src/domain/time.ts";
import { startPublisher, type Publisher } from "../../src/publishing/loop.ts";
import type { Store } from "../../src/store/engine/store.ts";
import { createTestContext, isOnPostgres, type TestContext } from "../support/context.ts";
import { queryOf } from "../support/handles.ts";
import { addAccount, addPost, readPost } from "../support/publishing.ts";
import { scriptedPlatform } from "../support/scripted-platform.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// No second goes by: what is sent is sent because somebody woke the publisher, or by its own timer. The module itself
// is not mocked: the publisher that is loaded with a mock stays loaded for the other files of this process.
const planTick = vi.spyOn(Cron.prototype as unknown as { _schedule: () => Cron }, "_schedule");
const tick = (): Promise<void> => (planTick.mock.contexts.at(-1) as Cron).trigger();

afterAll(() => planTick.mockRestore());

let folder: ReturnType<typeof temporaryFolder>;
let ctx: TestContext;
let publisher: Publisher | null;
/** Called in the middle of a look, with what is asked for. */
let onLook: (question: "nextAfter" | "claim", moment: number) => Promise<void>;
let onPublish: (postId: string) => Promise<unknown>;

beforeEach(async () => {
  planTick.mockReset().mockReturnThis();
  folder = temporaryFolder();
  publisher = null;
  onLook = async () => {};
  onPublish = async () => {};
  const base = await createTestContext({
    platformList: [
      scriptedPlatform({
        publish: async (post, io) => {
          if (post.caption === "hangs") await once(io.signal, "abort");
          await onPublish(post.id);
          return { state: "live", platformPostId: post.id, platformUrl: null };
        },
      }),
    ],
    media: { forPost: () => ({}) as never, release: async () => {} },
  });
  const { claims } = base.store;
  const watched: Store["claims"] = {
    ...claims,
    nextAfter: async (moment) => {
      const next = await claims.nextAfter(moment);
      await onLook("nextAfter", moment);
      return next;
    },
    claim: async (wish) => {
      const claimed = await claims.claim(wish);
      await onLook("claim", 0);
      return claimed;
    },
  };
  ctx = { ...base, store: { ...base.store, claims: watched } };
});
afterEach(async () => {
  await publisher?.close(10);
  await ctx[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function start(): Promise<Publisher> {
  publisher = await startPublisher(ctx, {
    identity: { role: "serve", host: "test", pid: process.pid, version: "0" },
  });
  expect(planTick).toHaveBeenCalledOnce();
  return publisher;
}

const isPublished = (id: string): Promise<void> =>
  expect
    .poll(async () => (await readPost(ctx, id)).status, { timeout: 3_000, interval: 10 })
    .toBe("published");

/** A wish to look that comes once at that moment, together with a post. */
function wakeAt(moment: (question: "nextAfter" | "claim", moment: number) => boolean): Promise<string> {
  return new Promise((resolve) => {
    onLook = async (question, at) => {
      if (!moment(question, at)) return;
      onLook = async () => {};
      const post = await addPost(ctx, await addAccount(ctx));
      publisher?.wake();
      resolve(post.id);
    };
  });
}

describe.skipIf(isOnPostgres)("a look for due posts", () => {
  it.each([
    [
      "has just seen that nothing is due",
      (question: string, at: number) => question === "nextAfter" && at === 0,
    ],
    ["sets its timer", (question: string, at: number) => question === "nextAfter" && at > 0],
    ["claims what is due", (question: string) => question === "claim"],
  ])("is taken again after one that %s when it is asked for", async (_what, moment) => {
    const running = await start();
    // Where something is taken up, its end brings the next look by itself: then it hangs until the test is
    // over.
    if (!moment("nextAfter", 0)) await addPost(ctx, await addAccount(ctx), { caption: "hangs" });
    const asked = wakeAt(moment);
    running.wake();
    await isPublished(await asked);
  });

  it("is taken again at the very end of one", async () => {
    const running = await start();
    for (let turn = 0; turn < 40; turn++) {
      running.wake();
      // After another number of turns each time: some of them hit the end.
      for (let n = 0; n < turn; n++) await Promise.resolve();
      const post = await addPost(ctx, await addAccount(ctx));
      running.wake();
      await isPublished(post.id);
    }
  });

  it("that fails does not keep later ones from being taken", async () => {
    const running = await start();
    const post = await addPost(ctx, await addAccount(ctx));
    let failures = 1;
    onLook = async () => {
      if (failures-- > 0) throw new Error("The disk is full.");
    };
    running.wake();
    await expect.poll(() => ctx.log.text()).toContain("The disk is full.");
    running.wake();
    await isPublished(post.id);
  });

  it("comes by a timer for a moment between two seconds, and never before it", async () => {
    const running = await start();
    const post = await addPost(ctx, await addAccount(ctx), { scheduled_at: ctx.clock.now() + 30 });
    running.wake();
    // The timer fires, but the clock is behind it.
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await readPost(ctx, post.id)).attempts).toBe(0);
    await ctx.clock.advance(29);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await readPost(ctx, post.id)).attempts).toBe(0);
    await ctx.clock.advance(1);
    await isPublished(post.id);
  });

  it("takes up an account's posts in their order, one after the other, without a second in between", async () => {
    const order: string[] = [];
    const running = await start();
    const account = await addAccount(ctx);
    const now = ctx.clock.now();
    const posts: string[] = [];
    for (const ago of [3, 1, 2, 5, 4])
      posts[5 - ago] = (await addPost(ctx, account, { scheduled_at: now - ago })).id;
    let inFlight = 0;
    onPublish = async (id) => {
      order.push(id);
      expect(++inFlight).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      inFlight -= 1;
    };
    running.wake();
    for (const id of posts) await isPublished(id);
    expect(order).toEqual(posts);
  });

  it(
    "leaves what is beyond 1,024 posts, and claims it as places become free",
    { timeout: 60_000 },
    async () => {
      let running = 0;
      let most = 0;
      const waiting: (() => void)[] = [];
      onPublish = async () => {
        most = Math.max(most, ++running);
        await new Promise<void>((resolve) => waiting.push(resolve));
        running -= 1;
      };
      for (let n = 0; n < 1_036; n++) await addPost(ctx, await addAccount(ctx));
      await start();
      await expect.poll(() => waiting.length, { timeout: 30_000 }).toBe(1_024);
      publisher?.wake();
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(most).toBe(1_024);
      onPublish = async () => {};
      for (const finish of waiting.splice(0)) finish();
      const left = queryOf(ctx.store).selectFrom("posts").select("id").where("status", "<>", "published");
      await expect.poll(async () => (await left.execute()).length, { timeout: 30_000 }).toBe(0);
    },
  );
});

describe.skipIf(isOnPostgres)("closing", () => {
  it("in the middle of a look finishes what was taken up, sets no timer and takes nothing after that", async () => {
    const running = await start();
    const first = await addPost(ctx, await addAccount(ctx));
    const soon = await addPost(ctx, await addAccount(ctx), { scheduled_at: ctx.clock.now() + 20 });
    let closed: Promise<void> | null = null;
    onLook = async (question) => {
      if (question === "claim") closed ??= running.close();
      await new Promise((resolve) => setImmediate(resolve));
    };
    running.wake();
    await expect.poll(() => closed).not.toBe(null);
    await closed;
    publisher = null;
    expect((await readPost(ctx, first.id)).status).toBe("published");
    const timers = vi.spyOn(globalThis, "setTimeout");
    await ctx.clock.advance(SECOND);
    running.wake();
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(timers).not.toHaveBeenCalled();
    timers.mockRestore();
    expect(await readPost(ctx, soon.id)).toMatchObject({ status: "scheduled", attempts: 0 });
  });

  it("waits for a tick that is under way, which may still write", async () => {
    const running = await start();
    let goOn = (): void => {};
    let isInTick = false;
    ctx.store.tidy = async () => {
      isInTick = true;
      await new Promise<void>((resolve) => (goOn = resolve));
    };
    await ctx.clock.advance(10 * SECOND);
    const ticking = tick();
    await expect.poll(() => isInTick).toBe(true);
    let isClosed = false;
    const closing = running.close().then(() => (isClosed = true));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(isClosed).toBe(false);
    goOn();
    await Promise.all([ticking, closing]);
    publisher = null;
    expect(ctx.log.lines.filter(({ level }) => level === "error")).toEqual([]);
  });
});

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/domain/ids.ts";
import { LATE_CAUSES, type LateCause } from "../../src/domain/posts/post.ts";
import { MINUTE, SECOND, toIso } from "../../src/domain/time.ts";
import { PlatformFault } from "../../src/ports/platform-io.ts";
import type { PublishIo } from "../../src/ports/publish-io.ts";
import { startPublisher, type Publisher } from "../../src/publishing/loop.ts";
import { connectChannel } from "../../src/channels/connecting/connections.ts";
import { getPost } from "../../src/posts/posts.ts";
import { callOf, createTestContext, isOnPostgres, type TestContext } from "../support/context.ts";
import { queryOf } from "../support/handles.ts";
import { createMemoryMedia } from "../support/memory-media.ts";
import { addAccount, addPost, readPost } from "../support/publishing.ts";
import { scriptedPlatform, TEXT_CAPABILITIES } from "../support/scripted-platform.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const PICTURE = "https://media.example/1.png";
const IMAGE = { kind: "image" as const, mimeTypes: ["image/png"], maxItems: 1, maxBytes: null };
const ACCEPTED = { ...IMAGE, maxSeconds: null, minAspectRatio: null, maxAspectRatio: null };

let folder: ReturnType<typeof temporaryFolder>;
let ctx: TestContext;
let publishers: Publisher[];
/** What the platform does before it shows a post. */
let onPublish: (postId: string, io: PublishIo) => Promise<unknown>;
/** What getting a picture takes. */
let mediaMs: number;
/** The causes that the tests have seen. */
const seen = new Set<LateCause | null>();

beforeEach(async () => {
  folder = temporaryFolder();
  publishers = [];
  onPublish = async () => {};
  mediaMs = 0;
  const source = createMemoryMedia(new Map([[PICTURE, { bytes: Buffer.from("1"), mimeType: "image/png" }]]));
  ctx = await createTestContext({
    platformList: [
      scriptedPlatform({
        capabilities: { ...TEXT_CAPABILITIES, media: { required: false, maxItems: 1, accepts: [ACCEPTED] } },
        publish: async (post, io) => {
          if (post.mediaUrl !== "") await io.media.item(post.mediaUrl);
          await onPublish(post.id, io);
          return { state: "live", platformPostId: post.id, platformUrl: null };
        },
      }),
    ],
    media: {
      ...source,
      forPost: (...of) => {
        const media = source.forPost(...of);
        return {
          ...media,
          item: async (...item) => {
            await ctx.clock.advance(mediaMs);
            return media.item(...item);
          },
        };
      },
    },
    wakePublisher: () => publishers.forEach((one) => one.wake()),
  });
});
afterEach(async () => {
  for (const publisher of publishers) await publisher.close(10);
  await ctx[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function start(): Promise<Publisher> {
  const publisher = await startPublisher(
    { ...ctx, workerId: newId("wrk") },
    {
      identity: { role: "serve", host: "test", pid: process.pid, version: "0" },
    },
  );
  publishers.push(publisher);
  return publisher;
}

async function stop(publisher: Publisher): Promise<void> {
  publishers = publishers.filter((one) => one !== publisher);
  await publisher.close();
}

/** Lets the publisher look at what is due now, and do what it can. */
async function look(): Promise<void> {
  for (const publisher of publishers) publisher.wake();
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
  // Its answers come from another process, which no number of turns brings.
  if (isOnPostgres) await new Promise((resolve) => setTimeout(resolve, 500));
}

async function after(ms: number): Promise<void> {
  await ctx.clock.advance(ms);
  await look();
}

/** The causes of a post's attempts, as its callers see them. */
async function causesOf(id: string): Promise<(LateCause | null)[]> {
  const { history = [] } = await getPost(callOf(ctx), { id, history: true });
  const causes = history.map(({ lateCause }) => lateCause);
  for (const cause of causes) seen.add(cause);
  return causes;
}

async function published(id: string): Promise<(LateCause | null)[]> {
  await expect.poll(async () => (await readPost(ctx, id)).status, { timeout: 5_000 }).toBe("published");
  return causesOf(id);
}

/** A post on a channel of its own, or on the given one. */
async function due(inMs: number, row: Parameters<typeof addPost>[2] = {}, account?: object): Promise<string> {
  const on = (account as Awaited<ReturnType<typeof addAccount>> | undefined) ?? (await addAccount(ctx));
  return (await addPost(ctx, on, { scheduled_at: ctx.clock.now() + inMs, ...row })).id;
}

describe("what made a post late", () => {
  it("is nothing where it is less than a second late", async () => {
    await start();
    const posts = [await due(10 * SECOND), await due(9 * SECOND + 1)];
    await after(10 * SECOND);
    for (const id of posts) expect(await published(id)).toEqual([null]);
  });

  it("no_worker: it was due before anything ever ran", async () => {
    const id = await due(-3 * SECOND);
    await start();
    expect(await published(id)).toEqual(["no_worker"]);
  });

  it("no_worker: it was due while nothing ran", async () => {
    await stop(await start());
    const id = await due(10 * SECOND);
    await ctx.clock.advance(40 * SECOND);
    await start();
    expect(await published(id)).toEqual(["no_worker"]);
  });

  it.each([40 * SECOND, 10 * MINUTE])("no_worker: the machine slept for %i ms", async (ms) => {
    await start();
    const id = await due(5 * SECOND);
    ctx.clock.jumpTo(toIso(ctx.clock.now() + ms));
    await look();
    await after(10 * SECOND);
    expect(await published(id)).toEqual(["no_worker"]);
  });

  it("account_busy: the channel's post before it took long", async () => {
    let finish = (): void => {};
    onPublish = () => new Promise<void>((resolve) => (finish = resolve));
    await start();
    const account = await addAccount(ctx);
    const first = await due(0, {}, account);
    const second = await due(SECOND, {}, account);
    await look();
    await after(6 * SECOND);
    onPublish = async () => {};
    finish();
    expect(await published(first)).toEqual([null]);
    expect(await published(second)).toEqual(["account_busy"]);
  });

  it("spacing: it was left over from downtime, and not the first", async () => {
    await stop(await start());
    const account = await addAccount(ctx);
    const posts = [await due(0, {}, account), await due(SECOND, {}, account)];
    await ctx.clock.advance(5 * MINUTE);
    await start();
    expect(await published(posts[0]!)).toEqual(["no_worker"]);
    await after(30 * SECOND);
    expect(await published(posts[1]!)).toEqual(["spacing"]);
  });

  it("rate_limit: the platform asked for a pause, of its own try or of another's", async () => {
    let isFirst = true;
    onPublish = async () => {
      if (!isFirst) return;
      isFirst = false;
      throw new PlatformFault("rate", "Slow down.", { retryAfterMs: 10 * SECOND });
    };
    await start();
    const account = await addAccount(ctx);
    const own = await due(0, {}, account);
    const other = await due(5 * SECOND, {}, account);
    await look();
    await after(10 * SECOND);
    expect(await published(own)).toEqual([null, "rate_limit"]);
    expect(await published(other)).toEqual(["rate_limit"]);
  });

  it("retry and order: its own try failed, and the post behind it had to wait for that", async () => {
    let isFirst = true;
    onPublish = async () => {
      if (!isFirst) return;
      isFirst = false;
      throw new PlatformFault("transient", "It broke.");
    };
    await start();
    const account = await addAccount(ctx);
    const head = await due(0, {}, account);
    const next = await due(1, {}, account);
    await look();
    await after(5 * SECOND);
    expect(await published(head)).toEqual([null, "retry"]);
    expect(await published(next)).toEqual(["order"]);
  });

  it("media: it was taken up in time, and its media took most of what it is late", async () => {
    await start();
    mediaMs = 5 * SECOND;
    const id = await due(0, { media_url: PICTURE });
    await look();
    expect(await published(id)).toEqual(["media"]);
    mediaMs = SECOND;
    onPublish = () => ctx.clock.advance(2 * SECOND);
    const slow = await due(0, { media_url: PICTURE });
    await look();
    expect(await published(slow)).toEqual([null]);
  });

  it("media: in the last attempt of a post that was prepared ahead, too", async () => {
    await start();
    const id = await due(MINUTE, { media_url: PICTURE, status: "scheduled", attempts: 1 });
    const attempt = { owner_id: "default", post_id: id, number: 1, run: 1, worker_id: "wrk_1" };
    const now = ctx.clock.now();
    await queryOf(ctx.store).updateTable("posts").set({ due_at: now }).where("id", "=", id).execute();
    const times = { lateness_ms: 0, late_cause: null, started_at: now, finished_at: now };
    await queryOf(ctx.store)
      .insertInto("attempts")
      .values({ id: newId("att"), ...attempt, ...times, outcome: "waiting", error: null })
      .execute();
    mediaMs = 5 * SECOND;
    await after(MINUTE);
    expect(await published(id)).toEqual(["media"]);
  });

  it("clock: the clock went back, and posts waited until it had caught up", async () => {
    await start();
    ctx.clock.jumpTo(toIso(ctx.clock.now() - 5 * SECOND));
    const id = await due(0);
    await look();
    expect((await readPost(ctx, id)).status).toBe("scheduled");
    await after(5 * SECOND);
    expect(await published(id)).toEqual(["clock"]);
  });

  it("limit: more bring media than one process sends at a time; text is not held up", async () => {
    let finish = (): void => {};
    const hangs = new Promise<void>((resolve) => (finish = resolve));
    let sending = 0;
    onPublish = () => ((sending += 1), hangs);
    for (let n = 0; n < 256; n++) await due(0, { media_url: PICTURE });
    await start();
    await expect.poll(() => sending, { timeout: 10_000 }).toBe(256);
    await ctx.clock.advance(MINUTE);
    const waiting = await due(0, { media_url: PICTURE });
    await look();
    await after(3 * SECOND);
    // Late for another reason.
    const text = await due(-2 * SECOND);
    onPublish = async () => {};
    await look();
    expect(await published(text)).toEqual(["load"]);
    expect((await readPost(ctx, waiting)).status).toBe("publishing");
    finish();
    expect(await published(waiting)).toEqual(["limit"]);
  });

  it("channel: it was disconnected, and connected again later", async () => {
    await start();
    const account = await addAccount(ctx, { status: "disconnected" });
    const before = await due(0, {}, account);
    await look();
    await after(20 * SECOND);
    await connectChannel(callOf(ctx), { provider: "scripted", accountId: account.id });
    expect(await published(before)).toEqual(["channel"]);
    const later = await due(SECOND, {}, account);
    await after(SECOND);
    expect(await published(later)).toEqual([null]);
  });

  it("load: nothing else", async () => {
    await start();
    await ctx.clock.advance(10 * SECOND);
    const id = await due(-2 * SECOND);
    await look();
    expect(await published(id)).toEqual(["load"]);
  });

  it("has been each of its causes in these tests", () => {
    expect([...seen].toSorted()).toEqual([...LATE_CAUSES, null].toSorted());
  });
});

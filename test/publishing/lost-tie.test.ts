import { describe, expect, it } from "vitest";
import { startPublisher } from "../../src/publishing/loop.ts";
import { createTestContext, type TestContext } from "../support/context.ts";
import { queryOf } from "../support/handles.ts";
import { addAccount, addPost, readPost } from "../support/publishing.ts";
import { scriptedPlatform } from "../support/scripted-platform.ts";

const IDENTITY = { role: "serve", host: "test", pid: process.pid, version: "0" } as const;
const REASON = new Error("The server does not answer.");

interface World {
  readonly ctx: TestContext;
  /** What left for the platform, by the name of its step. */
  readonly sent: string[];
  /** Why a sending was broken off. */
  readonly brokenOff: unknown[];
  lose(): void;
  /** Called right before a sending. */
  onCheck(work: () => void): void;
}

/** A publisher's world whose tie can be cut; a post with the caption "hangs" is sent until it is broken off. */
async function createWorld(): Promise<World> {
  const sent: string[] = [];
  const brokenOff: unknown[] = [];
  let lose = (): void => {};
  let check = (): void => {};
  const base = await createTestContext({
    platformList: [
      scriptedPlatform({
        publish: async (post, io) => {
          const id = await io.effect({
            step: "create",
            request: null,
            send: async ({ signal }) => {
              sent.push(post.id);
              if (post.caption === "hangs")
                await new Promise((_resolve, reject) => {
                  signal.addEventListener("abort", () => {
                    brokenOff.push(signal.reason);
                    reject(new Error("The socket was closed."));
                  });
                });
              return post.id;
            },
            reconcile: async () => ({ outcome: "unknown", reason: "never asked" }),
          });
          return { state: "live", platformPostId: id, platformUrl: null };
        },
      }),
    ],
    media: { forPost: () => ({}) as never, release: async () => {} },
  });
  const liveness: typeof base.store.liveness = {
    clock: null,
    hold: async (_workerId, onLost) => {
      lose = () => onLost(REASON);
      return { release: async () => {} };
    },
    check: () => check(),
    hasEnded: () => false,
    listDead: async () => [],
  };
  return {
    ctx: { ...base, store: { ...base.store, liveness } },
    sent,
    brokenOff,
    lose: () => lose(),
    onCheck: (work) => (check = work),
  };
}

describe("a publisher that may be taken for dead", () => {
  it("breaks off what it sends before anything else, and leaves the rest to whoever takes over", async () => {
    const { ctx, sent, brokenOff, lose } = await createWorld();
    await using _ctx = ctx;
    const post = await addPost(ctx, await addAccount(ctx), { caption: "hangs" });
    const told: Error[] = [];
    const publisher = await startPublisher(ctx, {
      identity: IDENTITY,
      onLost: (reason) => told.push(reason),
    });
    await expect.poll(() => sent).toEqual([post.id]);
    lose();
    // In the same turn.
    expect(brokenOff).toHaveLength(1);
    expect(told).toEqual([REASON]);
    const later = await addPost(ctx, await addAccount(ctx));
    publisher.wake();
    await publisher.close();
    expect(await readPost(ctx, post.id)).toMatchObject({ status: "publishing", lease_worker: ctx.workerId });
    expect(await queryOf(ctx.store).selectFrom("effects").select(["step", "state"]).execute()).toEqual([
      { step: "create", state: "intent" },
    ]);
    expect(await queryOf(ctx.store).selectFrom("attempts").select("outcome").execute()).toEqual([
      { outcome: "running" },
    ]);
    expect(await readPost(ctx, later.id)).toMatchObject({ status: "scheduled", attempts: 0 });
    // Its place in the list is what the others find it by.
    expect(await queryOf(ctx.store).selectFrom("workers").select("id").execute()).toEqual([
      { id: ctx.workerId },
    ]);
    expect(ctx.log.lines.filter(({ level }) => level === "error")).toEqual([]);
    const taken = await ctx.store.claims.takeOver(ctx.workerId, ctx.clock.now());
    expect(taken).toMatchObject({ posts: 1 });
  });

  it("sends nothing where that shows between the intent and the sending", async () => {
    const { ctx, sent, lose, onCheck } = await createWorld();
    await using _ctx = ctx;
    const post = await addPost(ctx, await addAccount(ctx));
    let checks = 0;
    onCheck(() => {
      checks += 1;
      lose();
    });
    const publisher = await startPublisher(ctx, { identity: IDENTITY });
    await expect.poll(() => checks).toBe(1);
    await publisher.close();
    expect(sent).toEqual([]);
    expect(await readPost(ctx, post.id)).toMatchObject({ status: "publishing", lease_worker: ctx.workerId });
  });

  it("while it closes writes nothing either", async () => {
    const { ctx, sent, lose } = await createWorld();
    await using _ctx = ctx;
    const post = await addPost(ctx, await addAccount(ctx), { caption: "hangs" });
    const publisher = await startPublisher(ctx, { identity: IDENTITY });
    await expect.poll(() => sent).toEqual([post.id]);
    const closing = publisher.close(60_000);
    await expect
      .poll(async () => (await queryOf(ctx.store).selectFrom("workers").selectAll().execute())[0]?.is_closing)
      .toBe(1);
    lose();
    await closing;
    expect(await readPost(ctx, post.id)).toMatchObject({ status: "publishing", lease_worker: ctx.workerId });
  });
});

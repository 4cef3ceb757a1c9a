import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AppError, AssertionFailed } from "../../../src/domain/errors.ts";
import { commitOnce, runOnce } from "../../../src/access/idempotency.ts";
import type { ClaimedPost } from "../../../src/store/engine/claims.ts";
import type { Queue } from "../../../src/store/engine/engine.ts";
import { Fenced, type EffectRow } from "../../../src/store/engine/ledger.ts";
import { findRow, rowsOf } from "../../../src/store/engine/statements.ts";
import type { Store } from "../../../src/store/engine/store.ts";
import { CommitUnanswered } from "../../../src/store/engine/unanswered.ts";
import { createStore } from "../../../src/store/open-store.ts";
import { createLedger } from "../../../src/store/queries/publishing/ledger.ts";
import { callerOf, createTestContext } from "../../support/context.ts";
import { DONE, effectOf, endOf, enlist, fillQueue, wishOf } from "../../support/queue.ts";
import { openPlace, type Place } from "./place.ts";

const DUE_AT = Date.parse("2026-11-21T09:00:00Z");
const now = (): number => DUE_AT + 1_000;
const STEP = { run: 1, step: "create" };
const DEATH = { arrivedAt: -Infinity };

let place: Place;
let store: Store;
let other: Store;

beforeEach(async () => {
  place = await openPlace();
  [store, other] = await Promise.all([place.open(), place.open()]);
});
afterEach(async () => {
  await Promise.all([store, other].map((one) => one[Symbol.asyncDispose]()));
  await place[Symbol.asyncDispose]();
});

/** Where this alone says who is dead. */
const claimsOn = (on: Store, death: Queue["death"]) =>
  createStore({ ...on, queue: { ...on.queue, death } }).claims;

async function claim(from: Store, workerId: string, limit = 100): Promise<readonly ClaimedPost[]> {
  await enlist(from, workerId);
  return (await from.claims.claim(wishOf(workerId, { now, limit }))).posts;
}

function refused(results: readonly PromiseSettledResult<void>[]): number[] {
  return results.flatMap((result, n) =>
    result.status === "rejected" && result.reason instanceof Fenced ? [n] : [],
  );
}

function readEffect(id: string): Promise<EffectRow | undefined> {
  return findRow(store, "effects", { post_id: id, step: "create" });
}

async function statusOf(id: string): Promise<unknown> {
  return (await findRow(store, "posts", { id }))?.status;
}

/** Transactions that wait before their COMMIT. */
function holding({ write }: Store): Pick<Store, "write"> & { reached: Promise<void>; commit(): void } {
  let [reach, commit] = [(): void => {}, (): void => {}];
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const held = new Promise<void>((resolve) => (commit = resolve));
  return {
    write: (work) =>
      write(async (tx) => {
        const result = await work(tx);
        reach();
        await held;
        return result;
      }),
    reached,
    commit: () => commit(),
  };
}

describe("the ledger of a worker that lost posts to another", () => {
  it("refuses these alone, whatever is written, and lets the others stand", async () => {
    await fillQueue(store, { accounts: 3, posts: 3, dueAt: DUE_AT });
    const posts = await claim(store, "worker_a");
    const [, lost] = posts;
    if (lost === undefined) throw new Error("Nothing was claimed.");
    await store.claims.abandon([lost.lease], now());
    const [again] = await claim(other, "worker_b");
    expect(again?.lease).toEqual({ ...lost.lease, workerId: "worker_b", fence: lost.lease.fence + 2 });

    const { ledger } = store;
    const all = (write: (post: ClaimedPost) => Promise<void>) => Promise.allSettled(posts.map(write));
    const mark = { run: 1, platformPostId: "p", platformUrl: null, at: 2 };
    expect(refused(await all(({ lease }) => ledger.intent(lease, effectOf())))).toEqual([1]);
    expect(refused(await all(({ lease }) => ledger.handle(lease, { ...STEP, sealed: "s" })))).toEqual([1]);
    expect(refused(await all(({ lease }) => ledger.countAsked(lease, STEP)))).toEqual([1]);
    expect(refused(await all(({ lease }) => ledger.end(lease, DONE)))).toEqual([1]);
    const note = effectOf({ step: "once:id" });
    expect(refused(await all(({ lease }) => ledger.once(lease, note, { ...DONE, step: "once:id" })))).toEqual(
      [1],
    );
    expect(refused(await all(({ lease }) => ledger.live(lease, mark)))).toEqual([1]);
    const forgotten = { run: 1, steps: ["once:id"] };
    expect(refused(await all(({ lease }) => ledger.forget(lease, forgotten)))).toEqual([1]);
    expect(refused(await all(({ lease }) => ledger.finishAttempt(lease, endOf())))).toEqual([1]);

    expect(await Promise.all(posts.map(({ post }) => statusOf(post.id)))).toEqual([
      "published",
      "publishing",
      "published",
    ]);
    const steps = "SELECT post_id, step FROM effects ORDER BY post_id, step";
    const [one, , three] = posts.map(({ post }) => post.id);
    expect(await rowsOf(store, steps)).toEqual(
      [one, three].flatMap((id) => ["create", "live"].map((step) => ({ post_id: id, step }))),
    );
    expect(await readEffect(posts[0]?.post.id ?? "")).toMatchObject({ asked: 1, sent: 1, handle_enc: "s" });
  });

  it("writes no step that is not there", async () => {
    await fillQueue(store, { accounts: 1, posts: 1, dueAt: DUE_AT });
    const [claimed] = await claim(store, "worker_a");
    if (claimed === undefined) throw new Error("Nothing was claimed.");
    await expect(store.ledger.end(claimed.lease, DONE)).rejects.toThrow(AssertionFailed);
    await expect(store.ledger.countAsked(claimed.lease, STEP)).rejects.toThrow(AssertionFailed);
  });

  it("never lets an intent stand that whoever takes over does not see", async () => {
    await fillQueue(store, { accounts: 1, posts: 1, dueAt: DUE_AT });
    const [mine] = await claim(store, "worker_a");
    if (mine === undefined) throw new Error("Nothing was claimed.");
    const late = holding(store);
    const writing = createLedger({ write: late.write }).intent(mine.lease, effectOf());
    await late.reached;
    // It waits for what is written and not committed yet, and so does whoever claims after it.
    const taking = claimsOn(other, async () => DEATH)
      .takeOver("worker_a", now())
      .then(() => claim(other, "worker_b"));
    await new Promise((resolve) => setTimeout(resolve, 300));
    late.commit();
    await writing;
    const [theirs] = await taking;
    expect(theirs?.effects.map(({ step }) => step)).toEqual(["create"]);
  });

  it("refuses what comes while somebody takes over", async () => {
    await fillQueue(store, { accounts: 1, posts: 1, dueAt: DUE_AT });
    const [mine] = await claim(store, "worker_a");
    if (mine === undefined) throw new Error("Nothing was claimed.");
    const early = holding(other);
    const claims = claimsOn({ ...other, write: early.write }, async () => DEATH);
    const taking = claims.takeOver("worker_a", now());
    await early.reached;
    const writing = expect(store.ledger.intent(mine.lease, effectOf())).rejects.toThrow(Fenced);
    await new Promise((resolve) => setTimeout(resolve, 300));
    early.commit();
    await Promise.all([taking, writing]);
    const [theirs] = await claim(other, "worker_b");
    expect(theirs?.effects).toEqual([]);
  });

  it("is not asked for where nobody has proven the death of a worker", async () => {
    await fillQueue(store, { accounts: 2, posts: 2, dueAt: DUE_AT });
    const posts = await claim(store, "worker_a");
    const living = claimsOn(other, async (_tx, workerId) => (workerId === "worker_a" ? null : DEATH));
    expect(await living.takeOver("worker_a", now())).toBeNull();
    expect(await claim(other, "worker_b")).toEqual([]);
    expect(await claimsOn(other, async () => DEATH).takeOver("worker_a", now())).toEqual({
      posts: 2,
      failed: [],
    });
    expect((await claim(other, "worker_b")).map(({ post }) => post.id)).toEqual(
      posts.map(({ post }) => post.id),
    );
  });
});

describe("a COMMIT whose answer was lost", () => {
  /** Each transaction is written, and the answer of the first of each call is lost. */
  function losing(): { store: Store; losses: () => number } {
    let losses = 0;
    let isNext = true;
    const write: Store["write"] = async (work) => {
      const result = await store.write(work);
      isNext = !isNext;
      if (isNext) return result;
      losses += 1;
      throw new CommitUnanswered(new Error("Connection terminated"));
    };
    return { store: createStore({ ...store, write }), losses: () => losses };
  }

  it("is written again, for each kind of write, and counts no sending too few", async () => {
    await fillQueue(store, { accounts: 1, posts: 1, dueAt: DUE_AT });
    const [claimed] = await claim(store, "worker_a");
    if (claimed === undefined) throw new Error("Nothing was claimed.");
    const { lease, post } = claimed;
    const { store: unsure, losses } = losing();
    const { ledger } = unsure;
    await ledger.intent(lease, effectOf({ started_at: 5 }));
    expect(await readEffect(post.id)).toMatchObject({ state: "intent", sent: 2, started_at: 5 });
    await ledger.end(lease, { ...DONE, state: "not_sent", result: null });
    expect(await readEffect(post.id)).toMatchObject({ state: "not_sent", sent: 1, finished_at: 2 });
    await ledger.intent(lease, effectOf({ started_at: 6 }));
    await ledger.intent(lease, effectOf({ started_at: 7 }));
    expect(await readEffect(post.id)).toMatchObject({ state: "intent", sent: 5, started_at: 6 });
    await ledger.countAsked(lease, STEP);
    await ledger.countAsked(lease, STEP);
    await ledger.handle(lease, { ...STEP, sealed: "s" });
    expect(await readEffect(post.id)).toMatchObject({ asked: 4, handle_enc: "s", sent: 5 });
    await ledger.once(lease, effectOf({ step: "once:id" }), { ...DONE, step: "once:id", result: "7" });
    await ledger.forget(lease, { run: 1, steps: ["once:id"] });
    await ledger.end(lease, { ...DONE, live: { platformPostId: "p", platformUrl: "https://p.example" } });
    await ledger.live(lease, { run: 1, platformPostId: "p", platformUrl: null, at: 3 });
    await ledger.finishAttempt(lease, endOf());
    expect(losses()).toBe(12);
    expect(await statusOf(post.id)).toBe("published");
    const attempts = await rowsOf(store, "SELECT number, outcome FROM attempts");
    expect(attempts).toEqual([{ number: 1, outcome: "published" }]);
    const totals = await rowsOf(store, sql`SELECT CAST(sum(attempts) AS INTEGER) AS n FROM attempt_totals`);
    expect(totals).toEqual([{ n: 1 }]);
    // Another end by the same lease is none of its own.
    await expect(store.ledger.finishAttempt(lease, endOf({ at: 9 }))).rejects.toThrow(Fenced);
  });

  it("of a claim is told by the posts", async () => {
    await fillQueue(store, { accounts: 3, posts: 3, dueAt: DUE_AT });
    await enlist(store, "worker_a");
    const { posts } = await losing().store.claims.claim(wishOf("worker_a", { now }));
    expect(posts).toHaveLength(3);
    await Promise.all(posts.map(({ lease }) => store.ledger.intent(lease, effectOf())));
    expect((await store.claims.claim(wishOf("worker_a", { now }))).posts).toEqual([]);
  });

  it("that was none leaves the posts to others", async () => {
    await fillQueue(store, { accounts: 3, posts: 3, dueAt: DUE_AT });
    await enlist(store, "worker_a");
    let isFirst = true;
    const write: Store["write"] = async (work) => {
      if (!isFirst) return store.write(work);
      isFirst = false;
      const undone = new Error("undone");
      await store
        .write(async (tx) => {
          await work(tx);
          throw undone;
        })
        .catch(() => {});
      throw new CommitUnanswered(undone);
    };
    const unsure = claimsOn({ ...store, write }, async () => DEATH);
    expect((await unsure.claim(wishOf("worker_a", { now }))).posts).toEqual([]);
    expect(await claim(other, "worker_b")).toHaveLength(3);
  });

  it("of a call with an idempotency key gets the answer that was kept", async () => {
    const { store: unsure } = losing();
    const ctx = await createTestContext({ store: unsure, workerId: "worker_a" });
    let runs = 0;
    const call = { key: "key", tool: "schedule_post", args: {} };
    const run = () =>
      runOnce(ctx, callerOf(), call, async (idempotency) => {
        runs += 1;
        return commitOnce({ ctx, idempotency }, async () => ({ id: "post_1" }));
      });
    expect(await run()).toEqual({ result: { id: "post_1" }, isReplay: false });
    expect(await run()).toEqual({ result: { id: "post_1" }, isReplay: true });
    expect(runs).toBe(1);
  });

  it("is told where it goes on", async () => {
    await fillQueue(store, { accounts: 1, posts: 1, dueAt: DUE_AT });
    const [claimed] = await claim(store, "worker_a");
    const trouble = new AppError("unavailable", "The disk is full.");
    const ledger = createLedger({ write: () => Promise.reject(trouble) });
    await expect(claimed && ledger.intent(claimed.lease, effectOf())).rejects.toBe(trouble);
  });
});

import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AppError } from "../../../src/domain/errors.ts";
import { change, rowsOf } from "../../../src/store/engine/statements.ts";
import type { Store, Tx } from "../../../src/store/engine/store.ts";
import { transition } from "../../../src/store/queries/posts.ts";
import { gate } from "../../support/gate.ts";
import { drain, enlist, fillQueue, publish, wishOf } from "../../support/queue.ts";
import { openPlace, type Place } from "./place.ts";

const DUE_AT = Date.parse("2026-11-21T09:00:00Z");
const now = (): number => DUE_AT + 60_000;

let place: Place;
let stores: Store[];

beforeEach(async () => {
  place = await openPlace();
  stores = await Promise.all([1, 2, 3].map(() => place.open()));
});
afterEach(async () => {
  await Promise.all(stores.map((store) => store[Symbol.asyncDispose]()));
  await place[Symbol.asyncDispose]();
});

/** So many posts are changed by people while the others go out. */
const ENOUGH = 50;
const WORKERS = ["worker_0", "worker_1", "worker_2", "worker_9"];

function first(): Store {
  const [store] = stores;
  if (store === undefined) throw new Error("No store was opened.");
  return store;
}

describe("several workers on one database", () => {
  it("claim different posts when they claim at once, together the first that are due", async () => {
    await fillQueue(first(), { accounts: 150, posts: 300, dueAt: DUE_AT });
    await enlist(first(), ...WORKERS);
    const claims = await Promise.all(
      stores.map((store, n) => store.claims.claim(wishOf(`worker_${n}`, { now, limit: 50 }))),
    );
    const taken = claims.map(({ posts }) => posts.map(({ post }) => post.id));
    expect(taken.map((ids) => ids.length)).toEqual([50, 50, 50]);
    expect(new Set(taken.flat()).size).toBe(150);
    // Each account's first, and nobody its second before that has ended.
    expect(taken.flat().toSorted().at(-1)).toBe("post_0000149");
    for (const ids of taken) expect(ids).toEqual(ids.toSorted());
    expect((await first().claims.claim(wishOf("worker_9", { now }))).posts).toEqual([]);
  });

  it("send each post once, one at a time in an account and in its order, beside people who edit and cancel", async () => {
    const [accounts, posts] = [150, 900];
    await fillQueue(first(), { accounts, posts, dueAt: DUE_AT });
    const sent = new Map<string, string | null>();
    const inFlight = new Map<string, string>();
    const last = new Map<string, number>();
    const wrong: string[] = [];
    let remaining = posts;
    let isOver = false;
    const cancelled = new Set<string>();
    const edited = new Map<string, string>();
    // However slow people are beside them: halfway the workers wait until enough was changed.
    const isDisturbed = gate();
    const noteChange = (): void => {
      if (cancelled.size + edited.size > ENOUGH) isDisturbed.open();
    };

    const workers = stores.map((store, n) =>
      drain(store, {
        workerId: `worker_${n}`,
        now,
        room: 200,
        batch: 100,
        isOver: () => isOver,
        work: async (claimed) => {
          const { post } = claimed;
          if (sent.has(post.id)) wrong.push(`${post.id} went out twice`);
          if (inFlight.has(post.account_id)) wrong.push(`${post.id} beside ${inFlight.get(post.account_id)}`);
          if ((last.get(post.account_id) ?? 0) > post.due_at) wrong.push(`${post.id} came after a later one`);
          inFlight.set(post.account_id, post.id);
          last.set(post.account_id, post.due_at);
          const send = async (): Promise<void> => {
            await new Promise((resolve) => setImmediate(resolve));
            if (sent.size > posts / 2) await isDisturbed.opened;
            sent.set(post.id, post.caption);
          };
          // Whoever waits may claim the next as soon as the end is written, before we hear of it.
          const beforeEnd = (): void => void inFlight.delete(post.account_id);
          await publish(store, claimed, { now, send, beforeEnd });
          if ((remaining -= 1) <= 0) isOver = true;
        },
      }),
    );

    const disturb = async (seed: number): Promise<void> => {
      for (let n = seed; !isOver; n = (n + 277) % posts) {
        const id = `post_${String(n).padStart(7, "0")}`;
        const account = `acc_${String(1 + (n % accounts)).padStart(5, "0")}`;
        const isCancel = n % 3 === 0;
        const caption = `Edited ${n}`;
        const touch = (tx: Tx) =>
          change(tx, sql`UPDATE accounts SET updated_at = ${now()} WHERE id = ${account}`);
        const move = (tx: Tx) =>
          isCancel
            ? transition(tx, { ownerId: "default", id }, "cancel", { next_at: null, updated_at: now() })
            : transition(tx, { ownerId: "default", id }, "edit", { caption, updated_at: now() });
        try {
          await first().write(async (tx) => {
            if (n % 2 === 0) await touch(tx);
            await move(tx);
            if (n % 2 === 1) await touch(tx);
          });
          if (!isCancel) edited.set(id, caption);
          else if ((cancelled.add(id), (remaining -= 1) <= 0)) isOver = true;
          noteChange();
        } catch (error) {
          // It was gone already, or is being worked on. Anything else is what nobody may meet.
          if (!(error instanceof AppError && error.kind === "conflict")) throw error;
        }
      }
    };
    const people = [11, 60, 101, 303, 400, 500].map(disturb);
    await Promise.all([...workers, ...people]);

    expect(wrong).toEqual([]);
    expect(cancelled.size + edited.size).toBeGreaterThan(ENOUGH);
    expect([...cancelled].filter((id) => sent.has(id))).toEqual([]);
    expect(sent.size).toBe(posts - cancelled.size);
    const stale = [...edited].filter(([id, caption]) => sent.has(id) && sent.get(id) !== caption);
    expect(stale).toEqual([]);
    const left = await rowsOf(
      first(),
      "SELECT id FROM posts WHERE status NOT IN ('published', 'cancelled') OR lease_worker IS NOT NULL OR fence < 1",
    );
    expect(left).toEqual([]);
    expect(await rowsOf(first(), "SELECT id FROM accounts WHERE in_flight_post IS NOT NULL")).toEqual([]);
    expect(await rowsOf(first(), "SELECT 1 FROM effects WHERE state <> 'done' OR sent <> 1")).toEqual([]);
    const ended = await rowsOf(first(), "SELECT CAST(sum(attempts) AS INTEGER) AS ended FROM attempt_totals");
    expect(ended).toEqual([{ ended: sent.size }]);
  }, 120_000);

  it("end posts that hold up a whole platform at once", async () => {
    await fillQueue(first(), { accounts: 90, posts: 90, dueAt: DUE_AT });
    await enlist(first(), ...WORKERS);
    const claims = await Promise.all(
      stores.map((store, n) => store.claims.claim(wishOf(`worker_${n}`, { now, limit: 30 }))),
    );
    const wait = { until: now() + 1_000, cause: "rate_limit", scope: "app" } as const;
    await Promise.all(
      claims.flatMap(({ posts }, n) =>
        posts.toReversed().map(async ({ lease }) =>
          stores[n]?.ledger.finishAttempt(lease, {
            trigger: "release",
            nextAt: now() + 1_000,
            error: null,
            isInDoubt: false,
            tries: 1,
            platformPostId: null,
            platformUrl: null,
            publishedAt: null,
            attempt: { outcome: "waiting", error: null },
            warnings: null,
            accountWait: wait,
            at: now(),
          }),
        ),
      ),
    );
    const held = sql`
      SELECT count(*) AS n FROM accounts WHERE next_allowed_at = ${wait.until} AND in_flight_post IS NULL`;
    expect(await rowsOf(first(), held)).toEqual([{ n: 90 }]);
    expect((await first().claims.claim(wishOf("worker_9", { now }))).posts).toEqual([]);
  });
});

import { sql } from "kysely";
import type { ClaimedPost, ClaimWish } from "../../src/store/engine/claims.ts";
import type { NewEffect, AttemptResult } from "../../src/store/engine/ledger.ts";
import { change, type Row } from "../../src/store/engine/statements.ts";
import type { Store, Tx } from "../../src/store/engine/store.ts";

/** Posts that are due in many accounts, and what a publisher does with them, without any platform. */

export interface Queue {
  readonly accounts: number;
  readonly posts: number;
  /** Milliseconds since 1970; of the first post of each account, the others a millisecond apart. */
  readonly dueAt: number;
  /** Default: `scheduled`, and they wait. */
  readonly status?: "published";
  /** What their ids begin with. Default: nothing. */
  readonly prefix?: string;
}

/** Ids sort as the posts do: `post_0000001` is of the account `acc_00002`. */
export async function fillQueue(store: Pick<Store, "write">, queue: Queue): Promise<void> {
  const { accounts, posts, dueAt, status = "scheduled", prefix = "" } = queue;
  await store.write(async (tx) => {
    await insertAll(tx, "accounts", range(accounts).map(accountRow));
    const rows = range(posts).map((n) => {
      const at = dueAt + Math.floor(n / accounts);
      return postRow({ id: `post_${prefix}${padded(n, 7)}`, account: n % accounts, at, status });
    });
    await insertAll(tx, "posts", rows);
  });
}

const range = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
const padded = (n: number, digits: number): string => String(n).padStart(digits, "0");
const accountId = (n: number): string => `acc_${padded(n + 1, 5)}`;

function accountRow(n: number): Row {
  return {
    id: accountId(n),
    owner_id: "default",
    provider: "scripted",
    name: "Channel",
    status: "connected",
    scopes: "[]",
    settings: "{}",
    secrets_version: 0,
    next_allowed_at: 0,
    created_at: 0,
    updated_at: 0,
  };
}

function postRow(post: { id: string; account: number; at: number; status: string }): Row {
  return {
    id: post.id,
    owner_id: "default",
    account_id: accountId(post.account),
    provider: "scripted",
    media_url: "",
    caption: "Hello",
    scheduled_at: post.at,
    due_at: post.at,
    next_at: post.status === "scheduled" ? post.at : null,
    status: post.status,
    in_doubt: 0,
    attempts: 0,
    tries: 0,
    run: 1,
    fence: 0,
    content_hash: "",
    is_light: 1,
    created_at: 0,
    updated_at: 0,
  };
}

const TOGETHER = 500;

async function insertAll(tx: Tx, table: string, rows: readonly Row[]): Promise<void> {
  for (let at = 0; at < rows.length; at += TOGETHER) {
    const tuples = rows.slice(at, at + TOGETHER).map((row) => sql`(${sql.join(Object.values(row))})`);
    const columns = sql.join(Object.keys(rows[0]!).map((column) => sql.ref(column)));
    await change(
      tx,
      sql`INSERT INTO ${sql.table(table)} (${columns}) VALUES ${sql.join(tuples)} ON CONFLICT DO NOTHING`,
    );
  }
}

/** Some engines let only workers claim that are listed. */
export async function enlist(store: Pick<Store, "write">, ...workerIds: readonly string[]): Promise<void> {
  const row = { role: "serve", host: "test", pid: 0, version: "0", started_at: 0, heartbeat_at: 0 };
  await store.write((tx) =>
    insertAll(
      tx,
      "workers",
      workerIds.map((id) => ({ id, ...row })),
    ),
  );
}

export function wishOf(workerId: string, wish: Partial<ClaimWish> & { now: () => number }): ClaimWish {
  const limit = wish.limit ?? 100;
  return {
    workerId,
    limit,
    isQuarantined: false,
    leftOver: { afterMs: Infinity, spacingMs: 0 },
    causeOf: () => null,
    ...wish,
  };
}

export function effectOf(overrides: Partial<NewEffect> = {}): NewEffect {
  return { run: 1, step: "create", effect_key: "key", request_hash: "hash", started_at: 1, ...overrides };
}

export function endOf(overrides: Partial<AttemptResult> = {}): AttemptResult {
  return {
    trigger: "published",
    nextAt: null,
    error: null,
    isInDoubt: false,
    tries: 0,
    platformPostId: "p",
    platformUrl: null,
    publishedAt: 2,
    attempt: { outcome: "published", error: null },
    warnings: null,
    accountWait: null,
    at: 2,
    ...overrides,
  };
}

export const DONE = { run: 1, step: "create", state: "done", result: "{}", httpStatus: null, at: 2 } as const;

/** The writes of the protocol for a post that goes through at once; `send` is what goes out in between. */
export async function publish(
  store: Store,
  { lease }: ClaimedPost,
  at: { readonly now: () => number; readonly send?: () => Promise<void>; readonly beforeEnd?: () => void },
): Promise<void> {
  await store.ledger.intent(lease, effectOf({ started_at: at.now() }));
  await at.send?.();
  await store.ledger.end(lease, { ...DONE, at: at.now() });
  const now = at.now();
  at.beforeEnd?.();
  await store.ledger.finishAttempt(lease, endOf({ publishedAt: now, at: now }));
}

export interface DrainOptions {
  readonly workerId: string;
  readonly now: () => number;
  readonly room: number;
  /** Posts claimed at once at most; it begins with fewer, of which the first need not wait for the last. */
  readonly batch: number;
  readonly work: (claimed: ClaimedPost) => Promise<void>;
  readonly isOver: () => boolean;
}

const FIRST_BATCH = 50;

/** What a publisher's loop does: claims while there is room, and works on all that it has claimed at once. */
export async function drain(store: Store, options: DrainOptions): Promise<void> {
  const { workerId, now, room, batch, work, isOver } = options;
  await enlist(store, workerId);
  const underWay = new Set<Promise<void>>();
  let failure: unknown;
  let size = FIRST_BATCH;
  while (!isOver() && failure === undefined) {
    const limit = Math.min(size, batch, room - underWay.size);
    const claimed = limit > 0 ? await store.claims.claim(wishOf(workerId, { limit, now })) : null;
    for (const post of claimed?.posts ?? []) {
      const done: Promise<void> = work(post)
        .catch((error: unknown) => void (failure ??= error))
        .finally(() => underWay.delete(done));
      underWay.add(done);
    }
    size = claimed?.isFull === true ? size * 2 : FIRST_BATCH;
    if (claimed?.isFull === true) continue;
    await (underWay.size > 0 ? Promise.race(underWay) : new Promise((resolve) => setTimeout(resolve, 5)));
  }
  await Promise.all(underWay);
  if (failure !== undefined) throw failure;
}

import type { ClaimedPost, ClaimWish } from "../../src/store/engine/claims.ts";
import type { NewEffect, AttemptResult } from "../../src/store/engine/ledger.ts";
import { change } from "../../src/store/engine/statements.ts";
import type { Store } from "../../src/store/engine/store.ts";

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

/** Ids sort as the posts do: `post_000001` is the first of `acc_0001`. */
export async function fillQueue(store: Store, queue: Queue): Promise<void> {
  const { accounts, posts, dueAt, status = "scheduled", prefix = "" } = queue;
  await store.write(async (tx) => {
    await change(tx, ADD_ACCOUNTS, [accounts]);
    await change(tx, ADD_POSTS, [posts, accounts, dueAt, status, prefix]);
  });
}

const ADD_ACCOUNTS = `
  INSERT INTO accounts (id, owner_id, provider, name, status, scopes, settings, secrets_version, next_allowed_at, created_at, updated_at)
  SELECT 'acc_' || lpad(n::text, 5, '0'), 'default', 'scripted', 'Channel', 'connected', '[]', '{}', 0, 0, 0, 0
  FROM generate_series(1, $1::int) n ON CONFLICT DO NOTHING`;

const ADD_POSTS = `
  INSERT INTO posts (id, owner_id, account_id, provider, media_url, caption, scheduled_at, due_at, next_at, status,
    in_doubt, attempts, tries, run, fence, content_hash, is_light, created_at, updated_at)
  SELECT 'post_' || $5::text || lpad(n::text, 7, '0'), 'default', 'acc_' || lpad((1 + n % $2::int)::text, 5, '0'), 'scripted', '', 'Hello',
    $3::bigint + n / $2::int, $3::bigint + n / $2::int, CASE $4::text WHEN 'scheduled' THEN $3::bigint + n / $2::int END,
    $4::text, 0, 0, 0, 1, 0, '', 1, 0, 0
  FROM generate_series(0, $1::int - 1) n`;

/** Only workers that are listed may claim. */
export async function enlist(store: Store, ...workerIds: readonly string[]): Promise<void> {
  await store.write((tx) => change(tx, ADD_WORKERS, [workerIds]));
}

const ADD_WORKERS = `
  INSERT INTO workers (id, role, host, pid, version, started_at, heartbeat_at)
  SELECT id, 'serve', 'test', 0, '0', 0, 0 FROM unnest($1::text[]) id ON CONFLICT DO NOTHING`;

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

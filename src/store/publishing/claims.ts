import { beginningOfId } from "../../domain/ids.ts";
import type { LateCause } from "../../domain/posts/post.ts";
import { TRANSITIONS } from "../../domain/posts/post-states.ts";
import type { Candidate, Claimed, ClaimedPost, Claims, ClaimWish } from "../engine/claims.ts";
import type { SqliteDatabase } from "../engine/driver.ts";
import { rawOf } from "../engine/handle.ts";
import type { Lease } from "../engine/ledger.ts";
import type { PostRow } from "../engine/schema.ts";
import type { Reader, Store, Tx } from "../engine/store.ts";
import { noteTime } from "./clock-mark.ts";
import { findDue, hasQuarantined, readCandidates, readNextAfter } from "./due-posts.ts";
import { abandon, failMissed, freeWorker, takeOver } from "./release.ts";
import { noteUnusable } from "./unusable-posts.ts";

/**
 * SQLite's way to claim: one writer at a time, so that what is read in the transaction is so until it ends.
 */
export function createClaims(store: Reader & Pick<Store, "write">): Claims {
  const { write } = store;
  return {
    nextAfter: (moment) => readNextAfter(store, moment),
    hasQuarantined: (now) => hasQuarantined(store, now),
    claim: (wish) => write((tx) => claimDue(tx, wish)),
    failMissed: (cutoff) => write((tx) => failMissed(tx, cutoff)),
    noteUnusable: (note) => write((tx) => noteUnusable(tx, note)),
    freeWorker: (workerId, now) => write((tx) => freeWorker(tx, workerId, now)),
    takeOver: (workerId, now) => write((tx) => takeOver(tx, workerId, now)),
    abandon: (leases, now) =>
      write(async (tx) => {
        for (const lease of leases) await abandon(tx, lease, now);
      }),
    noteTime: (now, toleranceMs) => write((tx) => noteTime(tx, now, toleranceMs)),
  };
}

async function claimDue(tx: Tx, wish: ClaimWish): Promise<Claimed> {
  const now = wish.now();
  const found = await readCandidates(tx, findDue(rawOf(tx), { ...wish, now }));
  return {
    posts: found.length === 0 ? [] : take(rawOf(tx), found, wish, now),
    isFull: found.length === wish.limit,
  };
}

/**
 * A post that only waited (held until its time, being processed) goes on in its last attempt. One that is
 * published, and waits for what follows it, keeps that as it ended.
 */
const TAKE = `
  UPDATE posts SET status = CASE status WHEN 'scheduled' THEN '${TRANSITIONS.claim.to}' ELSE status END,
    fence = fence + 1, lease_worker = ?, updated_at = ?,
    attempts = attempts + NOT (status = 'published' OR attempts > 0 AND EXISTS (
      SELECT 1 FROM attempts t
      WHERE t.post_id = posts.id AND t.number = posts.attempts AND t.run = posts.run AND t.outcome IN ('waiting', 'uploaded')))
  WHERE id IN (SELECT value FROM json_each(?)) RETURNING id, attempts`;

/** Parameters: the beginning of their ids, and what made each post late by its id. */
const OPEN_ATTEMPTS = `
  INSERT INTO attempts
    (id, owner_id, post_id, number, run, worker_id, outcome, error, lateness_ms, late_cause, started_at, finished_at)
  SELECT ? || lower(hex(randomblob(8))), p.owner_id, p.id, p.attempts, p.run, p.lease_worker, 'running', NULL,
    p.updated_at - p.due_at, j.value, p.updated_at, NULL
  FROM json_each(?) j CROSS JOIN posts p ON p.id = j.key WHERE p.status <> 'published'
  ON CONFLICT (post_id, number) DO UPDATE SET outcome = 'running', worker_id = excluded.worker_id, finished_at = NULL`;

const OCCUPY = `
  WITH taken AS MATERIALIZED (SELECT p.account_id, p.id FROM json_each(?) j CROSS JOIN posts p ON p.id = j.value)
  UPDATE accounts SET in_flight_post = taken.id FROM taken WHERE accounts.id = taken.account_id`;

const SPACE =
  "UPDATE accounts SET next_allowed_at = MAX(next_allowed_at, ?), wait_cause = 'spacing' WHERE id = ?";

/** A few statements for all of them: one for each post would take twice as long. */
function take(
  raw: SqliteDatabase,
  wanted: readonly Candidate[],
  wish: ClaimWish,
  now: number,
): ClaimedPost[] {
  const ids = JSON.stringify(wanted.map(({ post }) => post.id));
  const taken = raw.prepare(TAKE).all([wish.workerId, now, ids]) as { id: string; attempts: number }[];
  const attempts = new Map(taken.map((row) => [row.id, row.attempts]));
  const causes = causesOf(wanted, wish, now);
  raw.prepare(OPEN_ATTEMPTS).run([beginningOfId("att"), JSON.stringify(Object.fromEntries(causes))]);
  raw.prepare(OCCUPY).run([ids]);
  for (const { post, account } of wanted) {
    const until = spacedUntil(post, wish, now);
    if (until !== null) raw.prepare(SPACE).run([until, account.id]);
  }
  return asClaimed(wanted, { workerId: wish.workerId, attempts, causes });
}

export function causesOf(
  wanted: readonly Candidate[],
  wish: ClaimWish,
  now: number,
): Map<string, LateCause | null> {
  return new Map(wanted.map((one) => [one.post.id, wish.causeOf(one, now)]));
}

/** Until when its account gets no other post, as it is left over from downtime; null where it is not. */
export function spacedUntil(post: PostRow, { leftOver }: ClaimWish, now: number): number | null {
  const isLeftOver = post.status === "scheduled" && now - post.scheduled_at > leftOver.afterMs;
  return isLeftOver ? now + leftOver.spacingMs : null;
}

interface Taken {
  readonly workerId: string;
  /** The numbers of their attempts, and what made them late, by their ids. */
  readonly attempts: ReadonlyMap<string, number>;
  readonly causes: ReadonlyMap<string, LateCause | null>;
}

export function asClaimed(
  wanted: readonly Candidate[],
  { workerId, attempts, causes }: Taken,
): ClaimedPost[] {
  return wanted.map(({ post, account, effects }) => {
    const lease: Lease = { postId: post.id, accountId: account.id, workerId, fence: post.fence + 1 };
    const attempt = attempts.get(post.id) ?? 1;
    // One that goes on in its last attempt was claimed before.
    const lateCause = attempt > post.attempts ? (causes.get(post.id) ?? null) : null;
    return { post, account, effects, lease, attempt, lateCause };
  });
}

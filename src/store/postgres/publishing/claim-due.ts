import { newId } from "../../../domain/ids.ts";
import { TRANSITIONS } from "../../../domain/posts/post-states.ts";
import type { Candidate, Claimed, ClaimedPost, ClaimWish } from "../../engine/claims.ts";
import { Fenced } from "../../engine/ledger.ts";
import { change, rowsOf } from "../../engine/statements.ts";
import type { Tx } from "../../engine/store.ts";
import { asClaimed, causesOf, spacedUntil } from "../../publishing/claims.ts";
import { readCandidates } from "../../publishing/due-posts.ts";
import { findDue, firstOf, FREE } from "./due-heads.ts";

/** So many times what is wanted is looked for at first: workers that look together find something each. */
const FIRST_SPAN = 3;
/** And so many times more, where others had all of it. */
const WIDER = 4;

/**
 * Takes up what is wished for, in a transaction of READ COMMITTED. The account's row is the lock of "one in
 * flight"; a claim waits for nobody, and whatever it is told of a post it reads after it has locked it.
 */
export async function claimDue(tx: Tx, wish: ClaimWish): Promise<Claimed> {
  const listed = await rowsOf(tx, LISTED, [wish.workerId]);
  if (listed.length === 0) throw new Fenced("all posts of this worker");
  const now = wish.now();
  const found = await readCandidates(tx, await lockDue(tx, wish, now));
  return {
    posts: found.length === 0 ? [] : await take(tx, found, wish, now),
    isFull: found.length === wish.limit,
  };
}

/**
 * Nobody takes over from the worker until this transaction has ended: what a take-over does not see yet would
 * be held by nobody afterwards, and wait for ever.
 */
const LISTED = "SELECT 1 FROM workers WHERE id = $1 FOR KEY SHARE";

/** The ids of the posts that are this transaction's, first due first. */
async function lockDue(tx: Tx, { limit, isQuarantined }: ClaimWish, now: number): Promise<string[]> {
  for (let span = FIRST_SPAN * limit; ; span *= WIDER) {
    const heads = await findDue(tx, { now, limit: span, isQuarantined });
    if (heads.length === 0) return [];
    const locked = await rowsOf<{ id: string }>(tx, LOCK, [now, heads, limit]);
    if (locked.length === limit || heads.length < span) return locked.map(({ id }) => id);
  }
}

/**
 * Not FOR UPDATE, which would also stand against new posts of the account: their foreign key locks its row.
 * The conditions stand once more, as PostgreSQL asks them again of a row that was changed meanwhile.
 */
const LOCK = `
  SELECT p.id FROM unnest($2::text[]) WITH ORDINALITY u (id, place)
  JOIN posts p ON p.id = u.id JOIN accounts a ON a.id = p.account_id
  WHERE p.next_at + 0 <= $1 AND coalesce(p.lease_worker, '') = '' AND ${FREE}
    AND p.id = (SELECT h.id ${firstOf("p.account_id")})
  ORDER BY u.place LIMIT $3 FOR NO KEY UPDATE OF a, p SKIP LOCKED`;

/**
 * A post that only waited (held until its time, being processed) goes on in its last attempt. One that is
 * published, and waits for what follows it, keeps that as it ended.
 */
const TAKE = `
  UPDATE posts p SET status = CASE p.status WHEN 'scheduled' THEN '${TRANSITIONS.claim.to}' ELSE p.status END,
    fence = p.fence + 1, lease_worker = $1, updated_at = $2,
    attempts = p.attempts + CASE WHEN p.status = 'published' OR p.attempts > 0 AND EXISTS (
      SELECT 1 FROM attempts t
      WHERE t.post_id = p.id AND t.number = p.attempts AND t.run = p.run AND t.outcome IN ('waiting', 'uploaded'))
      THEN 0 ELSE 1 END
  WHERE p.id = ANY ($3::text[]) RETURNING p.id, p.attempts`;

/** A list of objects as rows; $1 is JSON. */
const TAKEN = `json_to_recordset($1::json) AS u (id text, account text, attempt text, cause text, spaced_until bigint)`;

const OPEN_ATTEMPTS = `
  INSERT INTO attempts
    (id, owner_id, post_id, number, run, worker_id, outcome, error, lateness_ms, late_cause, started_at, finished_at)
  SELECT u.attempt, p.owner_id, p.id, p.attempts, p.run, p.lease_worker, 'running', NULL,
    p.updated_at - p.due_at, u.cause, p.updated_at, NULL
  FROM ${TAKEN} JOIN posts p ON p.id = u.id WHERE p.status <> 'published'
  ON CONFLICT (post_id, number) DO UPDATE SET outcome = 'running', worker_id = excluded.worker_id, finished_at = NULL`;

const OCCUPY = `
  UPDATE accounts a SET in_flight_post = u.id, next_allowed_at = greatest(a.next_allowed_at, u.spaced_until),
    wait_cause = CASE WHEN u.spaced_until IS NULL THEN a.wait_cause ELSE 'spacing' END
  FROM ${TAKEN} WHERE a.id = u.account`;

async function take(
  tx: Tx,
  wanted: readonly Candidate[],
  wish: ClaimWish,
  now: number,
): Promise<ClaimedPost[]> {
  const ids = wanted.map(({ post }) => post.id);
  const taken = await rowsOf<{ id: string; attempts: number }>(tx, TAKE, [wish.workerId, now, ids]);
  const attempts = new Map(taken.map((row) => [row.id, row.attempts]));
  const causes = causesOf(wanted, wish, now);
  const rows = JSON.stringify(
    wanted.map(({ post }) => ({
      id: post.id,
      account: post.account_id,
      attempt: newId("att"),
      cause: causes.get(post.id),
      spaced_until: spacedUntil(post, wish, now),
    })),
  );
  await change(tx, OPEN_ATTEMPTS, [rows]);
  await change(tx, OCCUPY, [rows]);
  return asClaimed(wanted, { workerId: wish.workerId, attempts, causes });
}

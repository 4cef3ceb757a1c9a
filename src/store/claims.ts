import { newId } from "../domain/ids.ts";
import { TRANSITIONS } from "../domain/post-states.ts";
import type { SqliteDatabase } from "./driver.ts";
import { LEASED, leased, type Lease } from "./ledger.ts";
import { freeWebhooks } from "./outbox.ts";
import { POST_COLUMNS, type PostRow } from "./posts.ts";
import type { Tables } from "./schema.ts";

/** Which posts a worker takes up, and how it gets and gives back the right to: raw statements, run in a group commit. */

const COLUMNS = POST_COLUMNS.join(", ");
const CLAIMABLE = "next_at IS NOT NULL AND lease_worker IS NULL";
/**
 * The first due post of each account. Walks from account to account through the index, so that the work does not grow with
 * the backlog of any of them.
 */
const DUE_HEADS = `
  WITH RECURSIVE busy (account_id) AS (
    SELECT (SELECT account_id FROM posts INDEXED BY posts_claim WHERE ${CLAIMABLE} ORDER BY account_id LIMIT 1)
    UNION ALL
    SELECT (SELECT p.account_id FROM posts p INDEXED BY posts_claim
            WHERE p.next_at IS NOT NULL AND p.lease_worker IS NULL AND p.account_id > busy.account_id ORDER BY p.account_id LIMIT 1)
    FROM busy WHERE busy.account_id IS NOT NULL
  )
  SELECT p.id AS id, p.status AS status, p.account_id AS account_id, p.scheduled_at AS scheduled_at, p.next_at AS next_at,
         a.status AS account_status, a.in_flight_post AS in_flight_post, a.next_allowed_at AS next_allowed_at
  FROM busy JOIN accounts a ON a.id = busy.account_id
  JOIN posts p ON p.id = (
    SELECT h.id FROM posts h INDEXED BY posts_claim
    WHERE h.account_id = busy.account_id AND h.next_at IS NOT NULL AND h.lease_worker IS NULL AND h.due_at <= ? AND h.next_at <= ?
    ORDER BY h.due_at, h.sort_key LIMIT 1)
  ORDER BY p.due_at, p.sort_key`;

export type DueHead = Pick<PostRow, "id" | "status" | "account_id" | "scheduled_at"> & {
  readonly next_at: number;
  readonly account_status: Tables["accounts"]["status"];
  readonly in_flight_post: string | null;
  readonly next_allowed_at: number;
};

export function readDueHeads(raw: SqliteDatabase, now: number): DueHead[] {
  return raw.prepare(DUE_HEADS).all([now, now]) as DueHead[];
}

/** When the first post after this moment wants attention; null when none waits. One before it may be held up by its channel. */
export function readNextAfter(raw: SqliteDatabase, moment: number): number | null {
  const sql = `SELECT MIN(next_at) AS next FROM posts INDEXED BY posts_next WHERE ${CLAIMABLE} AND next_at > ?`;
  const row = raw.prepare(sql).get([moment]) as { next: number | null };
  return row.next;
}

export interface ClaimedPost {
  readonly post: PostRow;
  readonly account: Tables["accounts"];
  readonly lease: Lease;
}

/** Takes the post for this worker and opens (or goes on with) its attempt. Null: somebody else was faster. */
export function claimPost(raw: SqliteDatabase, id: string, worker: { id: string; now: number; nextAllowedAt: number }): ClaimedPost | null {
  const post = raw
    .prepare(
      `UPDATE posts SET status = CASE status WHEN 'scheduled' THEN '${TRANSITIONS.claim.to}' ELSE status END,
         fence = fence + 1, lease_worker = ?, updated_at = ?,
         attempts = attempts + NOT EXISTS (
           SELECT 1 FROM attempts a
           WHERE a.post_id = posts.id AND a.number = posts.attempts AND a.run = posts.run AND a.outcome IN ('waiting', 'uploaded'))
       WHERE id = ? AND ${CLAIMABLE} AND next_at <= ? AND status IN ('scheduled', 'publishing', 'uploaded')
       RETURNING ${COLUMNS}`,
    )
    .get([worker.id, worker.now, id, worker.now]) as PostRow | undefined;
  if (post === undefined) return null;
  const account = raw
    .prepare("UPDATE accounts SET in_flight_post = ?, next_allowed_at = MAX(next_allowed_at, ?) WHERE id = ? RETURNING *")
    .get([id, worker.nextAllowedAt, post.account_id]) as Tables["accounts"];
  openAttempt(raw, post, worker);
  return {
    post,
    account,
    lease: { postId: id, accountId: post.account_id, workerId: worker.id, fence: post.fence },
  };
}

/**
 * A post that only waited (held until its time, being processed) goes on in its attempt; anything else is a new one, whose
 * number the claim has counted up.
 */
function openAttempt(raw: SqliteDatabase, post: PostRow, worker: { id: string; now: number }): void {
  const resumed = raw
    .prepare(
      `UPDATE attempts SET outcome = 'running', worker_id = ?, finished_at = NULL
       WHERE post_id = ? AND number = ? AND outcome IN ('waiting', 'uploaded') RETURNING number`,
    )
    .get([worker.id, post.id, post.attempts]);
  if (resumed !== undefined) return;
  raw
    .prepare(
      `INSERT INTO attempts (id, owner_id, post_id, number, run, worker_id, outcome, error, lateness_ms, started_at, finished_at)
       VALUES (?, ?, ?, ?, ?, ?, 'running', NULL, ?, ?, NULL)`,
    )
    .run([newId("att"), post.owner_id, post.id, post.attempts, post.run, worker.id, worker.now - post.due_at, worker.now]);
}

/**
 * Posts whose time is past saving: those that still wait, and those whose channel is gone while they were on their way, which
 * nobody can ask about any more.
 */
export function readMissed(raw: SqliteDatabase, cutoff: { now: number; scheduledBefore: number; limit: number }): MissedPost[] {
  return raw
    .prepare(
      `SELECT p.id AS id, p.status AS status, p.error AS error, a.name AS account_name, a.id AS account_id, a.provider AS provider,
              a.status AS account_status
       FROM posts p INDEXED BY posts_next JOIN accounts a ON a.id = p.account_id
       WHERE p.next_at <= ? AND p.next_at IS NOT NULL AND p.lease_worker IS NULL AND p.scheduled_at < ?
         AND (p.status = 'scheduled' OR a.status IN ('disconnected', 'reconnect_required'))
       ORDER BY p.next_at LIMIT ?`,
    )
    .all([cutoff.now, cutoff.scheduledBefore, cutoff.limit]) as MissedPost[];
}

export interface MissedPost {
  readonly id: string;
  readonly status: PostRow["status"];
  readonly error: string | null;
  readonly account_name: string;
  readonly account_id: string;
  readonly provider: string;
  readonly account_status: Tables["accounts"]["status"];
}

export function failMissed(raw: SqliteDatabase, missed: { id: string; error: string; isInDoubt: boolean; now: number }): void {
  raw
    .prepare(
      `UPDATE posts SET status = '${TRANSITIONS.miss.to}', error = ?, in_doubt = ?, next_at = NULL, updated_at = ?
       WHERE id = ? AND status IN ('scheduled', 'publishing', 'uploaded') AND lease_worker IS NULL`,
    )
    .run([missed.error, missed.isInDoubt ? 1 : 0, missed.now, missed.id]);
}

/** Gives back what a worker held that is proven dead: its posts are taken up again from their ledger. */
export function freeWorker(raw: SqliteDatabase, workerId: string, now: number): number {
  const posts = raw.prepare("SELECT id FROM posts WHERE lease_worker = ?").all([workerId]) as { id: string }[];
  for (const { id } of posts) freePost(raw, id, now);
  freeWebhooks(raw, workerId);
  raw.prepare("DELETE FROM workers WHERE id = ?").run([workerId]);
  return posts.length;
}

/** Gives back one post of our own whose end could not be written. Does nothing when the lease is gone already. */
export function abandonLease(raw: SqliteDatabase, lease: Lease, now: number): void {
  const held = raw.prepare(`SELECT id FROM posts WHERE ${LEASED}`).get([...leased(lease)]);
  if (held !== undefined) freePost(raw, lease.postId, now);
}

function freePost(raw: SqliteDatabase, id: string, now: number): void {
  raw
    .prepare(
      `UPDATE attempts SET outcome = 'interrupted', finished_at = ?, error = 'The process that worked on it ended.'
       WHERE outcome = 'running' AND post_id = ?`,
    )
    .run([now, id]);
  raw.prepare("UPDATE accounts SET in_flight_post = NULL WHERE in_flight_post = ?").run([id]);
  raw
    .prepare(
      `UPDATE posts SET lease_worker = NULL, fence = fence + 1,
         next_at = CASE WHEN status IN ('scheduled', 'publishing', 'uploaded') THEN MIN(COALESCE(next_at, ?), ?) END
       WHERE id = ?`,
    )
    .run([now, now, id]);
}

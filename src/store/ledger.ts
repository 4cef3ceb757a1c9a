import { newId } from "../domain/ids.ts";
import type { Attempt } from "../domain/post.ts";
import { TRANSITIONS, type Trigger } from "../domain/post-states.ts";
import type { SqliteDatabase } from "./driver.ts";
import { POST_COLUMNS, type PostRow } from "./posts.ts";
import type { Tables } from "./schema.ts";

/**
 * The publisher's statements, raw and prepared once: they run several times for every post, and each is guarded by the lease,
 * so that a publisher that lost it writes nothing. Called inside a group commit (`group-commit.ts`).
 */

/** The right of one worker to work on one post; `fence` rises with every claim. */
export interface Lease {
  readonly postId: string;
  readonly accountId: string;
  readonly workerId: string;
  readonly fence: number;
}

export type EffectRow = Tables["effects"];

/** The lease is gone: stop at once and write nothing. */
export class Fenced extends Error {
  constructor(postId: string) {
    super(`The lease on ${postId} was lost.`);
    this.name = "Fenced";
  }
}

const COLUMNS = POST_COLUMNS.join(", ");
const CLAIMABLE = "next_at IS NOT NULL AND lease_worker IS NULL";
const LEASED = "id = ? AND fence = ? AND lease_worker = ?";

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

/** When the next post wants attention; null when none waits. */
export function readNextAt(raw: SqliteDatabase): number | null {
  const row = raw.prepare(`SELECT MIN(next_at) AS next FROM posts INDEXED BY posts_next WHERE ${CLAIMABLE}`).get([]) as {
    next: number | null;
  };
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
         fence = fence + 1, lease_worker = ?, updated_at = ?
       WHERE id = ? AND ${CLAIMABLE} AND next_at <= ? AND status IN ('scheduled', 'publishing', 'uploaded')
       RETURNING ${COLUMNS}`,
    )
    .get([worker.id, worker.now, id, worker.now]) as PostRow | undefined;
  if (post === undefined) return null;
  const account = raw
    .prepare("UPDATE accounts SET in_flight_post = ?, next_allowed_at = MAX(next_allowed_at, ?) WHERE id = ? RETURNING *")
    .get([id, worker.nextAllowedAt, post.account_id]) as Tables["accounts"];
  const attempts = openAttempt(raw, post, worker);
  return {
    post: { ...post, attempts },
    account,
    lease: { postId: id, accountId: post.account_id, workerId: worker.id, fence: post.fence },
  };
}

/** A post that only waited (held until its time, being processed) goes on in its attempt; anything else is a new one. */
function openAttempt(raw: SqliteDatabase, post: PostRow, worker: { id: string; now: number }): number {
  const resumed = raw
    .prepare(
      `UPDATE attempts SET outcome = 'running', worker_id = ?, finished_at = NULL
       WHERE post_id = ? AND number = ? AND run = ? AND outcome IN ('waiting', 'uploaded') RETURNING number`,
    )
    .get([worker.id, post.id, post.attempts, post.run]);
  if (resumed !== undefined) return post.attempts;
  const number = post.attempts + 1;
  raw.prepare("UPDATE posts SET attempts = ? WHERE id = ?").run([number, post.id]);
  raw
    .prepare(
      `INSERT INTO attempts (id, owner_id, post_id, number, run, worker_id, outcome, error, lateness_ms, started_at, finished_at)
       VALUES (?, ?, ?, ?, ?, ?, 'running', NULL, ?, ?, NULL)`,
    )
    .run([newId("att"), post.owner_id, post.id, number, post.run, worker.id, worker.now - post.due_at, worker.now]);
  return number;
}

export function readEffects(raw: SqliteDatabase, postId: string, run: number): EffectRow[] {
  return raw.prepare("SELECT * FROM effects WHERE post_id = ? AND run = ?").all([postId, run]) as EffectRow[];
}

/** Writes the intent before anything is sent. An open one of the same step keeps its start and handle. */
export function writeIntent(
  raw: SqliteDatabase,
  lease: Lease,
  effect: Pick<EffectRow, "run" | "step" | "effect_key" | "request_hash" | "started_at">,
): void {
  guard(
    raw
      .prepare(
        `INSERT INTO effects (post_id, run, step, fence, effect_key, request_hash, state, asked, started_at)
         SELECT id, ?, ?, fence, ?, ?, 'intent', 0, ? FROM posts WHERE ${LEASED}
         ON CONFLICT (post_id, run, step) DO UPDATE SET state = 'intent', fence = excluded.fence, finished_at = NULL,
           request_hash = excluded.request_hash,
           started_at = CASE WHEN effects.state IN ('intent', 'unknown') THEN effects.started_at ELSE excluded.started_at END`,
      )
      .run([effect.run, effect.step, effect.effect_key, effect.request_hash, effect.started_at, ...leased(lease)]),
    lease,
  );
}

export interface EffectEnd {
  readonly run: number;
  readonly step: string;
  readonly state: EffectRow["state"];
  readonly result: string | null;
  readonly httpStatus: number | null;
  readonly at: number;
}

export function endEffect(raw: SqliteDatabase, lease: Lease, end: EffectEnd): void {
  guard(
    raw
      .prepare(
        `UPDATE effects SET state = ?, result = ?, http_status = ?, finished_at = ?
         WHERE post_id = ? AND run = ? AND step = ? AND EXISTS (SELECT 1 FROM posts WHERE ${LEASED})`,
      )
      .run([end.state, end.result, end.httpStatus, end.at, lease.postId, end.run, end.step, ...leased(lease)]),
    lease,
  );
}

/** Stores a value of the platform (session address, container id) or of ours beside an open step. */
export function writeHandle(raw: SqliteDatabase, lease: Lease, effect: { run: number; step: string; sealed: string }): void {
  guard(
    raw
      .prepare(
        `UPDATE effects SET handle_enc = ? WHERE post_id = ? AND run = ? AND step = ? AND EXISTS (SELECT 1 FROM posts WHERE ${LEASED})`,
      )
      .run([effect.sealed, lease.postId, effect.run, effect.step, ...leased(lease)]),
    lease,
  );
}

export function countAsked(raw: SqliteDatabase, lease: Lease, effect: { run: number; step: string }): void {
  guard(
    raw
      .prepare(
        `UPDATE effects SET asked = asked + 1 WHERE post_id = ? AND run = ? AND step = ? AND EXISTS (SELECT 1 FROM posts WHERE ${LEASED})`,
      )
      .run([lease.postId, effect.run, effect.step, ...leased(lease)]),
    lease,
  );
}

export interface PostEnd {
  /** Null keeps the state: the post waits in it. */
  readonly trigger: Extract<Trigger, "release" | "uploaded" | "published" | "fail"> | null;
  readonly nextAt: number | null;
  readonly error: string | null;
  readonly isInDoubt: boolean;
  readonly tries: number;
  readonly platformPostId: string | null;
  readonly platformUrl: string | null;
  readonly publishedAt: number | null;
  readonly attempt: { readonly outcome: Attempt["outcome"]; readonly error: string | null };
  /** Nothing more is claimed for the account before; null leaves it. */
  readonly accountNextAllowedAt: number | null;
  readonly at: number;
}

/** Ends the work on a post: its new state, its attempt and its account's freedom in one write, and the lease is given back. */
export function endPost(raw: SqliteDatabase, lease: Lease, end: PostEnd): void {
  const move = end.trigger === null ? null : TRANSITIONS[end.trigger];
  const from = move === null ? "" : `AND status IN (${move.from.map((status) => `'${status}'`).join(", ")})`;
  const to = move === null ? "" : `status = '${move.to}',`;
  guard(
    raw
      .prepare(
        `UPDATE posts SET ${to} next_at = ?, error = ?, in_doubt = ?, tries = ?, platform_post_id = COALESCE(?, platform_post_id),
           platform_url = COALESCE(?, platform_url), published_at = COALESCE(?, published_at), lease_worker = NULL, updated_at = ?
         WHERE ${LEASED} ${from}`,
      )
      .run([
        end.nextAt,
        end.error,
        end.isInDoubt ? 1 : 0,
        end.tries,
        end.platformPostId,
        end.platformUrl,
        end.publishedAt,
        end.at,
        ...leased(lease),
      ]),
    lease,
  );
  raw
    .prepare(
      `UPDATE attempts SET outcome = ?, error = ?, finished_at = ?
       WHERE post_id = ? AND number = (SELECT attempts FROM posts WHERE id = ?)`,
    )
    .run([end.attempt.outcome, end.attempt.error, end.at, lease.postId, lease.postId]);
  raw
    .prepare(
      `UPDATE accounts SET in_flight_post = CASE in_flight_post WHEN ? THEN NULL ELSE in_flight_post END,
         next_allowed_at = MAX(next_allowed_at, COALESCE(?, 0)), last_published_at = COALESCE(?, last_published_at) WHERE id = ?`,
    )
    .run([lease.postId, end.accountNextAllowedAt, end.publishedAt, lease.accountId]);
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

function leased(lease: Lease): readonly unknown[] {
  return [lease.postId, lease.fence, lease.workerId];
}

function guard(result: { changes: number | bigint }, lease: Lease): void {
  if (Number(result.changes) === 0) throw new Fenced(lease.postId);
}

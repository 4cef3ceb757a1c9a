import { newId } from "../domain/ids.ts";
import { TRANSITIONS } from "../domain/post-states.ts";
import type { SqliteDatabase } from "./driver.ts";
import { LEASED, leased, type Lease } from "./ledger.ts";
import { freeWebhooks } from "./outbox.ts";
import { FIRST_OF_ACCOUNT, FREE, type Candidate } from "./due-posts.ts";
import type { PostRow } from "./posts.ts";
import type { Tables } from "./schema.ts";

/** How a worker gets and gives back the right to work on posts: raw statements, run in a group commit. */

/** `post` is as it was read: the claim has raised its fence, made it `publishing` and counted the attempt. */
export interface ClaimedPost extends Candidate {
  readonly lease: Lease;
  readonly attempt: number;
}

/** What a claim gives who claims the post as it was read. */
export function leaseFor(workerId: string, { post }: Pick<Candidate, "post">): Lease {
  return { postId: post.id, accountId: post.account_id, workerId, fence: post.fence + 1 };
}

/** What is taken, and until when its account then gets no other. */
export interface Wanted {
  readonly candidate: Candidate;
  readonly nextAllowedAt: number;
}

/** Where those rows lie that may be had: nobody took or stopped them since they were read, and none of the account comes first. */
const MAY_BE_HAD = `
  SELECT j.key AS place, p.rowid AS at, p.fence AS fence, a.updated_at AS account_updated_at FROM json_each(?) j
  CROSS JOIN posts p ON p.id = j.value
  CROSS JOIN accounts a ON a.id = p.account_id
  WHERE p.next_at <= ? AND p.next_at IS NOT NULL AND p.lease_worker IS NULL AND p.status IN ('scheduled', 'publishing', 'uploaded')
    AND ${FREE} AND ${FIRST_OF_ACCOUNT}`;

interface Place {
  readonly place: number;
  readonly at: number;
  readonly fence: number;
  readonly account_updated_at: number;
}

const TAKE = `
  UPDATE posts SET status = CASE status WHEN 'scheduled' THEN '${TRANSITIONS.claim.to}' ELSE status END,
    fence = fence + 1, lease_worker = ?, updated_at = ?,
    attempts = attempts + NOT (attempts > 0 AND EXISTS (
      SELECT 1 FROM attempts a
      WHERE a.post_id = posts.id AND a.number = posts.attempts AND a.run = posts.run AND a.outcome IN ('waiting', 'uploaded')))
  WHERE rowid IN (SELECT value FROM json_each(?))
  RETURNING rowid AS at, attempts`;

const OCCUPY = `
  UPDATE accounts SET in_flight_post = j.value ->> 1, next_allowed_at = MAX(next_allowed_at, j.value ->> 2)
  FROM json_each(?) j WHERE accounts.id = j.value ->> 0`;

/**
 * A post that only waited (held until its time, being processed) goes on in its attempt; anything else is a new one, whose
 * number the claim has counted up.
 */
const OPEN_ATTEMPTS = `
  INSERT INTO attempts (id, owner_id, post_id, number, run, worker_id, outcome, error, lateness_ms, started_at, finished_at)
  SELECT j.value ->> 1, p.owner_id, p.id, p.attempts, p.run, p.lease_worker, 'running', NULL, p.updated_at - p.due_at, p.updated_at, NULL
  FROM json_each(?) j CROSS JOIN posts p ON p.rowid = j.value ->> 0 WHERE TRUE
  ON CONFLICT (post_id, number) DO UPDATE SET outcome = 'running', worker_id = excluded.worker_id, finished_at = NULL`;

/**
 * Takes posts for this worker, in the order given, and opens (or goes on with) their attempts; what somebody else was faster
 * with, or changed since it was read, is left out. A few statements for all of them: one for each would take twice as long.
 */
export function claimPosts(raw: SqliteDatabase, wanted: readonly Wanted[], worker: { id: string; now: number }): ClaimedPost[] {
  const { id, now } = worker;
  const places = findUnchanged(raw, wanted, now);
  if (places.length === 0) return [];
  const rows = raw.prepare(TAKE).all([id, now, JSON.stringify(places.map(({ at }) => at))]) as { at: number; attempts: number }[];
  const attempts = new Map(rows.map((row) => [row.at, row.attempts]));
  raw.prepare(OPEN_ATTEMPTS).run([JSON.stringify(places.map(({ at }) => [at, newId("att")]))]);
  const taken = places.flatMap(({ place }) => wanted[place] ?? []);
  raw
    .prepare(OCCUPY)
    .run([JSON.stringify(taken.map(({ candidate: { post }, nextAllowedAt }) => [post.account_id, post.id, nextAllowedAt]))]);
  return taken.map(({ candidate: { post, account, effects, isLight } }, n) => {
    const attempt = attempts.get(places[n]?.at ?? -1) ?? post.attempts;
    return { post, account, effects, isLight, attempt, lease: leaseFor(id, { post }) };
  });
}

function findUnchanged(raw: SqliteDatabase, wanted: readonly Wanted[], now: number): Place[] {
  const ids = JSON.stringify(wanted.map(({ candidate }) => candidate.post.id));
  const places = raw.prepare(MAY_BE_HAD).all([ids, now, now, now]) as Place[];
  const isUnchanged = ({ place, fence, account_updated_at }: Place): boolean => {
    const candidate = wanted[place]?.candidate;
    return candidate?.post.fence === fence && candidate.account.updated_at === account_updated_at;
  };
  return places.filter(isUnchanged).sort((a, b) => a.place - b.place);
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

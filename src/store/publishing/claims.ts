import { beginningOfId } from "../../domain/ids.ts";
import { TRANSITIONS } from "../../domain/posts/post-states.ts";
import type { SqliteDatabase } from "../engine/driver.ts";
import { LEASED, leased, type Lease } from "./ledger.ts";
import { freeWebhooks } from "./outbox.ts";
import { FIRST_OF_ACCOUNT, FREE, type Candidate } from "./due-posts.ts";
import type { PostRow } from "../tables/posts.ts";
import type { Tables } from "../engine/schema.ts";

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

/** The number of the attempt that a claim makes: a post that only waited (held until its time, being processed) goes on in its last one. */
const attemptOf = (post: string): string => `${post}.attempts + NOT (${post}.attempts > 0 AND EXISTS (
  SELECT 1 FROM attempts t
  WHERE t.post_id = ${post}.id AND t.number = ${post}.attempts AND t.run = ${post}.run AND t.outcome IN ('waiting', 'uploaded')))`;

/**
 * What may be had, in the order given: nobody took or stopped it since it was read, and none of the account comes first. One text
 * for all of them: the driver takes as long to make an object of each row as the search for it does.
 */
const MAY_BE_HAD = `
  SELECT json_group_array(json_array(j.key, p.rowid, p.fence, a.updated_at, ${attemptOf("p")})) AS found
  FROM json_each(?) j CROSS JOIN posts p ON p.id = j.value CROSS JOIN accounts a ON a.id = p.account_id
  WHERE p.next_at <= ? AND p.next_at IS NOT NULL AND p.lease_worker IS NULL AND p.status IN ('scheduled', 'publishing', 'uploaded')
    AND ${FREE} AND ${FIRST_OF_ACCOUNT}`;

type Found = readonly [
  place: number,
  rowid: number,
  fence: number,
  accountUpdatedAt: number,
  attempt: number,
];

// The three that take posts get the same list of rows.
const TAKE = `
  UPDATE posts SET status = CASE status WHEN 'scheduled' THEN '${TRANSITIONS.claim.to}' ELSE status END,
    fence = fence + 1, lease_worker = ?, updated_at = ?, attempts = ${attemptOf("posts")}
  WHERE rowid IN (SELECT value FROM json_each(?))`;

const OPEN_ATTEMPTS = `
  INSERT INTO attempts (id, owner_id, post_id, number, run, worker_id, outcome, error, lateness_ms, started_at, finished_at)
  SELECT ? || lower(hex(randomblob(8))), p.owner_id, p.id, p.attempts, p.run, p.lease_worker, 'running', NULL,
    p.updated_at - p.due_at, p.updated_at, NULL
  FROM json_each(?) j CROSS JOIN posts p ON p.rowid = j.value WHERE TRUE
  ON CONFLICT (post_id, number) DO UPDATE SET outcome = 'running', worker_id = excluded.worker_id, finished_at = NULL`;

const OCCUPY = `
  WITH taken AS MATERIALIZED (SELECT p.account_id, p.id FROM json_each(?) j CROSS JOIN posts p ON p.rowid = j.value)
  UPDATE accounts SET in_flight_post = taken.id FROM taken WHERE accounts.id = taken.account_id`;

const SPACE = "UPDATE accounts SET next_allowed_at = MAX(next_allowed_at, ?) WHERE id = ?";

/**
 * Takes posts for this worker, in the order given, and opens (or goes on with) their attempts; what somebody else was faster
 * with, or changed since it was read, is left out. A few statements for all of them: one for each would take twice as long.
 */
export function claimPosts(
  raw: SqliteDatabase,
  wanted: readonly Wanted[],
  worker: { id: string; now: number },
): ClaimedPost[] {
  const { id, now } = worker;
  const taken = findUnchanged(raw, wanted, now);
  if (taken.length === 0) return [];
  const rowids = JSON.stringify(taken.map(({ rowid }) => rowid));
  raw.prepare(TAKE).run([id, now, rowids]);
  raw.prepare(OPEN_ATTEMPTS).run([beginningOfId("att"), rowids]);
  raw.prepare(OCCUPY).run([rowids]);
  return taken.map(({ wanted: { candidate, nextAllowedAt }, attempt }) => {
    const { post, account, effects, isLight } = candidate;
    if (nextAllowedAt > 0) raw.prepare(SPACE).run([nextAllowedAt, account.id]);
    return { post, account, effects, isLight, attempt, lease: leaseFor(id, candidate) };
  });
}

interface Taken {
  readonly wanted: Wanted;
  readonly rowid: number;
  readonly attempt: number;
}

function findUnchanged(raw: SqliteDatabase, wanted: readonly Wanted[], now: number): Taken[] {
  const ids = JSON.stringify(wanted.map(({ candidate }) => candidate.post.id));
  const { found } = raw.prepare(MAY_BE_HAD).get([ids, now, now, now]) as { found: string };
  const taken: Taken[] = [];
  for (const [place, rowid, fence, accountUpdatedAt, attempt] of JSON.parse(found) as Found[]) {
    const one = wanted[place];
    if (one?.candidate.post.fence !== fence || one.candidate.account.updated_at !== accountUpdatedAt)
      continue;
    taken.push({ wanted: one, rowid, attempt });
  }
  return taken;
}

/**
 * Posts whose time is past saving: those that still wait, and those whose channel is gone while they were on their way, which
 * nobody can ask about any more.
 */
export function readMissed(
  raw: SqliteDatabase,
  cutoff: { now: number; scheduledBefore: number; limit: number },
): MissedPost[] {
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

export function failMissed(
  raw: SqliteDatabase,
  missed: { id: string; error: string; isInDoubt: boolean; now: number },
): void {
  raw
    .prepare(
      `UPDATE posts SET status = '${TRANSITIONS.miss.to}', error = ?, in_doubt = ?, next_at = NULL, updated_at = ?
       WHERE id = ? AND status IN ('scheduled', 'publishing', 'uploaded') AND lease_worker IS NULL`,
    )
    .run([missed.error, missed.isInDoubt ? 1 : 0, missed.now, missed.id]);
}

/** Gives back what a worker held that is proven dead: its posts are taken up again from their ledger. */
export function freeWorker(raw: SqliteDatabase, workerId: string, now: number): number {
  const posts = raw.prepare("SELECT id FROM posts WHERE lease_worker = ?").all([workerId]) as {
    id: string;
  }[];
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

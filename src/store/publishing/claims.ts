import { beginningOfId } from "../../domain/ids.ts";
import { TRANSITIONS } from "../../domain/posts/post-states.ts";
import type {
  Candidate,
  Claimed,
  ClaimedPost,
  Claims,
  ClaimWish,
  MissedCutoff,
  MissedPost,
  Room,
  SuspectsDue,
  TakenOver,
} from "../engine/claims.ts";
import type { SqliteDatabase } from "../engine/driver.ts";
import { rawOf, readRaw } from "../engine/handle.ts";
import { LIVE_STEP, type Lease } from "../engine/ledger.ts";
import type { Reader, Store } from "../engine/store.ts";
import { noteTime } from "./clock-mark.ts";
import { findDue, findSuspects, readCandidates, readNextAfter } from "./due-posts.ts";
import { noteEnd, type EndNote } from "./ended-posts.ts";
import { LEASED, leased } from "./ledger.ts";
import { freeRenewals } from "../tables/grants.ts";
import { freeWebhooks } from "./outbox.ts";
import { noteUnusable } from "./unusable-posts.ts";

/**
 * SQLite's way to claim: one writer at a time, so that what is read in the transaction is so until it ends.
 */
export function createClaims(store: Reader & Pick<Store, "write">): Claims {
  const durably = <T>(work: (raw: SqliteDatabase) => T): Promise<T> =>
    store.write(async (tx) => work(rawOf(tx)));
  return {
    nextAfter: (moment) => readRaw(store, (raw) => readNextAfter(raw, moment)),
    suspects: (wish) => readRaw(store, (raw) => readSuspects(raw, wish)),
    claim: (wish) => durably((raw) => claimDue(raw, wish)),
    failMissed: (cutoff) => durably((raw) => failMissed(raw, cutoff)),
    noteUnusable: (note) => durably((raw) => noteUnusable(raw, note)),
    freeWorker: (workerId, now) => durably((raw) => freeWorker(raw, workerId, now)),
    takeOver: (workerId, now, why) => durably((raw) => takeOver(raw, workerId, { now, why })),
    abandon: (leases, now) => durably((raw) => leases.forEach((lease) => abandon(raw, lease, now))),
    noteTime: (now, toleranceMs) => durably((raw) => noteTime(raw, now, toleranceMs)),
  };
}

const MAX_SUSPECTS = 10_000;

function readSuspects(raw: SqliteDatabase, wish: { now: number; isSteady: boolean }): SuspectsDue {
  const found = findSuspects(raw, { ...wish, limit: MAX_SUSPECTS });
  return { count: found.length, ends: found[0]?.ends ?? 0 };
}

function claimDue(raw: SqliteDatabase, wish: ClaimWish): Claimed {
  const now = wish.now();
  const { limit, mediaLimit, whom, isSteady = true } = wish;
  const without = wish.owners?.fullOwners() ?? { posts: [], withMedia: [] };
  const range = { now, limit, without, isLightOnly: mediaLimit <= 0, isWithoutSuspects: whom === "others" };
  const ids =
    whom === "suspects"
      ? findSuspects(raw, { now, limit, isSteady }).map(({ id }) => id)
      : findDue(raw, range);
  const found = readCandidates(raw, ids);
  const wanted = withinShares(found, wish);
  return { posts: wanted.length === 0 ? [] : take(raw, wanted, wish, now), isFull: found.length === limit };
}

/** Those for which there is room, in all and of their owners' shares. */
function withinShares(found: readonly Candidate[], { mediaLimit, owners }: ClaimWish): Candidate[] {
  let withMedia = 0;
  const taken = new Map<string, Room>();
  return found.filter(({ post: { owner_id: ownerId, is_light: isLight } }) => {
    if (isLight === 0 && withMedia >= mediaLimit) return false;
    const room = owners?.roomOf(ownerId);
    const own = taken.get(ownerId) ?? { posts: 0, withMedia: 0 };
    if (room && (own.posts >= room.posts || (isLight === 0 && own.withMedia >= room.withMedia))) return false;
    withMedia += 1 - isLight;
    taken.set(ownerId, { posts: own.posts + 1, withMedia: own.withMedia + 1 - isLight });
    return true;
  });
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
  const causes = new Map(wanted.map((one) => [one.post.id, wish.causeOf(one, now)]));
  raw.prepare(OPEN_ATTEMPTS).run([beginningOfId("att"), JSON.stringify(Object.fromEntries(causes))]);
  raw.prepare(OCCUPY).run([ids]);
  const { afterMs, spacingMs } = wish.leftOver;
  return wanted.map(({ post, account, effects }) => {
    const isLeftOver = post.status === "scheduled" && now - post.scheduled_at > afterMs;
    if (isLeftOver) raw.prepare(SPACE).run([now + spacingMs, account.id]);
    const lease: Lease = {
      postId: post.id,
      accountId: account.id,
      workerId: wish.workerId,
      fence: post.fence + 1,
    };
    const attempt = attempts.get(post.id) ?? 1;
    // One that goes on in its last attempt was taken up before.
    const lateCause = attempt > post.attempts ? (causes.get(post.id) ?? null) : null;
    return { post, account, effects, lease, attempt, lateCause };
  });
}

const MISSED = `
  SELECT p.id AS id, p.status AS status, p.error AS error, a.name AS account_name, a.id AS account_id,
    a.provider AS provider, a.status AS account_status
  FROM posts p INDEXED BY posts_next JOIN accounts a ON a.id = p.account_id
  WHERE p.next_at <= ? AND p.next_at IS NOT NULL AND p.lease_worker IS NULL AND p.scheduled_at < ?
    AND p.status <> 'published'
    AND NOT (p.status = 'uploaded' AND p.provider IN (SELECT value FROM json_each(?)))
    AND (p.status = 'scheduled' OR a.status IN ('disconnected', 'reconnect_required'))
  ORDER BY p.next_at LIMIT ?`;

const FAIL = `
  UPDATE posts SET status = '${TRANSITIONS.miss.to}', error = ?, in_doubt = ?, next_at = NULL, ends = 0, lone_ends = 0, updated_at = ?
  WHERE id = ? AND status IN ('scheduled', 'publishing', 'uploaded') AND lease_worker IS NULL`;

/** Of those that were on their way nobody can be asked any more: their outcome is in doubt. */
function failMissed(raw: SqliteDatabase, cutoff: MissedCutoff): MissedPost[] {
  const { now, scheduledBefore, selfPublishing, limit, why } = cutoff;
  const missed = raw
    .prepare(MISSED)
    .all([now, scheduledBefore, JSON.stringify(selfPublishing), limit]) as MissedPost[];
  for (const one of missed)
    raw.prepare(FAIL).run([why(one), one.status === "scheduled" ? 0 : 1, now, one.id]);
  return missed;
}

const HELD = "SELECT id FROM posts WHERE lease_worker = ?";
const IS_CLOSING = "SELECT 1 FROM workers WHERE id = ? AND is_closing = 1";

function takeOver(raw: SqliteDatabase, workerId: string, note: Omit<EndNote, "isAlone">): TakenOver {
  const held = raw.prepare(HELD).all([workerId]) as { id: string }[];
  const isAlone = held.length === 1;
  for (const { id } of held) publishLive(raw, id, note.now);
  const suspects = raw.prepare(IS_CLOSING).get([workerId]) === undefined ? held : [];
  const givenUp = suspects.filter(({ id }) => noteEnd(raw, id, { ...note, isAlone })).map(({ id }) => id);
  return { posts: freeWorker(raw, workerId, note.now), givenUp };
}

export function freeWorker(raw: SqliteDatabase, workerId: string, now: number): number {
  const posts = raw.prepare(HELD).all([workerId]) as { id: string }[];
  for (const { id } of posts) freePost(raw, id, now);
  freeWebhooks(raw, workerId);
  freeRenewals(raw, workerId);
  raw.prepare("DELETE FROM workers WHERE id = ?").run([workerId]);
  return posts.length;
}

function publishLive(raw: SqliteDatabase, id: string, now: number): void {
  if (raw.prepare(PUBLISH_LIVE).run([now, id]).changes === 1) raw.prepare(END_LIVE).run([now, id]);
}

function abandon(raw: SqliteDatabase, lease: Lease, now: number): void {
  const held = raw.prepare(`SELECT id FROM posts WHERE ${LEASED}`).get([...leased(lease)]);
  if (held !== undefined) freePost(raw, lease.postId, now);
}

/** What everybody can see already is published, whatever became of the rest. */
const PUBLISH_LIVE = `
  UPDATE posts SET status = '${TRANSITIONS.published.to}', error = NULL, in_doubt = 0, updated_at = ?,
    published_at = (SELECT started_at FROM effects WHERE post_id = posts.id AND run = posts.run AND step = '${LIVE_STEP}')
  WHERE id = ? AND status IN ('publishing', 'uploaded')
    AND EXISTS (SELECT 1 FROM effects WHERE post_id = posts.id AND run = posts.run AND step = '${LIVE_STEP}')`;

const END_LIVE = `
  UPDATE attempts SET outcome = 'published', finished_at = ?, error = NULL WHERE outcome = 'running' AND post_id = ?`;

const INTERRUPT = `
  UPDATE attempts SET outcome = 'interrupted', finished_at = ?, error = 'The process that worked on it ended.'
  WHERE outcome = 'running' AND post_id = ?`;

const GIVE_BACK = `
  UPDATE posts SET lease_worker = NULL, fence = fence + 1,
    next_at = CASE WHEN next_at IS NOT NULL OR status IN ('scheduled', 'publishing', 'uploaded') THEN MIN(COALESCE(next_at, ?), ?) END
  WHERE id = ?`;

function freePost(raw: SqliteDatabase, id: string, now: number): void {
  publishLive(raw, id, now);
  raw.prepare(INTERRUPT).run([now, id]);
  raw
    .prepare("UPDATE accounts SET in_flight_post = NULL, freed_at = ? WHERE in_flight_post = ?")
    .run([now, id]);
  raw.prepare(GIVE_BACK).run([now, now, id]);
}

import { TRANSITIONS } from "../../domain/posts/post-states.ts";
import type { MissedCutoff, MissedPost, TakenOver } from "../engine/claims.ts";
import { LIVE_STEP, RESTORED_STEP, type Lease } from "../engine/ledger.ts";
import { change, rowOf, rowsOf } from "../engine/statements.ts";
import type { Tx } from "../engine/store.ts";
import { freeRenewals } from "../tables/grants.ts";
import { LEASED, leased } from "./ledger.ts";
import { freeWebhooks } from "./outbox.ts";

/* How the right to work on posts is released: by the worker that has it, or for one that is dead. */

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
  UPDATE posts SET status = '${TRANSITIONS.miss.to}', error = ?, in_doubt = ?, next_at = NULL, crashes = 0, updated_at = ?
  WHERE id = ? AND status IN ('scheduled', 'publishing', 'uploaded') AND lease_worker IS NULL`;

/** Of those that were on their way nobody can be asked any more: their outcome is in doubt. */
export async function failMissed(tx: Tx, cutoff: MissedCutoff): Promise<MissedPost[]> {
  const { now, scheduledBefore, selfPublishing, limit, why } = cutoff;
  const range = [now, scheduledBefore, JSON.stringify(selfPublishing), limit];
  const missed = await rowsOf<MissedPost>(tx, MISSED, range);
  const failed: MissedPost[] = [];
  // In the order of their ids, in which several workers that do it at once do not lock each other out.
  for (const one of missed.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    const isFailed = await change(tx, FAIL, [why(one), one.status === "scheduled" ? 0 : 1, now, one.id]);
    if (isFailed === 1) failed.push(one);
  }
  return failed;
}

const HELD = "SELECT id FROM posts WHERE lease_worker = ? ORDER BY id";
const IS_CLOSING = "SELECT 1 FROM workers WHERE id = ? AND is_closing = 1";

/**
 * Releases what a dead worker held. Each of its posts may be what ended the process (a film that takes all
 * memory, say), so it counts a crash against them, unless the process had been asked to end.
 */
export async function takeOver(tx: Tx, workerId: string, now: number): Promise<TakenOver> {
  const held = await rowsOf<{ id: string }>(tx, HELD, [workerId]);
  const isCrash = (await rowOf(tx, IS_CLOSING, [workerId])) === undefined;
  const failed: string[] = [];
  for (const { id } of held) {
    await publishLive(tx, id, now);
    if (isCrash && (await countCrash(tx, id, now))) failed.push(id);
  }
  return { posts: await freeWorker(tx, workerId, now), failed };
}

/** So many in a row, and the post is not tried again. */
const MAX_CRASHES = 3;

/** One more crash makes the post fail, so it is worked on with no other such post beside it. */
export const QUARANTINE_FROM = MAX_CRASHES - 1;

interface CrashedPost {
  readonly status: string;
  readonly crashes: number;
  readonly is_light: number;
  readonly warnings: string | null;
  readonly account_name: string;
  readonly account_url: string | null;
  /** 1 where it may be on the platform. */
  readonly in_doubt: number;
}

/** Not of posts that a call holds for a moment. */
const COUNT_CRASH = `UPDATE posts SET crashes = crashes + 1 WHERE id = ? AND status IN ('publishing', 'uploaded', 'published')`;

/** What is on the platform already may go live there by itself. */
const READ_CRASHED = `
  SELECT p.status, p.crashes, p.is_light, p.warnings, a.name AS account_name, a.profile_url AS account_url,
    CASE WHEN p.in_doubt = 1 OR p.status = 'uploaded' OR EXISTS (
      SELECT 1 FROM effects e WHERE e.post_id = p.id AND e.run = p.run
        AND (e.step = '${RESTORED_STEP}' OR e.state IN ('intent', 'unknown'))) THEN 1 ELSE 0 END AS in_doubt
  FROM posts p JOIN accounts a ON a.id = p.account_id WHERE p.id = ? AND p.crashes >= ${MAX_CRASHES}`;

const FAIL_CRASHED = `
  UPDATE posts SET status = '${TRANSITIONS.fail.to}', error = ?, in_doubt = ?, tries = 0, next_at = NULL, crashes = 0, updated_at = ?
  WHERE id = ?`;

const END_CRASHED_ATTEMPT = `
  UPDATE attempts SET finished_at = ?, outcome = ?, error = ? WHERE outcome = 'running' AND post_id = ?`;

/** The post stays published. */
const DROP_FOLLOW_UPS =
  "UPDATE posts SET tries = 0, next_at = NULL, crashes = 0, warnings = ?, updated_at = ? WHERE id = ?";

/** True where that was one crash too many. */
async function countCrash(tx: Tx, id: string, now: number): Promise<boolean> {
  if ((await change(tx, COUNT_CRASH, [id])) === 0) return false;
  const post = await rowOf<CrashedPost>(tx, READ_CRASHED, [id]);
  if (post === undefined) return false;
  if (post.status === "published") {
    const warnings = [...(JSON.parse(post.warnings ?? "[]") as string[]), FOLLOW_UPS_CRASHED];
    await change(tx, DROP_FOLLOW_UPS, [JSON.stringify(warnings), now, id]);
    return true;
  }
  const error = crashSentence(post);
  await change(tx, END_CRASHED_ATTEMPT, [now, post.in_doubt === 1 ? "unknown" : "failed", error, id]);
  await change(tx, FAIL_CRASHED, [error, post.in_doubt, now, id]);
  return true;
}

const FOLLOW_UPS_CRASHED = `What follows the post did not go through: the program ended ${MAX_CRASHES} times in a row while it worked on it.`;

function crashSentence(post: CrashedPost): string {
  const what = `the program ended ${MAX_CRASHES} times in a row while it worked on this post.`;
  const media = post.is_light === 1 ? "" : " Its media may be damaged, or too much for this machine.";
  const where = post.account_url ?? `the channel "${post.account_name}"`;
  return post.in_doubt === 0
    ? `T${what.slice(1)}${media} Change the post, then send it again.`
    : `outcome unknown: ${what}${media} Look at ${where}, then settle it with resolve_post, or call retry_post, which asks the platform.`;
}

export async function freeWorker(tx: Tx, workerId: string, now: number): Promise<number> {
  const posts = await rowsOf<{ id: string }>(tx, HELD, [workerId]);
  for (const { id } of posts) await freePost(tx, id, now);
  await freeWebhooks(tx, workerId);
  await freeRenewals(tx, workerId);
  await change(tx, "DELETE FROM workers WHERE id = ?", [workerId]);
  return posts.length;
}

async function publishLive(tx: Tx, id: string, now: number): Promise<void> {
  if ((await change(tx, PUBLISH_LIVE, [now, id])) === 1) await change(tx, END_LIVE, [now, id]);
}

export async function abandon(tx: Tx, lease: Lease, now: number): Promise<void> {
  const held = await rowOf(tx, `SELECT id FROM posts WHERE ${LEASED}`, leased(lease));
  if (held !== undefined) await freePost(tx, lease.postId, now);
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

const FREE_ACCOUNT = `
  UPDATE accounts SET in_flight_post = NULL, freed_at = ?
  WHERE id = (SELECT account_id FROM posts WHERE id = ?) AND in_flight_post = ?`;

const GIVE_BACK = `
  UPDATE posts SET lease_worker = NULL, fence = fence + 1,
    next_at = CASE WHEN next_at IS NULL AND status NOT IN ('scheduled', 'publishing', 'uploaded') THEN NULL
      WHEN next_at < ? THEN next_at ELSE ? END
  WHERE id = ?`;

async function freePost(tx: Tx, id: string, now: number): Promise<void> {
  await publishLive(tx, id, now);
  await change(tx, INTERRUPT, [now, id]);
  await change(tx, FREE_ACCOUNT, [now, id, id]);
  await change(tx, GIVE_BACK, [now, now, id]);
}

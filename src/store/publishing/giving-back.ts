import { TRANSITIONS } from "../../domain/posts/post-states.ts";
import type { MissedCutoff, MissedPost, TakenOver } from "../engine/claims.ts";
import { LIVE_STEP, type Lease } from "../engine/ledger.ts";
import { change, rowOf, rowsOf } from "../engine/statements.ts";
import type { Tx } from "../engine/store.ts";
import { freeRenewals } from "../tables/grants.ts";
import { noteEnd, type EndNote } from "./ended-posts.ts";
import { isHeld } from "./ledger.ts";
import { freeWebhooks } from "./outbox.ts";

/* How the right to work on posts is given back, by whoever has it or for somebody who is dead. */

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

export async function takeOver(tx: Tx, workerId: string, note: Omit<EndNote, "isAlone">): Promise<TakenOver> {
  const held = await rowsOf<{ id: string }>(tx, HELD, [workerId]);
  const isAlone = held.length === 1;
  for (const { id } of held) await publishLive(tx, id, note.now);
  const suspects = (await rowOf(tx, IS_CLOSING, [workerId])) === undefined ? held : [];
  const givenUp: string[] = [];
  for (const { id } of suspects) if (await noteEnd(tx, id, { ...note, isAlone })) givenUp.push(id);
  return { posts: await freeWorker(tx, workerId, note.now), givenUp };
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
  if (await isHeld(tx, lease)) await freePost(tx, lease.postId, now);
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

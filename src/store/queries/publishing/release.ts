import { sql } from "kysely";
import type { Attempt } from "../../../domain/posts/post.ts";
import { TRANSITIONS } from "../../../domain/posts/post-states.ts";
import type { MissedCutoff, MissedPost, TakenOver } from "../../engine/claims.ts";
import { LIVE_STEP, RESTORED_STEP, type Lease } from "../../engine/ledger.ts";
import { queryOf } from "../../engine/handle.ts";
import { anyOf, change, rowOf, rowsOf } from "../../engine/statements.ts";
import type { Tx } from "../../engine/store.ts";
import { freeRenewals } from "../grants.ts";
import { isHeld } from "./ledger.ts";
import { freeWebhooks } from "./outbox.ts";

/* How the right to work on posts is released: by the worker that has it, or for one that is dead. */

/** Of those that were on their way no platform can be asked any more: their outcome is in doubt. */
export async function failMissed(tx: Tx, cutoff: MissedCutoff): Promise<MissedPost[]> {
  const { now, scheduledBefore, selfPublishing, limit, why } = cutoff;
  const missed = await rowsOf(
    tx,
    sql<MissedPost>`
      SELECT p.id AS id, p.status AS status, p.error AS error, a.name AS account_name, a.id AS account_id,
        a.provider AS provider, a.status AS account_status
      FROM posts p JOIN accounts a ON a.id = p.account_id
      WHERE p.next_at <= ${now} AND p.next_at IS NOT NULL AND p.lease_worker IS NULL AND p.scheduled_at < ${scheduledBefore}
        AND p.status <> 'published' AND NOT (p.status = 'uploaded' AND p.provider IN ${anyOf(selfPublishing)})
        AND (p.status = 'scheduled' OR a.status IN ('disconnected', 'reconnect_required'))
      ORDER BY p.next_at LIMIT ${limit}`,
  );
  const failed: MissedPost[] = [];
  // In the order of their ids, in which several workers that do it at once do not lock each other out.
  for (const one of missed.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    const { numUpdatedRows } = await queryOf(tx)
      .updateTable("posts")
      .set({ status: TRANSITIONS.miss.to, error: why(one), in_doubt: one.status === "scheduled" ? 0 : 1 })
      .set({ next_at: null, crashes: 0, updated_at: now })
      .where("id", "=", one.id)
      .where("status", "in", ["scheduled", "publishing", "uploaded"])
      .where("lease_worker", "is", null)
      .executeTakeFirst();
    if (numUpdatedRows === 1n) failed.push(one);
  }
  return failed;
}

function heldBy(tx: Tx, workerId: string): Promise<{ id: string }[]> {
  return queryOf(tx)
    .selectFrom("posts")
    .select("id")
    .where("lease_worker", "=", workerId)
    .orderBy("id")
    .execute();
}

/**
 * Releases what a dead worker held. Each of its posts may be what ended the process (a film that takes all
 * memory, say), so it counts a crash against them, unless the process had been asked to end.
 */
export async function takeOver(tx: Tx, workerId: string, now: number): Promise<TakenOver> {
  const held = await heldBy(tx, workerId);
  const closing = sql`SELECT 1 FROM workers WHERE id = ${workerId} AND is_closing = 1`;
  const isCrash = (await rowOf(tx, closing)) === undefined;
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

/** True where that was one crash too many. */
async function countCrash(tx: Tx, id: string, now: number): Promise<boolean> {
  const query = queryOf(tx);
  const { numUpdatedRows } = await query
    .updateTable("posts")
    .set({ crashes: sql`crashes + 1` })
    .where("id", "=", id)
    // Not of posts that a call holds for a moment.
    .where("status", "in", ["publishing", "uploaded", "published"])
    .executeTakeFirst();
  const post = numUpdatedRows === 0n ? undefined : await readCrashed(tx, id);
  if (post === undefined) return false;
  const ended = { tries: 0, next_at: null, crashes: 0, updated_at: now };
  const update = query.updateTable("posts").where("id", "=", id);
  if (post.status === "published") {
    // The post stays published.
    const warnings = [...(JSON.parse(post.warnings ?? "[]") as string[]), FOLLOW_UPS_CRASHED];
    await update.set({ ...ended, warnings: JSON.stringify(warnings) }).execute();
    return true;
  }
  const error = crashSentence(post);
  await endAttempt(tx, id, { finished_at: now, outcome: post.in_doubt === 1 ? "unknown" : "failed", error });
  await update.set({ ...ended, status: TRANSITIONS.fail.to, error, in_doubt: post.in_doubt }).execute();
  return true;
}

/** The post, where it crashed once too often. What is on the platform already may go live there by itself. */
function readCrashed(tx: Tx, id: string): Promise<CrashedPost | undefined> {
  return rowOf(
    tx,
    sql<CrashedPost>`
      SELECT p.status, p.crashes, p.is_light, p.warnings, a.name AS account_name, a.profile_url AS account_url,
        CASE WHEN p.in_doubt = 1 OR p.status = 'uploaded' OR EXISTS (
          SELECT 1 FROM effects e WHERE e.post_id = p.id AND e.run = p.run
            AND (e.step = ${RESTORED_STEP} OR e.state IN ('intent', 'unknown'))) THEN 1 ELSE 0 END AS in_doubt
      FROM posts p JOIN accounts a ON a.id = p.account_id WHERE p.id = ${id} AND p.crashes >= ${MAX_CRASHES}`,
  );
}

/** Of the attempt that runs. */
async function endAttempt(
  tx: Tx,
  postId: string,
  end: { finished_at: number; outcome: Attempt["outcome"]; error: string | null },
): Promise<void> {
  await queryOf(tx)
    .updateTable("attempts")
    .set(end)
    .where("outcome", "=", "running")
    .where("post_id", "=", postId)
    .execute();
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
  const posts = await heldBy(tx, workerId);
  for (const { id } of posts) await freePost(tx, id, now);
  await freeWebhooks(tx, workerId);
  await freeRenewals(tx, workerId);
  await queryOf(tx).deleteFrom("workers").where("id", "=", workerId).execute();
  return posts.length;
}

export async function abandon(tx: Tx, lease: Lease, now: number): Promise<void> {
  if (await isHeld(tx, lease)) await freePost(tx, lease.postId, now);
}

/** What everybody can see already is published, whatever became of the rest. */
async function publishLive(tx: Tx, id: string, now: number): Promise<void> {
  const live = sql`FROM effects WHERE post_id = posts.id AND run = posts.run AND step = ${LIVE_STEP}`;
  const published = await change(
    tx,
    sql`UPDATE posts SET status = ${TRANSITIONS.published.to}, error = NULL, in_doubt = 0, updated_at = ${now},
        published_at = (SELECT started_at ${live})
      WHERE id = ${id} AND status IN ('publishing', 'uploaded') AND EXISTS (SELECT 1 ${live})`,
  );
  if (published === 1) await endAttempt(tx, id, { finished_at: now, outcome: "published", error: null });
}

async function freePost(tx: Tx, id: string, now: number): Promise<void> {
  await publishLive(tx, id, now);
  const error = "The process that worked on it ended.";
  await endAttempt(tx, id, { finished_at: now, outcome: "interrupted", error });
  await change(
    tx,
    sql`UPDATE accounts SET in_flight_post = NULL, freed_at = ${now}
      WHERE id = (SELECT account_id FROM posts WHERE id = ${id}) AND in_flight_post = ${id}`,
  );
  await change(
    tx,
    sql`UPDATE posts SET lease_worker = NULL, fence = fence + 1,
        next_at = CASE WHEN next_at IS NULL AND status NOT IN ('scheduled', 'publishing', 'uploaded') THEN NULL
          WHEN next_at < ${now} THEN next_at ELSE ${now} END
      WHERE id = ${id}`,
  );
}

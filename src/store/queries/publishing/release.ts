import { channelInFull } from "../../../domain/accounts/channel-names.ts";
import { type NextStep, say, toStored } from "../../../domain/sentences.ts";
import { sql, type Expression, type ExpressionBuilder, type SqlBool } from "kysely";
import type { SaidAttempt } from "../../../domain/posts/post.ts";
import { TRANSITIONS } from "../../../domain/posts/post-states.ts";
import { TIME_LIMITS } from "../../../domain/time-limits.ts";
import type { MissedCutoff, MissedPost, TakeOver, UnusableNote } from "../../engine/claims.ts";
import { LIVE_STEP, RESTORED_STEP, type Lease } from "../../engine/ledger.ts";
import { anyOf, change, queryOf, rowOf, rowsOf, deleteRows, updateRows } from "../../engine/statements.ts";
import type { Death } from "../../engine/engine.ts";
import type { PostRow, Tables } from "../../schema/tables.ts";
import type { Tx } from "../../engine/store.ts";
import { countEnded, type EndedAttempt } from "./attempt-totals.ts";
import { freeFilms } from "./films.ts";
import { notePosts } from "../events.ts";
import { freeRenewals } from "../grants.ts";
import { freeWebhooks } from "../webhooks.ts";

/* How posts are released, or given up: by the worker that has them, for a dead one, or while none has them. */

/** Posts that were on their way may be on the platform, which cannot be asked any more: they are in doubt. */
export async function failMissed(tx: Tx, cutoff: MissedCutoff): Promise<MissedPost[]> {
  const { now, scheduledBefore, selfPublishing, limit, why } = cutoff;
  const missed = await rowsOf(
    tx,
    sql<MissedPost>`
      SELECT p.id AS id, p.status AS status, p.error AS error, a.name AS account_name, a.handle AS account_handle, a.id AS account_id,
        a.provider AS provider, a.status AS account_status
      FROM posts p JOIN accounts a ON a.id = p.account_id
      WHERE p.next_at <= ${now} AND p.next_at IS NOT NULL AND p.lease_worker IS NULL AND p.scheduled_at < ${scheduledBefore}
        AND p.status <> 'published' AND NOT (p.status = 'uploaded' AND p.provider IN ${anyOf(selfPublishing)})
        AND (p.status = 'scheduled' OR a.status IN ('disconnected', 'reconnect_required'))
        AND a.paused = 0
      ORDER BY p.next_at LIMIT ${limit}`,
  );
  const failed: MissedPost[] = [];
  for (const one of missed.toSorted(byId)) {
    const post = await queryOf(tx)
      .updateTable("posts")
      .set({ status: TRANSITIONS.miss.to, error: why(one), in_doubt: one.status === "scheduled" ? 0 : 1 })
      .set({ next_at: null, crashes: 0, updated_at: now })
      .where("id", "=", one.id)
      .where("status", "in", ["scheduled", "publishing", "uploaded"])
      .where("lease_worker", "is", null)
      .returningAll()
      .executeTakeFirst();
    if (post === undefined) continue;
    await notePosts(tx, [post]);
    failed.push(one);
  }
  return failed;
}

/** All transactions lock posts in this order, so that none waits for another in a circle. */
function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : 1;
}

interface UnusablePost {
  readonly id: string;
  readonly scheduled_at: number;
  readonly account_id: string;
  readonly name: string;
  readonly provider: string;
  readonly handle: string | null;
  readonly status: Tables["accounts"]["status"];
  readonly status_reason: string | null;
  readonly paused: number;
}

/** Due posts whose channel cannot be used, or is paused, say so. `startWaitingPosts` starts them once it can. */
export async function noteUnusable(tx: Tx, note: UnusableNote): Promise<number> {
  const posts = await rowsOf(
    tx,
    sql<UnusablePost>`
      SELECT p.id AS id, p.scheduled_at AS scheduled_at, a.id AS account_id, a.name AS name,
        a.provider AS provider, a.handle AS handle, a.status AS status, a.status_reason AS status_reason, a.paused AS paused
      FROM posts p JOIN accounts a ON a.id = p.account_id
      WHERE p.next_at <= ${note.now} AND p.next_at IS NOT NULL AND p.lease_worker IS NULL AND p.status = 'scheduled'
        AND (a.status IN ('disconnected', 'reconnect_required') OR a.paused = 1)
      ORDER BY p.next_at LIMIT ${note.limit}`,
  );
  for (const { id, scheduled_at: scheduledAt, account_id: accountId, ...account } of posts.toSorted(byId)) {
    const error = note.why({ ...account, id: accountId });
    // However long the pause, it waits.
    const lastLook = account.paused === 1 ? Infinity : scheduledAt + note.lastLookAfterMs;
    const lookAgainAt = Math.max(note.now + 1, Math.min(note.lookAgainAt, lastLook));
    // `updated_at` changes only with the reason, so that a watcher of the post hears of it once.
    await change(
      tx,
      sql`UPDATE posts SET updated_at = CASE WHEN error = ${error} THEN updated_at ELSE CAST(${note.now} AS BIGINT) END,
          error = ${error}, next_at = ${lookAgainAt}
        WHERE id = ${id} AND status = 'scheduled' AND lease_worker IS NULL`,
    );
  }
  return posts.length;
}

type LockedPost = Pick<
  Tables["posts"],
  "id" | "account_id" | "provider" | "scheduled_at" | "fence" | "lease_worker"
>;

/** Locks posts, then their accounts, each in the order of their ids. */
async function lockPosts(
  tx: Tx,
  which: (eb: ExpressionBuilder<Tables, "posts">) => Expression<SqlBool>,
): Promise<LockedPost[]> {
  const posts = await queryOf(tx)
    .selectFrom("posts")
    .select(["id", "account_id", "provider", "scheduled_at", "fence", "lease_worker"])
    .where(which)
    .orderBy("id")
    .forNoKeyUpdate()
    .execute();
  const accountIds = posts.map((post) => post.account_id);
  await queryOf(tx)
    .selectFrom("accounts")
    .select("id")
    .where("id", "in", accountIds)
    .orderBy("id")
    .forNoKeyUpdate()
    .execute();
  return posts;
}

/**
 * Releases what a dead worker held. Any of its posts may have ended the process (by a film that takes all
 * memory, for example), so each gets a crash, unless the process had been asked to end.
 */
export async function takeOver(
  tx: Tx,
  workerId: string,
  { now, arrivedAt }: { readonly now: number } & Death,
): Promise<TakeOver> {
  const held = await lockPosts(tx, (eb) => eb("lease_worker", "=", workerId));
  const closing = sql`SELECT 1 FROM workers WHERE id = ${workerId} AND is_closing = 1`;
  const isCrash = (await rowOf(tx, closing)) === undefined;
  const failed: string[] = [];
  const ended: EndedAttempt[] = [];
  for (const post of held) {
    await publishLive(tx, post, { now, ended });
    if (isCrash && (await countCrash(tx, post, { now, ended }))) failed.push(post.id);
  }
  const posts = await freeWorker(tx, workerId, now, ended);
  // After they are free: their channels go on with other posts meanwhile.
  for (const { id } of held) await putOff(tx, id, { now, arrivedAt });
  return { posts, failed };
}

/**
 * A post waits for its next try where a step of it was under way, which may still be on its way to the platform:
 * asked before that has arrived, the platform would not know of it, and it would be sent again. It also waits
 * where it was there at several ends of the program.
 */
async function putOff(
  tx: Tx,
  id: string,
  { now, arrivedAt }: { readonly now: number } & Death,
): Promise<void> {
  const post = await rowOf(
    tx,
    sql<{ crashes: number; is_open: number }>`
      SELECT crashes, CASE WHEN EXISTS (
        SELECT 1 FROM effects e WHERE e.post_id = p.id AND e.run = p.run AND e.state = 'intent') THEN 1 ELSE 0 END AS is_open
      FROM posts p WHERE id = ${id} AND next_at IS NOT NULL`,
  );
  if (post === undefined) return;
  const spaced = now + (WAITS_AFTER_CRASHES[post.crashes] ?? 0);
  const nextAt = Math.max(spaced, post.is_open === 1 ? arrivedAt : -Infinity);
  if (nextAt > now) await updateRows(tx, "posts", { id }, { next_at: nextAt });
}

/**
 * How long a post waits after so many crashes in a row without a step done in between. A machine in trouble
 * ends its program several times within seconds, whatever is being worked on: that tells nothing of the post.
 */
const WAITS_AFTER_CRASHES: readonly number[] = [0, 0, TIME_LIMITS.secondCrash, TIME_LIMITS.thirdCrash];

/** After so many in a row the post is not tried again. */
const MAX_CRASHES = WAITS_AFTER_CRASHES.length;

/** It is worked on without another such post beside it: should it end the process again, it takes none with it. */
export const QUARANTINE_FROM = 2;

interface CrashedPost {
  readonly status: string;
  readonly crashes: number;
  readonly is_light: number;
  readonly warnings: string | null;
  readonly name: string;
  readonly provider: string;
  readonly handle: string | null;
  readonly account_url: string | null;
  /** 1 where it may be on the platform. */
  readonly in_doubt: number;
}

/** When it is, and the attempts that were ended so far. */
interface Release {
  readonly now: number;
  readonly ended: EndedAttempt[];
}

/** True where that crash was one too many. */
async function countCrash(tx: Tx, locked: LockedPost, { now, ended: attempts }: Release): Promise<boolean> {
  const { id } = locked;
  // A post in another state is held by a call, not by a publisher.
  const held = { id, status: ["publishing", "uploaded", "published"] } as const;
  const counted = await updateRows(tx, "posts", held, { crashes: sql`crashes + 1` });
  const post = counted === 0 ? undefined : await readCrashed(tx, id);
  if (post === undefined) return false;
  const ended = { tries: 0, next_at: null, crashes: 0, updated_at: now };
  if (post.status === "published") {
    // The post stays published.
    const warnings = [...(JSON.parse(post.warnings ?? "[]") as string[]), FOLLOW_UPS_CRASHED];
    await updateRows(tx, "posts", { id }, { ...ended, warnings: JSON.stringify(warnings) });
    return true;
  }
  const error = crashSentence(post);
  const outcome = post.in_doubt === 1 ? "unknown" : "failed";
  await endAttempt(tx, locked, { end: { finished_at: now, outcome, error }, ended: attempts });
  const failed = await queryOf(tx)
    .updateTable("posts")
    .where("id", "=", id)
    .set({ ...ended, status: TRANSITIONS.fail.to, error, in_doubt: post.in_doubt })
    .returningAll()
    .executeTakeFirstOrThrow();
  await notePosts(tx, [failed]);
  return true;
}

/** The post, where it crashed too often. In doubt: what is on the platform may go live there by itself. */
function readCrashed(tx: Tx, id: string): Promise<CrashedPost | undefined> {
  return rowOf(
    tx,
    sql<CrashedPost>`
      SELECT p.status, p.crashes, p.is_light, p.warnings, a.name AS name, a.provider AS provider, a.handle AS handle,
        a.profile_url AS account_url,
        CASE WHEN p.in_doubt = 1 OR p.status = 'uploaded' OR EXISTS (
          SELECT 1 FROM effects e WHERE e.post_id = p.id AND e.run = p.run
            AND (e.step = ${RESTORED_STEP} OR e.state IN ('intent', 'unknown'))) THEN 1 ELSE 0 END AS in_doubt
      FROM posts p JOIN accounts a ON a.id = p.account_id WHERE p.id = ${id} AND p.crashes >= ${MAX_CRASHES}`,
  );
}

/** Ends the running attempt. */
async function endAttempt(
  tx: Tx,
  { id, provider, scheduled_at: scheduledAt }: LockedPost,
  { end, ended }: { end: AttemptEnd; ended: EndedAttempt[] },
): Promise<void> {
  if ((await updateRows(tx, "attempts", { post_id: id, outcome: "running" }, end)) > 0)
    ended.push({ provider, outcome: end.outcome, lateMs: end.finished_at - scheduledAt });
}

interface AttemptEnd {
  readonly finished_at: number;
  readonly outcome: SaidAttempt["outcome"];
  readonly error: string | null;
}

const FOLLOW_UPS_CRASHED = `What follows the post did not go through: the program ended ${MAX_CRASHES} times in a row while it worked on it.`;

/** What can be done about a post that may have gone out. */
const IN_DOUBT: readonly NextStep[] = [
  { do: "settle", postId: null },
  { do: "retry", postId: null, changed: false },
];

function crashSentence(post: CrashedPost): string {
  const what = `the program ended ${MAX_CRASHES} times in a row while it worked on this post.`;
  const media = post.is_light === 1 ? "" : " Its media may be damaged, or too much for this machine.";
  const where = post.account_url ?? channelInFull(post);
  return post.in_doubt === 0
    ? `T${what.slice(1)}${media} Change the post, then send it again.`
    : toStored(say(`outcome unknown: ${what}${media} Look at ${where}.`, { next: IN_DOUBT }));
}

/** `ended`: attempts of this transaction that are yet to be counted. */
export async function freeWorker(
  tx: Tx,
  workerId: string,
  now: number,
  ended: EndedAttempt[] = [],
): Promise<number> {
  const posts = await lockPosts(tx, (eb) => eb("lease_worker", "=", workerId));
  for (const post of posts) await freePost(tx, post, { now, ended });
  await countEnded(tx, ended);
  await freeWebhooks(tx, workerId);
  await freeRenewals(tx, workerId);
  await freeFilms(tx, workerId);
  await deleteRows(tx, "workers", { id: workerId });
  return posts.length;
}

export async function abandon(tx: Tx, leases: readonly Lease[], now: number): Promise<void> {
  const ids = leases.map(({ postId }) => postId);
  const posts = await lockPosts(tx, (eb) => eb("id", "in", ids));
  const ended: EndedAttempt[] = [];
  for (const post of posts)
    if (leases.some((lease) => isOf(lease, post))) await freePost(tx, post, { now, ended });
  await countEnded(tx, ended);
}

function isOf({ postId, fence, workerId }: Lease, post: LockedPost): boolean {
  return postId === post.id && fence === post.fence && workerId === post.lease_worker;
}

/** A post that everyone can see is published, whatever became of the rest. */
async function publishLive(tx: Tx, post: LockedPost, { now, ended }: Release): Promise<void> {
  const { id } = post;
  const live = sql`FROM effects WHERE post_id = posts.id AND run = posts.run AND step = ${LIVE_STEP}`;
  const published = await rowOf(
    tx,
    sql<PostRow>`UPDATE posts SET status = ${TRANSITIONS.published.to}, error = NULL, in_doubt = 0, updated_at = ${now},
        published_at = (SELECT started_at ${live})
      WHERE id = ${id} AND status IN ('publishing', 'uploaded') AND EXISTS (SELECT 1 ${live}) RETURNING *`,
  );
  if (published === undefined) return;
  await notePosts(tx, [published]);
  await endAttempt(tx, post, { end: { finished_at: now, outcome: "published", error: null }, ended });
}

async function freePost(tx: Tx, post: LockedPost, release: Release): Promise<void> {
  const { id } = post;
  const { now, ended } = release;
  await publishLive(tx, post, release);
  const error = "The process that worked on it ended.";
  await endAttempt(tx, post, { end: { finished_at: now, outcome: "interrupted", error }, ended });
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

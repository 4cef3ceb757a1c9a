import { sql } from "kysely";
import { newId } from "../../../domain/ids.ts";
import type { LateCause } from "../../../domain/posts/post.ts";
import { TRANSITIONS } from "../../../domain/posts/post-states.ts";
import type { Candidate, ClaimedPost, ClaimWish } from "../../engine/claims.ts";
import { queryOf } from "../../engine/handle.ts";
import { POST_COLUMNS } from "../../engine/post-columns.ts";
import type { PostRow } from "../../engine/schema.ts";
import type { Reader, Tx } from "../../engine/store.ts";
import { QUARANTINE_FROM } from "./release.ts";

/* What both engines do of a claim, once each has found and locked due posts in its own way. */

/** Everything about these posts that working on them needs, in their order. */
export async function readCandidates(reader: Reader, ids: readonly string[]): Promise<Candidate[]> {
  const query = queryOf(reader);
  const rows = await query.selectFrom("posts").select(POST_COLUMNS).where("id", "in", ids).execute();
  const posts = new Map(rows.map((row) => [row.id, row]));
  const accountIds = rows.map((post) => post.account_id);
  const found = await query.selectFrom("accounts").selectAll().where("id", "in", accountIds).execute();
  const accounts = new Map(found.map((row) => [row.id, row]));
  const effects = await query.selectFrom("effects").selectAll().where("post_id", "in", ids).execute();
  const touched = new Set(effects.map((row) => row.post_id));
  return ids.flatMap((id) => {
    const post = posts.get(id);
    const account = post && accounts.get(post.account_id);
    if (post === undefined || account === undefined) return [];
    const own = touched.has(id) ? effects.filter((row) => row.post_id === id && row.run === post.run) : [];
    return [{ post, account, effects: own }];
  });
}

/**
 * When the first post after this moment wants attention; null when none waits. One before it may be held up
 * by its channel.
 */
export async function readNextAfter(reader: Reader, moment: number): Promise<number | null> {
  const row = await queryOf(reader)
    .selectFrom("posts")
    .select(({ fn }) => fn.min("next_at").as("next"))
    .where("next_at", "is not", null)
    .where("lease_worker", "is", null)
    .where("next_at", ">", moment)
    .executeTakeFirst();
  return row?.next ?? null;
}

/** Whether a due post waits that one more crash makes fail. */
export async function hasQuarantined(reader: Reader, now: number): Promise<boolean> {
  const row = await queryOf(reader)
    .selectFrom("posts")
    .select("id")
    .where("crashes", ">=", sql.lit(QUARANTINE_FROM))
    .where("next_at", "<=", now)
    .where("lease_worker", "is", null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Gives due posts to the worker, in a few statements for all of them. `found` is nobody else's until the
 * transaction ends.
 */
export async function takePosts(
  tx: Tx,
  found: readonly Candidate[],
  wish: ClaimWish,
  now: number,
): Promise<ClaimedPost[]> {
  if (found.length === 0) return [];
  const attempts = await beginAttempts(tx, found, { workerId: wish.workerId, now });
  const causes = new Map(found.map((one) => [one.post.id, wish.causeOf(one, now)]));
  await noteAttempts(tx, found, { workerId: wish.workerId, now, attempts, causes });
  await occupyAccounts(tx, found);
  await spaceAccounts(tx, found, wish, now);
  return found.map(({ post, account, effects }) => {
    const { workerId } = wish;
    const lease = { postId: post.id, accountId: account.id, workerId, fence: post.fence + 1 };
    const attempt = attempts.get(post.id) ?? 1;
    // A post that goes on in its last attempt was claimed before.
    const lateCause = attempt > post.attempts ? (causes.get(post.id) ?? null) : null;
    return { post, account, effects, lease, attempt, lateCause };
  });
}

/**
 * A post that only waited (held until its time, being processed) goes on in its last attempt. One that is
 * published, and waits for what follows it, keeps that as it ended. Answers the numbers of their attempts.
 */
async function beginAttempts(
  tx: Tx,
  found: readonly Candidate[],
  { workerId, now }: { workerId: string; now: number },
): Promise<ReadonlyMap<string, number>> {
  const goesOn = sql`status = 'published' OR attempts > 0 AND EXISTS (
    SELECT 1 FROM attempts t
    WHERE t.post_id = posts.id AND t.number = posts.attempts AND t.run = posts.run AND t.outcome IN ('waiting', 'uploaded'))`;
  const rows = await queryOf(tx)
    .updateTable("posts")
    .set({
      status: sql`CASE status WHEN 'scheduled' THEN ${sql.lit(TRANSITIONS.claim.to)} ELSE status END`,
      fence: sql`fence + 1`,
      lease_worker: workerId,
      updated_at: now,
      attempts: sql`attempts + CASE WHEN ${goesOn} THEN 0 ELSE 1 END`,
    })
    .where(
      "id",
      "in",
      found.map(({ post }) => post.id),
    )
    .returning(["id", "attempts"])
    .execute();
  return new Map(rows.map((row) => [row.id, row.attempts]));
}

async function noteAttempts(
  tx: Tx,
  found: readonly Candidate[],
  at: {
    readonly workerId: string;
    readonly now: number;
    readonly attempts: ReadonlyMap<string, number>;
    readonly causes: ReadonlyMap<string, LateCause | null>;
  },
): Promise<void> {
  const rows = found
    .filter(({ post }) => post.status !== "published")
    .map(({ post }) => ({
      id: newId("att"),
      owner_id: post.owner_id,
      post_id: post.id,
      number: at.attempts.get(post.id) ?? 1,
      run: post.run,
      worker_id: at.workerId,
      outcome: "running" as const,
      lateness_ms: at.now - post.due_at,
      late_cause: at.causes.get(post.id) ?? null,
      started_at: at.now,
    }));
  if (rows.length === 0) return;
  await queryOf(tx)
    .insertInto("attempts")
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(["post_id", "number"])
        .doUpdateSet({ outcome: "running", worker_id: at.workerId, finished_at: null }),
    )
    .execute();
}

/** One post an account. */
async function occupyAccounts(tx: Tx, found: readonly Candidate[]): Promise<void> {
  const whens = found.map(({ post, account }) => sql`WHEN ${account.id} THEN ${post.id}`);
  await queryOf(tx)
    .updateTable("accounts")
    .set({ in_flight_post: sql`CASE id ${sql.join(whens, sql` `)} END` })
    .where(
      "id",
      "in",
      found.map(({ account }) => account.id),
    )
    .execute();
}

/** Accounts of posts that are left over from downtime get no other post for a while. */
async function spaceAccounts(
  tx: Tx,
  found: readonly Candidate[],
  { leftOver }: ClaimWish,
  now: number,
): Promise<void> {
  const isLeftOver = ({ status, scheduled_at: at }: PostRow): boolean =>
    status === "scheduled" && now - at > leftOver.afterMs;
  const ids = found.filter(({ post }) => isLeftOver(post)).map(({ account }) => account.id);
  if (ids.length === 0) return;
  const until = now + leftOver.spacingMs;
  await queryOf(tx)
    .updateTable("accounts")
    .set({
      next_allowed_at: sql`CASE WHEN next_allowed_at < ${until} THEN ${until} ELSE next_allowed_at END`,
      wait_cause: "spacing",
    })
    .where("id", "in", ids)
    .execute();
}

import { sql } from "kysely";
import { newId } from "../../../domain/ids.ts";
import type { LateCause } from "../../../domain/posts/post.ts";
import { TRANSITIONS } from "../../../domain/posts/post-states.ts";
import type { Candidate, ClaimBatch, ClaimedPost, Claims, ClaimWish } from "../../engine/claims.ts";
import type { Engine } from "../../engine/engine.ts";
import { anyOf, change, queryOf, rowOf } from "../../engine/statements.ts";
import type { PostRow } from "../../schema/tables.ts";
import type { Reader, Tx } from "../../engine/store.ts";
import { readingAgain } from "../../engine/unanswered.ts";
import { notePosts } from "../events.ts";
import { readMeta, setMeta } from "../meta.ts";
import { isHeld } from "./ledger.ts";
import { abandon, failMissed, freeWorker, noteUnusable, QUARANTINE_FROM, takeOver } from "./release.ts";

export function createClaims(store: Reader & Pick<Engine, "write" | "queue">): Claims {
  const { write, queue } = store;
  return {
    nextAfter: (moment) => readNextAfter(store, moment),
    hasQuarantined: (now) => hasQuarantined(store, now),
    claim: (wish) => claim(store, wish),
    failMissed: (cutoff) => write((tx) => failMissed(tx, cutoff)),
    noteUnusable: (note) => write((tx) => noteUnusable(tx, note)),
    freeWorker: (workerId, now) => write((tx) => freeWorker(tx, workerId, now)),
    takeOver: (workerId, now) =>
      write(async (tx) => {
        const death = await queue.death(tx, workerId);
        return death === null ? null : takeOver(tx, workerId, { now, ...death });
      }),
    abandon: (leases, now) => write((tx) => abandon(tx, leases, now)),
    noteTime: (now, toleranceMs) => write((tx) => noteTime(tx, now, toleranceMs)),
  };
}

/**
 * Where the COMMIT got no answer, the posts tell which of them the worker holds. Posts that it holds without
 * knowing it would wait for ever.
 */
async function claim(
  { write, queue }: Pick<Engine, "write" | "queue">,
  wish: ClaimWish,
): Promise<ClaimBatch> {
  let claimed: ClaimBatch = { posts: [], isFull: false };
  const stillHeld = (): Promise<ClaimedPost[]> =>
    write(async (tx) => {
      const held: ClaimedPost[] = [];
      for (const post of claimed.posts) if (await isHeld(tx, post.lease)) held.push(post);
      return held;
    });
  return readingAgain(
    () =>
      write(async (tx) => {
        const now = wish.now();
        const found = await readCandidates(tx, await queue.findDue(tx, wish, now));
        return (claimed = {
          posts: await takePosts(tx, found, wish, now),
          isFull: found.length === wish.limit,
        });
      }),
    async () => ({ ...claimed, posts: await stillHeld() }),
  );
}

/** The posts in the order of `ids`, each with its account and ledger. */
async function readCandidates(reader: Reader, ids: readonly string[]): Promise<Candidate[]> {
  const query = queryOf(reader);
  const rows = await query.selectFrom("posts").selectAll().where("id", "in", ids).execute();
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

async function readNextAfter(reader: Reader, moment: number): Promise<number | null> {
  // A template is compiled in a third of the builder's time, and every publisher asks this each second.
  const row = await rowOf(
    reader,
    sql<{ next: number | null }>`SELECT min(next_at) AS next FROM posts
      WHERE next_at IS NOT NULL AND lease_worker IS NULL AND next_at > ${moment}`,
  );
  return row?.next ?? null;
}

async function hasQuarantined(reader: Reader, now: number): Promise<boolean> {
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

/** Gives posts to the worker that belong to this transaction, in a few statements for all of them. */
async function takePosts(
  tx: Tx,
  found: readonly Candidate[],
  wish: ClaimWish,
  now: number,
): Promise<ClaimedPost[]> {
  if (found.length === 0) return [];
  const attempts = await beginAttempts(tx, found, { workerId: wish.workerId, now });
  const late = found.map((one) => ({ ...one, cause: wish.causeOf(one, now) }));
  await noteAttempts(tx, late, { workerId: wish.workerId, now, attempts });
  await occupyAccounts(tx, found);
  await spaceAccounts(tx, late, wish.leftOver, now);
  return found.map(({ post, account, effects }) => {
    const { workerId } = wish;
    const lease = { postId: post.id, accountId: account.id, workerId, fence: post.fence + 1 };
    return { post, account, effects, lease, attempt: attempts.get(post.id) ?? 1 };
  });
}

/**
 * Marks the posts as claimed. One that only waited (held until its time, being processed) goes on in its last
 * attempt. A published one that waits for its follow-ups keeps its last attempt as it ended. Returns the number
 * of each post's attempt.
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
  const attempts = new Map(rows.map((row) => [row.id, row.attempts]));
  const begun = found
    .filter(({ post }) => post.status === "scheduled" && attempts.has(post.id))
    .map(({ post }) => ({
      ...post,
      status: TRANSITIONS.claim.to,
      attempts: attempts.get(post.id) ?? post.attempts,
      updated_at: now,
    }));
  await notePosts(tx, begun);
  return attempts;
}

type LateCandidate = Candidate & { readonly cause: LateCause | null };

/** Where an attempt goes on, its cause was noted before. */
async function noteAttempts(
  tx: Tx,
  found: readonly LateCandidate[],
  at: { readonly workerId: string; readonly now: number; readonly attempts: ReadonlyMap<string, number> },
): Promise<void> {
  const rows = found
    .filter(({ post }) => post.status !== "published")
    .map(({ post, cause }) => ({
      id: newId("att"),
      owner_id: post.owner_id,
      post_id: post.id,
      number: at.attempts.get(post.id) ?? 1,
      run: post.run,
      worker_id: at.workerId,
      outcome: "running" as const,
      lateness_ms: at.now - post.due_at,
      late_cause: cause,
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

/** From now on each account has this one post in flight. */
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

/**
 * Accounts whose post is left over from downtime get no other post for a while. Behind one that waited for its channel,
 * the others waited for it, too.
 */
async function spaceAccounts(
  tx: Tx,
  found: readonly LateCandidate[],
  leftOver: ClaimWish["leftOver"],
  now: number,
): Promise<void> {
  const isLeftOver = ({ status, scheduled_at: at }: PostRow): boolean =>
    status === "scheduled" && now - at > leftOver.afterMs;
  const ids = found.filter(({ post }) => isLeftOver(post)).map(({ account }) => account.id);
  if (ids.length === 0) return;
  const until = now + leftOver.spacingMs;
  const waited = found.filter(({ cause }) => cause === "channel").map(({ account }) => account.id);
  await queryOf(tx)
    .updateTable("accounts")
    .set({
      next_allowed_at: sql`CASE WHEN next_allowed_at < ${until} THEN ${until} ELSE next_allowed_at END`,
      wait_cause: sql<LateCause>`CASE WHEN id IN ${anyOf(waited)} THEN 'channel' ELSE 'spacing' END`,
    })
    .where("id", "in", ids)
    .execute();
}

const CLOCK_KEY = "clock";

/** The time as a publisher noted it last, in milliseconds; null where none ran on this database. */
export async function readNotedTime(reader: Reader): Promise<number | null> {
  const noted = await readMeta(reader, CLOCK_KEY);
  return noted === null ? null : Number(noted);
}

/**
 * Notes the time. Returns the time noted before, and by how many milliseconds the clock has gone back since (0
 * up to `toleranceMs`). Where it has, everything that was put off until a later time is brought forward by as
 * much: by the present clock it would wait too long. With several processes only the first one does it.
 */
async function noteTime(
  tx: Tx,
  now: number,
  toleranceMs: number,
): Promise<{ readonly last: number | null; readonly backMs: number }> {
  const noted = await queryOf(tx)
    .selectFrom("meta")
    .select("value")
    .where("key", "=", CLOCK_KEY)
    .forNoKeyUpdate()
    .executeTakeFirst();
  const last = noted === undefined ? null : Number(noted.value);
  const backMs = last === null ? 0 : last - now;
  if (backMs > 0 && backMs <= toleranceMs) return { last, backMs: 0 };
  await setMeta(tx, CLOCK_KEY, String(now));
  if (backMs <= 0) return { last, backMs: 0 };
  await bringForward(tx, now, backMs);
  return { last, backMs };
}

/** A post is never brought before its own time. */
async function bringForward(tx: Tx, now: number, byMs: number): Promise<void> {
  await change(
    tx,
    sql`UPDATE accounts SET next_allowed_at = CASE WHEN next_allowed_at < ${byMs} THEN 0 ELSE next_allowed_at - ${byMs} END
      WHERE next_allowed_at > ${now}`,
  );
  await change(
    tx,
    sql`UPDATE posts SET next_at = CASE WHEN next_at - ${byMs} < scheduled_at THEN scheduled_at ELSE next_at - ${byMs} END
      WHERE next_at > ${now} AND next_at > scheduled_at AND next_at IS NOT NULL AND lease_worker IS NULL`,
  );
  // What was begun by the earlier clock is looked for on its platform from when it was begun.
  await change(
    tx,
    sql`UPDATE effects SET started_at = started_at - ${byMs} WHERE state IN ('intent', 'unknown')`,
  );
  await change(tx, sql`UPDATE grants SET renew_at = renew_at - ${byMs} WHERE renew_at > ${now}`);
  await change(tx, sql`UPDATE webhook_deliveries SET next_at = next_at - ${byMs} WHERE next_at > ${now}`);
  await change(tx, sql`UPDATE webhooks SET lease_until = lease_until - ${byMs} WHERE lease_until > ${now}`);
}

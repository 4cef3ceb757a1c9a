import { sql } from "kysely";
import { change, queryOf, rowsOf } from "../engine/statements.ts";
import type { Tx } from "../engine/store.ts";
import { indexPost } from "../queries/posts.ts";
import type { LaterDecisions, DecidedKind, GoodKey, LostPost } from "../../domain/health/backups.ts";
import { CARRIED, DECISIONS, MADE_SINCE } from "./decisions.ts";

/** Brings a copy that is put back to what was decided since, as far as `isKnown`. No event comes of it. */
export async function keepDecided(
  tx: Tx,
  { now, isKnown }: { readonly now: number; readonly isKnown: boolean },
): Promise<LaterDecisions> {
  if (!isKnown)
    return { counts: await decide(tx, "unknown", now), goodKeys: await listGoodKeys(tx, now), lostPosts: [] };
  const lostPosts = await listLost(tx);
  const counts = await decide(tx, "known", now);
  await indexCarried(tx);
  return { counts, goodKeys: null, lostPosts };
}

async function decide(tx: Tx, which: "known" | "unknown", now: number): Promise<LaterDecisions["counts"]> {
  const counts: Partial<Record<DecidedKind, number>> = {};
  for (const { told, ...rules } of Object.values(DECISIONS)) {
    const rows = await rules[which](tx, now);
    const name = told?.[which];
    if (name !== undefined) counts[name] = rows;
  }
  return counts;
}

function listLost(tx: Tx): Promise<LostPost[]> {
  return rowsOf(
    tx,
    sql<LostPost>`SELECT posts.id AS id, post_plans.draft_id AS "draftId" ${MADE_SINCE}
      AND posts.status IN ('scheduled', 'publishing', 'uploaded')
      AND posts.account_id NOT IN (SELECT id FROM main.accounts) ORDER BY posts.id`,
  );
}

async function indexCarried(tx: Tx): Promise<void> {
  const rows = await queryOf(tx)
    .selectFrom("posts")
    .select(["id", "caption", "metadata"])
    .where(sql<boolean>`id IN ${CARRIED}`)
    .execute();
  for (const row of rows) await indexPost(tx, row);
  await change(tx, sql`DROP TABLE carried_posts`);
}

function listGoodKeys(tx: Tx, now: number): Promise<GoodKey[]> {
  return queryOf(tx)
    .selectFrom("api_keys")
    .select(["id", "name"])
    .where("revoked_at", "is", null)
    .where(({ or, eb }) => or([eb("expires_at", "is", null), eb("expires_at", ">", now)]))
    .orderBy("id")
    .execute();
}

/**
 * Of a database that another secret key sealed: what no one can open does not come along. An answer that is kept for
 * an idempotency key then refuses the call that it would answer, and steps of posts are asked about again.
 */
export async function forgetSealed(tx: Tx): Promise<void> {
  await change(tx, sql`DELETE FROM calendar_links`);
  await change(tx, sql`DELETE FROM effects WHERE handle_enc IS NOT NULL AND state <> 'done'`);
  await change(tx, sql`UPDATE idempotency SET fingerprint = ''`);
}

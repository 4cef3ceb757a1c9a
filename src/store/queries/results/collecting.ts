import { sql, type Selectable } from "kysely";
import { AGES, type AgeColumn } from "../../../domain/posts/results.ts";
import type { PostRow, Tables } from "../../schema/tables.ts";
import { change, queryOf, rowsOf, updateRows } from "../../engine/statements.ts";
import type { Reader, Tx } from "../../engine/store.ts";
import type { AccountRow } from "../accounts.ts";

/* What platforms told of live posts by their age, and of channels by day. A channel's row has no post. */

export type ResultRow = Selectable<Tables["results"]>;

/** A live post that no snapshot is planned of yet. */
export type NewLivePost = Pick<PostRow, "id" | "account_id" | "provider" | "media_url" | "metadata"> & {
  readonly published_at: number;
  /** Of the stored file that it shows. Null: none, or of another place. */
  readonly type: string | null;
};

/**
 * Of one account or of all, live since that moment, the first first. The join is written so that SQLite looks at each
 * account's last posts instead of every post there is.
 */
export function listUnplanned(
  reader: Reader,
  wish: { readonly accountId: string | null; readonly since: number; readonly limit: number },
): Promise<NewLivePost[]> {
  const whose = wish.accountId === null ? sql`TRUE` : sql`a.id = ${wish.accountId}`;
  return rowsOf(
    reader,
    sql<NewLivePost>`
      SELECT p.id, p.account_id, p.provider, p.media_url, p.metadata, p.published_at, f.type
      FROM accounts a CROSS JOIN posts p LEFT JOIN files f ON f.storage_key = substr(p.media_url, 6)
      WHERE ${whose} AND p.account_id = a.id AND p.published_at >= ${wish.since} AND p.status = 'published'
        AND NOT EXISTS (SELECT 1 FROM results r WHERE r.post_id = p.id AND r.post_id <> '')
      ORDER BY p.published_at LIMIT ${wish.limit}`,
  );
}

/** Connected accounts of these platforms without a row of the day that begins then. */
export function listUnplannedAccounts(
  reader: Reader,
  wish: { readonly providers: readonly string[]; readonly day: number; readonly limit: number },
): Promise<AccountRow[]> {
  return queryOf(reader)
    .selectFrom("accounts as a")
    .selectAll("a")
    .where("a.status", "=", "connected")
    .where("a.provider", "in", wish.providers)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("results as r")
            .select("r.at")
            .whereRef("r.account_id", "=", "a.id")
            .where("r.at", "=", wish.day)
            .where("r.post_id", "=", ""),
        ),
      ),
    )
    .orderBy("a.id")
    .limit(wish.limit)
    .execute();
}

export type NewResult = Pick<
  ResultRow,
  "account_id" | "at" | "post_id" | "provider" | "media" | "next_at" | "step"
>;

/** What is planned already, by whichever process, stays as it is. */
export async function insertResults(tx: Tx, rows: readonly NewResult[]): Promise<void> {
  if (rows.length === 0) return;
  await queryOf(tx)
    .insertInto("results")
    .values([...rows])
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** What is due of a platform, the longest waiting first. */
export function listDueResults(
  reader: Reader,
  wish: { readonly provider: string; readonly now: number; readonly limit: number },
): Promise<ResultRow[]> {
  return queryOf(reader)
    .selectFrom("results")
    .selectAll()
    .where("provider", "=", wish.provider)
    .where("next_at", "is not", null)
    .where("next_at", "<=", wish.now)
    .orderBy("next_at")
    .limit(wish.limit)
    .execute();
}

type Step = Pick<ResultRow, "account_id" | "at" | "post_id" | "step" | "next_at">;

/**
 * Changes a row as long as it is as it was seen: the first one takes it, and what was taken by another since
 * is not written. False where it is not.
 */
export async function changeResult(
  tx: Tx,
  { account_id, at, post_id, step, next_at }: Step,
  set: Partial<Pick<ResultRow, "next_at" | "step" | "reason" | AgeColumn>>,
): Promise<boolean> {
  return (await updateRows(tx, "results", { account_id, at, post_id, step, next_at }, set)) === 1;
}

/** Asks nothing of an account, or of a whole platform, before that moment. */
export async function putOffResults(
  tx: Tx,
  of: { readonly accountId: string } | { readonly provider: string },
  until: number,
): Promise<void> {
  const whose = "accountId" in of ? sql`account_id = ${of.accountId}` : sql`provider = ${of.provider}`;
  await change(
    tx,
    sql`UPDATE results SET next_at = ${until} WHERE ${whose} AND next_at IS NOT NULL AND next_at < ${until}`,
  );
}

/** Returns how many rows from before that moment were deleted. */
export function deleteOldResults(tx: Tx, before: number): Promise<number> {
  return change(
    tx,
    sql`DELETE FROM results WHERE account_id IN (SELECT id FROM accounts) AND at < ${before}`,
  );
}

export function columnOf(step: number): AgeColumn {
  return AGES[step]?.column ?? "d30";
}

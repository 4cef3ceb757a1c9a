import { sql, type Selectable } from "kysely";
import { AGES, type AgeColumn } from "../../domain/posts/results.ts";
import type { PostRow, Tables } from "../engine/schema.ts";
import { anyOf, change, queryOf, rowsOf, updateRows } from "../engine/statements.ts";
import type { Reader, Tx } from "../engine/store.ts";
import type { AccountRow } from "./accounts.ts";
import { ownAccounts, type StatusScope } from "./status.ts";

/* What platforms told of live posts by their age, and of channels by day. A channel's row has no post. */

export type ResultRow = Selectable<Tables["results"]>;

/** A live post that no snapshot is planned of yet. */
export type NewLivePost = Pick<PostRow, "id" | "account_id" | "provider" | "media_url" | "metadata"> & {
  readonly published_at: number;
  /** Of the stored file that it shows. Null: none, or of another place. */
  readonly type: string | null;
};

/** Of one account or of all, live since that moment, the first first. */
export function listUnplanned(
  reader: Reader,
  wish: { readonly accountId: string | null; readonly since: number; readonly limit: number },
): Promise<NewLivePost[]> {
  const whose = wish.accountId === null ? sql`TRUE` : sql`a.id = ${wish.accountId}`;
  return rowsOf(
    reader,
    sql<NewLivePost>`
      SELECT p.id, p.account_id, p.provider, p.media_url, p.metadata, p.published_at, f.type
      FROM accounts a JOIN posts p ON p.account_id = a.id
      LEFT JOIN files f ON f.storage_key = substr(p.media_url, 6)
      WHERE ${whose} AND p.published_at >= ${wish.since} AND p.status = 'published'
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
 * Changes a row as long as it is as it was seen: whoever is first takes it, and what was taken by another since
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

/** Which posts a report is of. Moments in milliseconds, both included. */
export interface ReportScope extends StatusScope {
  readonly from: number;
  readonly to: number;
  readonly label: string | null;
  readonly age: AgeColumn;
}

export interface PackedFigures {
  readonly account_id: string;
  /** `at in quarters of an hour, letter of the media, figures or nothing`, separated by semicolons. */
  readonly packed: string;
}

/**
 * Figures of many posts in few rows, one for each channel: a row of a driver's costs more than a hundred numbers
 * within one. With `ids` each ends with a bar and the post's id.
 */
export function readPacked(
  reader: Reader,
  scope: ReportScope,
  { ids }: { readonly ids: boolean },
): Promise<PackedFigures[]> {
  const column = sql.ref(`r.${scope.age}`);
  const id = ids ? sql` || '|' || r.post_id` : sql``;
  const one = sql`CAST(r.at / 900000 AS TEXT) || ',' || r.media || ',' || coalesce(${column}, '')${id}`;
  const { ownerId, label } = scope;
  const labelled =
    label === null
      ? sql`TRUE`
      : sql`r.post_id IN (SELECT post_id FROM post_labels WHERE owner_id = ${ownerId} AND label = ${label})`;
  return rowsOf(
    reader,
    sql<PackedFigures>`
      SELECT r.account_id, string_agg(${one}, ';') AS packed FROM results r
      WHERE r.account_id IN ${ownAccounts(scope)} AND r.at >= ${scope.from} AND r.at <= ${scope.to}
        AND r.post_id <> '' AND ${labelled}
      GROUP BY r.account_id`,
  );
}

/** The posts of each label, their ids separated by semicolons. Joined in SQL they would take ten times as long. */
export function readLabelled(
  reader: Reader,
  { ownerId, label }: ReportScope,
): Promise<{ readonly label: string; readonly ids: string }[]> {
  const wanted = label === null ? sql`TRUE` : sql`label = ${label}`;
  return rowsOf(
    reader,
    sql<{ label: string; ids: string }>`
      SELECT label, string_agg(post_id, ';') AS ids FROM post_labels
      WHERE owner_id = ${ownerId} AND ${wanted} GROUP BY label`,
  );
}

/** The last refusal of each of these channels since then, by their ids. */
export async function readRefusals(
  reader: Reader,
  { accountIds, since }: { readonly accountIds: readonly string[]; readonly since: number },
): Promise<ReadonlyMap<string, string>> {
  const rows = await rowsOf(
    reader,
    sql<{ account_id: string; reason: string }>`
      SELECT account_id, reason FROM results
      WHERE account_id IN ${anyOf(accountIds)} AND at >= ${since} AND reason IS NOT NULL ORDER BY at`,
  );
  return new Map(rows.map(({ account_id, reason }) => [account_id, reason]));
}

/** Followers of a channel by the moment at which each day (UTC) began. */
export function readFollowers(
  reader: Reader,
  account: Pick<AccountRow, "id">,
  range: { readonly from: number; readonly to: number },
): Promise<{ at: number; h1: string }[]> {
  return rowsOf(
    reader,
    sql<{ at: number; h1: string }>`
      SELECT at, h1 FROM results
      WHERE account_id = ${account.id} AND post_id = '' AND h1 IS NOT NULL AND at >= ${range.from} AND at <= ${range.to}
      ORDER BY at`,
  );
}

export type FreshResult = Pick<
  PostRow,
  "id" | "account_id" | "provider" | "media_url" | "caption" | "metadata" | "published_at"
> & { readonly h24: string };

/** Posts of a span with what was told of them after 24 hours, the first first. */
export function readFreshResults(
  reader: Reader,
  scope: StatusScope,
  range: { readonly from: number; readonly until: number; readonly limit: number },
): Promise<FreshResult[]> {
  return rowsOf(
    reader,
    sql<FreshResult>`
      SELECT p.id, p.account_id, p.provider, p.media_url, p.caption, p.metadata, p.published_at, r.h24
      FROM results r JOIN posts p ON p.id = r.post_id
      WHERE r.account_id IN ${ownAccounts(scope)} AND r.at >= ${range.from} AND r.at < ${range.until}
        AND r.post_id <> '' AND r.h24 IS NOT NULL AND p.owner_id = ${scope.ownerId}
      ORDER BY r.at, p.id LIMIT ${range.limit}`,
  );
}

export function columnOf(step: number): AgeColumn {
  return AGES[step]?.column ?? "d30";
}

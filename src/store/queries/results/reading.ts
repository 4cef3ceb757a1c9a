import { type RawBuilder, sql } from "kysely";
import type { AgeColumn } from "../../../domain/posts/results.ts";
import type { PostRow } from "../../schema/tables.ts";
import { anyOf, rowsOf } from "../../engine/statements.ts";
import type { Reader } from "../../engine/store.ts";
import type { AccountRow } from "../accounts.ts";
import { ownAccounts, type StatusScope } from "../status.ts";

/* What was collected, for reports, a channel's days and the digest. */

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
        AND r.post_id <> '' AND ${labelled} AND r.post_id NOT IN ${takenDown(scope)}
      GROUP BY r.account_id`,
  );
}

/** What was live and is not there any more. The work grows with the cancelled posts alone. */
function takenDown(scope: StatusScope): RawBuilder<unknown> {
  return sql`(SELECT id FROM posts
    WHERE account_id IN ${ownAccounts(scope)} AND status = 'cancelled' AND published_at IS NOT NULL)`;
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

/** What was told of these posts at each age, by their ids. */
export async function findResults(
  reader: Reader,
  postIds: readonly string[],
): Promise<ReadonlyMap<string, Readonly<Record<AgeColumn, string | null>>>> {
  const rows = await rowsOf(
    reader,
    sql<Record<AgeColumn | "post_id", string>>`
      SELECT post_id, h1, h24, d7, d30 FROM results WHERE post_id IN ${anyOf(postIds)} AND post_id <> ''`,
  );
  return new Map(rows.map((row) => [row.post_id, row]));
}

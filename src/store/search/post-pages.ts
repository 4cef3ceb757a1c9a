import { sql, type RawBuilder } from "kysely";
import { queryOf, type Query } from "../engine/handle.ts";
import type { ShownRow } from "../engine/post-columns.ts";
import type { Page, PageOfRows, PostFilter, Search, TimeOrder } from "../engine/search.ts";
import type { Reader } from "../engine/store.ts";
import { SHOWN_COLUMNS } from "../engine/post-columns.ts";
import { indexWalk, rowsOf, rowWalk } from "./walks.ts";
import { scan, type KeyRange } from "./two-walks.ts";
import { compileSearch } from "./text-index.ts";
import { listsOf, readRange, readScope, type Scope } from "./page-scope.ts";

/** SQLite's search: indexes that are in the order of a page, and FTS5 for words. */
export function createSearch(reader: Reader): Search {
  return {
    page: (filter, page) => readPage(reader, filter, page),
    first: (filter, limit) => readFirst(reader, filter, limit),
  };
}

async function readFirst(
  reader: Reader,
  filter: Omit<PostFilter, "terms">,
  limit: number,
): Promise<readonly ShownRow[]> {
  const range = await readRange(reader, filter, null);
  const scope = await readScope(reader, { ...filter, terms: [] }, range);
  if (scope.accountIds?.length === 0 || range.floor >= range.ceiling) return [];
  return readRows(queryOf(reader), scope, streams(scope, range, limit, "ASC"), "ASC");
}

async function readPage(reader: Reader, filter: PostFilter, page: Page): Promise<PageOfRows> {
  const query = queryOf(reader);
  const range = await readRange(reader, filter, page.before);
  const scope = await readScope(reader, filter, range);
  if (scope.accountIds?.length === 0 || range.floor >= range.ceiling) return { rows: [], next: null };
  if (filter.terms.length > 0) return searchPage(query, scope, { ...page, ...range });
  return cut(await readRows(query, scope, streams(scope, range, page.limit + 1)), page.limit);
}

async function searchPage(query: Query, scope: Scope, page: KeyRange & Page): Promise<PageOfRows> {
  const { terms } = scope;
  const compiled = await compileSearch(query, terms);
  if (compiled === null) return { rows: [], next: null };
  const byRows = rowWalk(query, terms, (range, limit) => streams(scope, range, limit));
  const byIndex = indexWalk(query, { ...compiled, terms, isFitting: isFitting(scope) });
  const { keys, stoppedAt } = await scan([byRows, byIndex], { ...page, wanted: page.limit + 1 });
  const last = keys.length > page.limit ? keys[page.limit - 1] : undefined;
  // A post that changed since it was found is left out; the place to go on from stays.
  const rows = await readRows(query, scope, rowsOf(keys.slice(0, page.limit)));
  return { rows, next: last === undefined ? stoppedAt : BigInt(last) };
}

interface KeyedRow extends ShownRow {
  readonly key: string;
}

/** As one text: naming each anew takes a tenth of a short page's time. */
const COLUMNS = sql.raw<unknown>(SHOWN_COLUMNS.map((column) => `p.${column}`).join(", "));

/** The posts of `keys`, which selects their `key` and `row`. */
async function readRows(
  query: Query,
  scope: Scope,
  keys: RawBuilder<unknown>,
  order: TimeOrder = "DESC",
): Promise<KeyedRow[]> {
  const { rows } = await sql<KeyedRow>`
    SELECT CAST(p.sort_key AS TEXT) AS key, ${COLUMNS}
    FROM (${keys}) AS k CROSS JOIN posts AS p ON p.rowid = k.row
    WHERE ${rowFilter(scope)} ORDER BY k.key ${sql.raw(order)}`.execute(query);
  return rows;
}

/** The page out of up to one row too many, which tells that there is a next one. */
function cut(rows: readonly KeyedRow[], limit: number): PageOfRows {
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { rows: rows.slice(0, limit), next: last === undefined ? null : BigInt(last.key) };
}

/**
 * The scope on `posts AS p`: a guard where the lists hold it already, the filter itself where they cannot.
 */
function rowFilter({ ownerId, accountIds, statuses, isDisplaced, from, to }: Scope): RawBuilder<unknown> {
  const conditions = [sql`p.owner_id = ${ownerId}`];
  // The plus keeps SQLite from seeking once for each value where it can read one entry and compare.
  if (accountIds !== null)
    conditions.push(sql`+p.account_id IN (SELECT value FROM json_each(${JSON.stringify(accountIds)}))`);
  if (statuses !== null) conditions.push(sql`+p.status IN (${sql.join(statuses)})`);
  if (isDisplaced && from !== null) conditions.push(sql`p.scheduled_at >= ${from}`);
  if (isDisplaced && to !== null) conditions.push(sql`p.scheduled_at <= ${to}`);
  return sql.join(conditions, sql` AND `);
}

/**
 * What a hit of the text index must fulfil, said of `key`; the index alone is read, the row is left where it
 * is.
 */
function isFitting(scope: Scope): RawBuilder<unknown> {
  return sql`EXISTS (SELECT 1 FROM posts AS p INDEXED BY posts_sort WHERE p.sort_key = key AND ${rowFilter(scope)})`;
}

/**
 * Key and row of what fits everything but the text, newest first where nothing else is asked: one ordered list for
 * each combination of values, merged lazily.
 */
function streams(
  scope: Scope,
  range: KeyRange,
  limit: number,
  order: TimeOrder = "DESC",
): RawBuilder<unknown> {
  const lists = listsOf(scope).map(
    ({ index, where, isLoose }) => sql`
      SELECT sort_key AS key, rowid AS row FROM posts AS p INDEXED BY ${sql.ref(index)}
      WHERE ${where} AND sort_key >= ${range.floor} AND sort_key < ${range.ceiling} ${isLoose || scope.isDisplaced ? sql`AND ${rowFilter(scope)}` : sql``}`,
  );
  return sql`${sql.join(lists, sql` UNION ALL `)} ORDER BY key ${sql.raw(order)} LIMIT ${limit}`;
}

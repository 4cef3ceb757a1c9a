import { sql, type RawBuilder } from "kysely";
import { queryOf, type Query } from "../../engine/handle.ts";
import { SHOWN_COLUMNS, type ShownRow } from "../../engine/post-columns.ts";
import type { Page, PageOfRows, Search, TimeOrder } from "../../engine/search.ts";
import type { Reader } from "../../engine/store.ts";
import { listsOf, readRange, readScope, type List, type Scope } from "../../search/page-scope.ts";
import type { KeyRange } from "../../search/two-walks.ts";
import { createFrequencies, type Frequencies } from "./frequencies.ts";
import { findKeys, TUNING, type Tuning, type Ways } from "./two-ways.ts";
import { markedTerm } from "./words.ts";

/** PostgreSQL's search: indexes that are in the order of a page, and GIN for words. */
export function createSearch(reader: Reader, tuning: Tuning = TUNING): Search {
  const frequenciesAt = createFrequencies(reader);
  return {
    page: async (filter, page) => {
      const query = queryOf(reader);
      const range = await readRange(reader, filter, page.before);
      const scope = await readScope(reader, filter, range);
      if (scope.accountIds?.length === 0 || range.floor >= range.ceiling) return { rows: [], next: null };
      if (filter.terms.length === 0) return readPage(query, scope, { ...page, ...range });
      const frequencies = await frequenciesAt(page.now());
      return searchPage(query, scope, { ...page, ...range, frequencies, tuning });
    },
    first: async (filter, limit) => {
      const range = await readRange(reader, filter, null);
      const scope = await readScope(reader, { ...filter, terms: [] }, range);
      if (scope.accountIds?.length === 0 || range.floor >= range.ceiling) return [];
      return readRows(queryOf(reader), scope, streams(scope, range, limit, "ASC"), "ASC");
    },
  };
}

interface PageRange extends KeyRange, Page {}

async function readPage(query: Query, scope: Scope, { limit, ...range }: PageRange): Promise<PageOfRows> {
  const rows = await readRows(query, scope, streams(scope, range, limit + 1));
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { rows: rows.slice(0, limit), next: last === undefined ? null : BigInt(last.key) };
}

async function searchPage(
  query: Query,
  scope: Scope,
  page: PageRange & { readonly frequencies: Frequencies; readonly tuning: Tuning },
): Promise<PageOfRows> {
  const wanted = page.limit + 1;
  const found = await findKeys(waysOf(query, scope), { ...page, wanted }, { ...page, terms: scope.terms });
  const keys = found.keys.slice(0, page.limit);
  const last = found.keys.length > page.limit ? keys.at(-1) : undefined;
  // A post that changed since it was found is left out; the place to go on from stays.
  const rows = await readRows(query, scope, sql`SELECT * FROM unnest(${keys}::bigint[]) AS k (key)`);
  return { rows, next: last === undefined ? found.stoppedAt : BigInt(last) };
}

/** Each in a form that leaves the planner one plan: its statistics tell it nothing of rare words. */
function waysOf(query: Query, scope: Scope): Ways {
  const { ownerId, terms } = scope;
  const isHit = sql.join(
    terms.map((term) => sql`strpos(marked, ${markedTerm(term)}) > 0`),
    sql` AND `,
  );
  return {
    scan: async (floor, ceiling, limit) => {
      const { rows } = await sql<{ seen: number; oldest: string; hits: string[] | null }>`
        SELECT count(*)::integer AS seen, min(key)::text AS oldest,
          array_agg(key::text ORDER BY key DESC) FILTER (WHERE is_hit) AS hits
        FROM (
          SELECT key, (SELECT ${isHit} FROM post_search WHERE sort_key = key) AS is_hit
          FROM (${streams(scope, { floor, ceiling }, limit)}) AS candidates
        ) AS compared`.execute(query);
      const { seen = 0, oldest = "", hits = null } = rows[0] ?? {};
      return { keys: hits ?? [], oldest: seen < limit ? null : BigInt(oldest) };
    },
    index: async (floor, ceiling, limit, tokens) => {
      const { rows } = await sql<{ key: string }>`
        WITH hits AS MATERIALIZED (
          SELECT sort_key FROM post_search
          WHERE words @@ ${tokens}::tsquery AND owner_id = ${ownerId} AND ${isHit}
            AND sort_key >= ${floor} AND sort_key < ${ceiling}
        )
        SELECT sort_key::text AS key FROM (SELECT sort_key FROM hits ORDER BY sort_key DESC OFFSET 0) AS h
        WHERE EXISTS (SELECT 1 FROM posts p WHERE p.sort_key = h.sort_key AND ${rowFilter(scope)} OFFSET 0)
        LIMIT ${limit}`.execute(query);
      return rows.map(({ key }) => key);
    },
  };
}

interface KeyedRow extends ShownRow {
  readonly key: string;
}

/** As one text: naming each anew takes a tenth of a short page's time. */
const COLUMNS = sql.raw<unknown>(SHOWN_COLUMNS.map((column) => `p.${column}`).join(", "));

/** The posts of `keys`, which selects their `key`. */
async function readRows(
  query: Query,
  scope: Scope,
  keys: RawBuilder<unknown>,
  order: TimeOrder = "DESC",
): Promise<KeyedRow[]> {
  const { rows } = await sql<KeyedRow>`
    SELECT k.key::text AS key, ${COLUMNS} FROM (${keys}) AS k JOIN posts AS p ON p.sort_key = k.key
    WHERE ${rowFilter(scope)} ORDER BY k.key ${sql.raw(order)}`.execute(query);
  return rows;
}

/** The scope on `posts AS p`. */
function rowFilter({ ownerId, accountIds, statuses, isDisplaced, from, to }: Scope): RawBuilder<unknown> {
  const conditions = [sql`p.owner_id = ${ownerId}`];
  if (accountIds !== null) conditions.push(sql`p.account_id = ANY(${accountIds})`);
  if (statuses !== null) conditions.push(sql`p.status = ANY(${statuses})`);
  if (isDisplaced && from !== null) conditions.push(sql`p.scheduled_at >= ${from}`);
  if (isDisplaced && to !== null) conditions.push(sql`p.scheduled_at <= ${to}`);
  return sql.join(conditions, sql` AND `);
}

/** Planning a list of a union takes what reading so many entries of an index does. */
const ENTRIES_A_LIST = 400;

/**
 * The keys of what fits everything but the text, newest first where nothing else is asked: one ordered list for each combination of
 * values, each with an end of its own, so that they are merged and not collected and sorted. Short lists of
 * accounts are collected all the same, by one plan for all.
 */
function streams(
  scope: Scope,
  { floor, ceiling }: KeyRange,
  limit: number,
  order: TimeOrder = "DESC",
): RawBuilder<unknown> {
  const range = { floor, ceiling, limit, order };
  const lists = listsOf(scope).map(({ where, isLoose }) => stream(scope, { where, isLoose, ...range }));
  const isByAccount = listsOf(scope)[0]?.index.startsWith("posts_account") === true;
  const all =
    isByAccount && limit <= ENTRIES_A_LIST && lists.length > 1
      ? eachAccount(scope, range)
      : sql.join(lists, sql` UNION ALL `);
  return sql`SELECT key FROM (${all}) AS lists ORDER BY key ${sql.raw(order)} LIMIT ${limit}`;
}

function eachAccount(scope: Scope, range: StreamRange): RawBuilder<unknown> {
  const { accountIds, statuses } = scope;
  const byStatus = statuses === null ? sql`` : sql`CROSS JOIN unnest(${statuses}::text[]) AS s (status)`;
  const where = sql`p.account_id = a.id ${statuses === null ? sql`` : sql`AND p.status = s.status`}`;
  return sql`
    SELECT key FROM unnest(${accountIds}::text[]) AS a (id) ${byStatus}
    CROSS JOIN LATERAL ${stream(scope, { where, isLoose: false, ...range })} AS one`;
}

interface StreamRange extends KeyRange {
  readonly limit: number;
  readonly order: TimeOrder;
}

function stream(
  scope: Scope,
  { where, isLoose, floor, ceiling, limit, order }: Omit<List, "index"> & StreamRange,
): RawBuilder<unknown> {
  return sql`
    (SELECT sort_key AS key FROM posts p
    WHERE ${where} AND sort_key >= ${floor} AND sort_key < ${ceiling} ${isLoose || scope.isDisplaced ? sql`AND ${rowFilter(scope)}` : sql``}
    ORDER BY sort_key ${sql.raw(order)} LIMIT ${limit})`;
}

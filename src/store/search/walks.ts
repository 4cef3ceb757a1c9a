import { sql, type RawBuilder } from "kysely";
import type { Query } from "../engine/handle.ts";
import type { Step, Walk } from "./two-walks.ts";
import { hasTerms, searchableText, type SearchTerm } from "../../domain/compare-words.ts";
import type { CompiledSearch } from "./text-index.ts";

/**
 * Walks the posts that fit the filters and compares their text; `source` selects their `key` and `row`,
 * newest first.
 */
export function rowWalk(
  query: Query,
  terms: readonly SearchTerm[],
  source: (...of: Parameters<Walk>) => RawBuilder<unknown>,
): Walk {
  return async (range, limit) => {
    const rows = await readTexts(query, source(range, limit));
    return {
      keys: keysWith(rows, terms),
      span: spanOf(rows.length < limit ? [] : [rows[0]?.key, rows.at(-1)?.key]),
    };
  };
}

export interface IndexSearch extends CompiledSearch {
  readonly terms: readonly SearchTerm[];
  /** That a hit fits the other filters, said of `key`. */
  readonly isFitting: RawBuilder<unknown>;
}

/** Walks the text index. One row for all hits of a step: all are counted, those that fit handed over. */
export function indexWalk(query: Query, { match, needsCheck, terms, isFitting }: IndexSearch): Walk {
  return async ({ floor, ceiling }, limit) => {
    const { rows } = await sql<{ count: number; newest: string; oldest: string; fitting: string | null }>`
      SELECT COUNT(*) AS count, CAST(MAX(key) AS TEXT) AS newest, CAST(MIN(key) AS TEXT) AS oldest,
        GROUP_CONCAT(key, ' ') FILTER (WHERE ${isFitting}) AS fitting
      FROM (SELECT rowid AS key FROM search_index
        WHERE search_index MATCH ${match} AND rowid >= ${floor} AND rowid < ${ceiling} ORDER BY rowid DESC LIMIT ${limit})`.execute(
      query,
    );
    const found = rows[0];
    const fitting = found?.fitting?.split(" ") ?? [];
    const keys = needsCheck ? keysWith(await readTexts(query, rowsOf(fitting)), terms) : fitting;
    return {
      keys,
      span: spanOf(found === undefined || found.count < limit ? [] : [found.newest, found.oldest]),
    };
  };
}

function spanOf([newest, oldest]: readonly (string | undefined)[]): Step["span"] {
  return newest === undefined || oldest === undefined
    ? null
    : { newest: BigInt(newest), oldest: BigInt(oldest) };
}

/** The `key` and the `row` of the posts with these sort keys; one that has moved since is left out. */
export function rowsOf(keys: readonly string[]): RawBuilder<unknown> {
  return sql`
    SELECT p.sort_key AS key, p.rowid AS row
    FROM json_each(${JSON.stringify(keys)}) AS k CROSS JOIN posts AS p INDEXED BY posts_sort ON p.sort_key = CAST(k.value AS INTEGER)`;
}

interface TextRow {
  readonly key: string;
  readonly caption: string | null;
  readonly metadata: string | null;
}

async function readTexts(query: Query, source: RawBuilder<unknown>): Promise<TextRow[]> {
  const { rows } = await sql<TextRow>`
    SELECT CAST(c.key AS TEXT) AS key, p.caption, p.metadata
    FROM (${source}) AS c CROSS JOIN posts AS p ON p.rowid = c.row ORDER BY c.key DESC`.execute(query);
  return rows;
}

function keysWith(rows: readonly TextRow[], terms: readonly SearchTerm[]): string[] {
  return rows.filter((row) => hasTerms(searchableText(unpack(row)), terms)).map(({ key }) => key);
}

function unpack({ caption, metadata }: TextRow): Parameters<typeof searchableText>[0] {
  return { caption, metadata: metadata === null ? null : (JSON.parse(metadata) as Record<string, unknown>) };
}

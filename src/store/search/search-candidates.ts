import { sql, type RawBuilder } from "kysely";
import type { Query } from "../engine/handle.ts";
import { fold, isRuledOut, missingFrom, searchableText, type SearchTerm } from "./search-text.ts";

/** Posts in the order of a page that may belong to it. */
export interface Candidates {
  /** Sort keys of those that do, newest first, as text. */
  readonly keys: readonly string[];
  /** How many were looked at, and of how many the text was compared. */
  readonly count: number;
  readonly compared: number;
  /** How many fit the filters beside the text. */
  readonly fitting: number;
  /** The newest and the oldest key looked at; null when there was none. */
  readonly span: { readonly newest: bigint; readonly oldest: bigint } | null;
}

/** One column instead of three, because each costs a row a fifth of its time: lines, for neither a key nor JSON has a line break. */
const ENTRY = sql`c.key || CHAR(10) || COALESCE(p.metadata, '') || CHAR(10) || COALESCE(p.caption, '')`;

/** Walks `source`, which selects the `key` and the `row` of posts, newest first, and compares the text of each. */
export async function compareTexts(
  query: Query,
  source: RawBuilder<unknown>,
  terms: readonly SearchTerm[],
): Promise<Candidates> {
  const { rows } = await sql<{ entry: string }>`
    SELECT ${ENTRY} AS entry FROM (${source}) AS c CROSS JOIN posts AS p ON p.rowid = c.row ORDER BY c.key DESC`.execute(
    query,
  );
  const [first, last] = [rows[0], rows.at(-1)];
  const inOrder = [...terms];
  return {
    keys: rows.filter(({ entry }) => hasTerms(entry, inOrder)).map(({ entry }) => keyOf(entry)),
    count: rows.length,
    compared: rows.length,
    fitting: rows.length,
    span:
      first === undefined || last === undefined
        ? null
        : { newest: BigInt(keyOf(first.entry)), oldest: BigInt(keyOf(last.entry)) },
  };
}

export interface IndexWalk {
  /** Selects the `key` of hits, newest first. */
  readonly source: RawBuilder<unknown>;
  /** That a hit fits the other filters, said of `key`. */
  readonly condition: RawBuilder<unknown>;
  /** The words, where the index says too much; null where it is exact. */
  readonly terms: readonly SearchTerm[] | null;
}

/** Walks the text index. One row for all: every hit counts, but only those that fit are handed over. */
export async function walkIndex(query: Query, { source, condition, terms }: IndexWalk): Promise<Candidates> {
  const { rows } = await sql<{ count: number; span: string | null; keys: string | null }>`
    SELECT COUNT(*) AS count, MAX(key) || ' ' || MIN(key) AS span, GROUP_CONCAT(key, ' ') FILTER (WHERE ${condition}) AS keys
    FROM (${source})`.execute(query);
  const [{ count, span, keys } = { count: 0, span: null, keys: null }] = rows;
  const [newest, oldest] = span?.split(" ") ?? [];
  const fitting = keys?.split(" ") ?? [];
  return {
    keys: terms === null ? fitting : (await compareTexts(query, rowsOf(fitting), terms)).keys,
    count,
    compared: terms === null ? 0 : fitting.length,
    fitting: fitting.length,
    span:
      newest === undefined || oldest === undefined
        ? null
        : { newest: BigInt(newest), oldest: BigInt(oldest) },
  };
}

/** The `key` and the `row` of the posts with these sort keys; one that has moved since is left out. */
export function rowsOf(keys: readonly string[]): RawBuilder<unknown> {
  return sql`
    SELECT p.sort_key AS key, p.rowid AS row
    FROM json_each(${JSON.stringify(keys)}) AS k CROSS JOIN posts AS p INDEXED BY posts_sort ON p.sort_key = CAST(k.value AS INTEGER)`;
}

/**
 * Most words stand in the caption, so what is packed as JSON is opened for the others alone. A word that a post lacks comes first
 * for the next one: it is the rarer, and decides sooner.
 */
function hasTerms(entry: string, terms: SearchTerm[]): boolean {
  const lacking = terms.findIndex((term) => isRuledOut(entry, term));
  if (lacking !== -1) {
    terms.unshift(...terms.splice(lacking, 1));
    return false;
  }
  const start = entry.indexOf("\n") + 1;
  const end = entry.indexOf("\n", start);
  const others = missingFrom(fold(entry.slice(end + 1)), terms);
  if (others.length === 0 || end === start) return others.length === 0;
  const metadata = JSON.parse(entry.slice(start, end)) as Record<string, unknown>;
  return missingFrom(fold(searchableText({ caption: null, metadata })), others).length === 0;
}

function keyOf(entry: string): string {
  return entry.slice(0, entry.indexOf("\n"));
}

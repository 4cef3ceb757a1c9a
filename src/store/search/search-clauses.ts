import { sql, type RawBuilder } from "kysely";
import type { Query } from "../engine/handle.ts";
import type { KeyRange } from "./search-scan.ts";
import type { CompiledSearch, IndexClause } from "./search.ts";

/** Hits that tell how frequent a clause is. */
const SAMPLE = 32;
/** To open more lists than these costs more than leaving the clause out would save. */
const MAX_LISTS_SAMPLED = 4;
/** What was seen of a word holds for this part of time, some month, … */
const SEASON_BITS = 47n;
/** … and for so many searches. */
const MAX_USES = 100;
const MAX_REMEMBERED = 2_000;
/** Comparing one text takes as long as stepping over so many entries of a list. */
const ENTRIES_PER_CHECK = 250;

export interface RatedSearch extends CompiledSearch {
  /** Posts found in a unit of time among the newest ones, and entries that are stepped over for them; null: not known. */
  readonly density: { readonly hits: number; readonly entries: number } | null;
}

interface RatedClause {
  readonly clause: IndexClause;
  readonly density: number | null;
}

/**
 * Leaves out the clauses whose lists are so much longer than the rarest one's that comparing the few texts of that one is
 * quicker: FTS5 steps through every entry of each list that a post must be in. `rarest` does so with all but one.
 */
export async function rateSearch(
  query: Query,
  compiled: CompiledSearch,
  range: KeyRange,
): Promise<{ readonly all: RatedSearch; readonly rarest: RatedSearch | null }> {
  const rated: RatedClause[] = [];
  for (const clause of compiled.clauses)
    rated.push({ clause, density: await findDensity(query, [clause], range) });
  const least = Math.min(...rated.map(({ density }) => density ?? Infinity));
  const kept = rated
    .filter(({ density }) => density === null || density <= least * ENTRIES_PER_CHECK)
    .toSorted((a, b) => (a.density ?? Infinity) - (b.density ?? Infinity));
  const [first, ...others] = kept;
  const clauses = kept.map(({ clause }) => clause);
  const needsCheck = compiled.needsCheck || kept.length < rated.length;
  if (first === undefined || others.length === 0)
    return { all: { clauses, needsCheck, density: toDensity(least, least) }, rarest: null };
  const entries = kept.reduce((sum, { density }) => sum + (density ?? Infinity), 0);
  const hits = Number.isFinite(entries) ? await findDensity(query, clauses, range) : null;
  return {
    all: { clauses, needsCheck, density: toDensity(hits, entries) },
    rarest: { clauses: [first.clause], needsCheck: true, density: toDensity(first.density, first.density) },
  };
}

function toDensity(hits: number | null, entries: number | null): RatedSearch["density"] {
  return hits === null || entries === null || !Number.isFinite(hits) ? null : { hits, entries };
}

/** How frequent words were when it was last looked: opening a long list takes half a millisecond, and searches come again. */
const remembered = new Map<string, { readonly density: number; uses: number }>();

/** How frequent its newest hits are; null where nothing is known. */
async function findDensity(
  query: Query,
  clauses: readonly IndexClause[],
  range: KeyRange,
): Promise<number | null> {
  if (clauses.some(({ lists }) => lists > MAX_LISTS_SAMPLED)) return null;
  return recall(range, matchOf(clauses), () => readDensity(query, range, hitsOf(clauses, range, SAMPLE)));
}

/** How frequent the newest posts are, of all owners, as the index holds them. */
export function findPostDensity(query: Query, range: KeyRange): Promise<number> {
  const { floor, ceiling } = range;
  return recall(range, "", () =>
    readDensity(
      query,
      range,
      sql`SELECT sort_key AS key FROM posts INDEXED BY posts_sort WHERE sort_key >= ${floor} AND sort_key < ${ceiling}
        ORDER BY sort_key DESC LIMIT ${SAMPLE}`,
    ),
  );
}

async function recall(
  { floor, ceiling }: KeyRange,
  what: string,
  read: () => Promise<number>,
): Promise<number> {
  const place = `${floor >> SEASON_BITS} ${ceiling >> SEASON_BITS} ${what}`;
  const known = remembered.get(place);
  if (known !== undefined && (known.uses += 1) < MAX_USES) return known.density;
  const density = await read();
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  remembered.set(place, { density, uses: 0 });
  return density;
}

/** Those that `newest` selects by the time that they cover: all of the range where there are fewer than a sample. */
async function readDensity(query: Query, range: KeyRange, newest: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ count: number; distance: number | null }>`
    SELECT COUNT(*) AS count, CAST(MAX(key) - MIN(key) AS REAL) AS distance FROM (${newest})`.execute(query);
  const [{ count, distance } = { count: 0, distance: null }] = rows;
  return count < SAMPLE
    ? Math.max(count, 1) / Number(range.ceiling - range.floor)
    : count / Math.max(distance ?? 0, 1);
}

/** Keys (`key`) of the posts in all clauses, newest first. */
export function hitsOf(
  clauses: readonly IndexClause[],
  { floor, ceiling }: KeyRange,
  limit: number,
): RawBuilder<unknown> {
  return sql`
    SELECT rowid AS key FROM search_index
    WHERE search_index MATCH ${matchOf(clauses)} AND rowid >= ${floor} AND rowid < ${ceiling}
    ORDER BY rowid DESC LIMIT ${limit}`;
}

function matchOf(clauses: readonly IndexClause[]): string {
  return clauses.map(({ match }) => match).join(" AND ");
}

import { sql, type RawBuilder } from "kysely";
import type { Query } from "./db.ts";
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
  /** The clause of the fewest posts, with its hits in a unit of time among the newest ones (null: not known); null where there is one only. */
  readonly rarest: { readonly clause: IndexClause; readonly density: number | null } | null;
}

/**
 * Leaves out the clauses whose lists are so much longer than the rarest one's that comparing the few texts of that one is
 * quicker: FTS5 steps through every entry of each list that a post must be in. The others come back rarest first, as far as known.
 */
export async function withoutFrequent(query: Query, compiled: CompiledSearch, range: KeyRange): Promise<RatedSearch> {
  if (compiled.clauses.length < 2) return { ...compiled, rarest: null };
  const rated = [];
  for (const clause of compiled.clauses) rated.push({ clause, density: await findDensity(query, clause, range) });
  const least = Math.min(...rated.map(({ density }) => density ?? Infinity));
  const kept = rated
    .filter(({ density }) => density === null || density <= least * ENTRIES_PER_CHECK)
    .toSorted((a, b) => (a.density ?? Infinity) - (b.density ?? Infinity));
  return {
    clauses: kept.map(({ clause }) => clause),
    needsCheck: compiled.needsCheck || kept.length < rated.length,
    rarest: kept[0] ?? null,
  };
}

/** How frequent words were when it was last looked: opening a long list takes half a millisecond, and searches come again. */
const remembered = new Map<string, { readonly density: number; uses: number }>();

/** How frequent its newest hits are; null where nothing is known. */
async function findDensity(query: Query, clause: IndexClause, range: KeyRange): Promise<number | null> {
  if (clause.lists > MAX_LISTS_SAMPLED) return null;
  const place = `${range.floor >> SEASON_BITS} ${range.ceiling >> SEASON_BITS} ${clause.match}`;
  const known = remembered.get(place);
  if (known !== undefined && (known.uses += 1) < MAX_USES) return known.density;
  const density = await readDensity(query, clause, range);
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  remembered.set(place, { density, uses: 0 });
  return density;
}

/** Its newest hits by the time that they cover. */
async function readDensity(query: Query, clause: IndexClause, range: KeyRange): Promise<number> {
  const { rows } = await sql<{ count: number; distance: number | null }>`
    SELECT COUNT(*) AS count, CAST(MAX(key) - MIN(key) AS REAL) AS distance FROM (${hitsOf([clause], range, SAMPLE)})`.execute(query);
  const [{ count, distance } = { count: 0, distance: null }] = rows;
  return count < SAMPLE ? 0 : count / Math.max(distance ?? 0, 1);
}

/** Keys (`key`) of the posts in all clauses, newest first. */
export function hitsOf(clauses: readonly IndexClause[], { floor, ceiling }: KeyRange, limit: number): RawBuilder<unknown> {
  return sql`
    SELECT rowid AS key FROM search_index
    WHERE search_index MATCH ${clauses.map(({ match }) => match).join(" AND ")} AND rowid >= ${floor} AND rowid < ${ceiling}
    ORDER BY rowid DESC LIMIT ${limit}`;
}

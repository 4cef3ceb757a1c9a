import { sql, type RawBuilder } from "kysely";
import type { Query } from "./db.ts";
import { fold, matchesAll, searchableText, type SearchTerm } from "./search-text.ts";

/*
 * A search whose hits the text index cannot decide alone (a status, words that must stand side by side) has two ways to its
 * page, both newest first: `words` walks the index and looks at each hit's row, `rows` walks the posts that fit the other
 * filters and reads their text. Which is quicker depends on how rare the words and the status are, and nobody counts that.
 * So both are tried in turn from where the other one stopped, and the one that gets further back in time for its cost goes
 * on. Every key above the point reached is settled, whoever settled it.
 */

/** Posts between two sort keys: from `floor` on, below `ceiling`. */
export interface KeyRange {
  readonly floor: bigint;
  readonly ceiling: bigint;
}

export interface ScanPlan {
  readonly terms: readonly SearchTerm[];
  readonly needsCheck: boolean;
  /** Keys (`key`) of index hits in the range, newest first, at most `limit`. */
  words(range: KeyRange, limit: number): RawBuilder<unknown>;
  /** What a hit of `words` must fulfil beside its text, on `posts AS p`. */
  readonly rowFilter: RawBuilder<unknown>;
  /** Keys of the posts that fit all filters but the text, newest first, at most `limit`. */
  rows(range: KeyRange, limit: number): RawBuilder<unknown>;
}

export interface ScanResult {
  /** Sort keys of the hits, newest first, as text. */
  readonly keys: readonly string[];
  /** Set when the work allowed for one page was done before the page was full: the next page goes on below this key. */
  readonly stoppedAt: bigint | null;
}

// Microseconds, roughly: what one row of each way costs on a small server.
const COST_PER_HIT = 2;
const COST_PER_CHECK = 5;
const COST_PER_CHUNK = 150;
/** Where a page ends before it is full: about a tenth of a second, so that no search holds up everybody else. */
const MAX_COST = 100_000;
const FIRST_CHUNK = 128;
const MAX_CHUNK = 4_096;

interface Chunk {
  readonly keys: readonly string[];
  /** The oldest key settled; null when nothing is left below. */
  readonly settledTo: bigint | null;
  readonly cost: number;
}

interface Way {
  readonly next: (range: KeyRange, limit: number) => Promise<Chunk>;
  chunkSize: number;
  /** Distance settled for one unit of cost; unknown before its first turn. */
  speed: number;
}

export async function scan(query: Query, plan: ScanPlan, page: KeyRange & { readonly wanted: number }): Promise<ScanResult> {
  const ways: Way[] = [
    { next: (range, limit) => walkWords(query, plan, range, limit), chunkSize: Math.max(FIRST_CHUNK, page.wanted), speed: Infinity },
    { next: (range, limit) => walkRows(query, plan, range, limit), chunkSize: FIRST_CHUNK, speed: Infinity },
  ];
  const keys: string[] = [];
  let ceiling = page.ceiling;
  for (let cost = 0; cost < MAX_COST;) {
    const way = ways.reduce((best, other) => (other.speed > best.speed ? other : best));
    const chunk = await way.next({ floor: page.floor, ceiling }, way.chunkSize);
    keys.push(...chunk.keys);
    if (keys.length >= page.wanted || chunk.settledTo === null) return { keys: keys.slice(0, page.wanted), stoppedAt: null };
    way.speed = Number(ceiling - chunk.settledTo) / chunk.cost;
    way.chunkSize = Math.min(way.chunkSize * 2, MAX_CHUNK);
    cost += chunk.cost;
    ceiling = chunk.settledTo;
  }
  return { keys, stoppedAt: ceiling };
}

interface CandidateRow {
  /** Null in the last row, which tells how far the chunk reached. */
  readonly key: string | null;
  readonly caption: string | null;
  readonly metadata: string | null;
  readonly reached: string | null;
  readonly count: number | null;
}

async function walkWords(query: Query, plan: ScanPlan, range: KeyRange, limit: number): Promise<Chunk> {
  const rows = await readCandidates(query, plan.words(range, limit), { filter: plan.rowFilter, withText: plan.needsCheck });
  const isChecked = plan.needsCheck ? rows.hits.filter((row) => fits(row, plan.terms)) : rows.hits;
  return toChunk(isChecked, rows, { limit, cost: rows.count * COST_PER_HIT + (plan.needsCheck ? rows.hits.length * COST_PER_CHECK : 0) });
}

async function walkRows(query: Query, plan: ScanPlan, range: KeyRange, limit: number): Promise<Chunk> {
  const rows = await readCandidates(query, plan.rows(range, limit), { filter: sql`TRUE`, withText: true });
  const hits = rows.hits.filter((row) => fits(row, plan.terms));
  return toChunk(hits, rows, { limit, cost: rows.count * COST_PER_CHECK });
}

interface Candidates {
  readonly hits: readonly CandidateRow[];
  readonly reached: string | null;
  readonly count: number;
}

/** One statement for the hits and for how far it looked, so that both are of one moment. */
async function readCandidates(
  query: Query,
  source: RawBuilder<unknown>,
  read: { filter: RawBuilder<unknown>; withText: boolean },
): Promise<Candidates> {
  const text = read.withText ? sql`p.caption, p.metadata` : sql`NULL AS caption, NULL AS metadata`;
  const { rows } = await sql<CandidateRow>`
    WITH candidates AS MATERIALIZED (${source})
    SELECT CAST(c.key AS TEXT) AS key, ${text}, NULL AS reached, NULL AS count
    FROM candidates AS c CROSS JOIN posts AS p INDEXED BY posts_sort ON p.sort_key = c.key
    WHERE ${read.filter}
    UNION ALL
    SELECT NULL, NULL, NULL, CAST(MIN(key) AS TEXT), COUNT(*) FROM candidates`.execute(query);
  const last = rows.at(-1);
  return { hits: rows.slice(0, -1), reached: last?.reached ?? null, count: last?.count ?? 0 };
}

function toChunk(hits: readonly CandidateRow[], rows: Candidates, { limit, cost }: { limit: number; cost: number }): Chunk {
  const isLast = rows.reached === null || rows.count < limit;
  return {
    keys: hits.flatMap(({ key }) => (key === null ? [] : [key])),
    settledTo: isLast || rows.reached === null ? null : BigInt(rows.reached),
    cost: cost + COST_PER_CHUNK,
  };
}

function fits(row: CandidateRow, terms: readonly SearchTerm[]): boolean {
  const metadata = row.metadata === null ? null : (JSON.parse(row.metadata) as Record<string, unknown>);
  return matchesAll(fold(searchableText({ caption: row.caption, metadata })), terms);
}

import { sql, type RawBuilder } from "kysely";
import type { Query } from "./db.ts";
import { fold, isRuledOut, matchesAll, searchableText, type SearchTerm } from "./search-text.ts";

/*
 * A search has two ways to its page, both newest first: `words` walks the text index and looks up whether each hit fits the
 * other filters, `rows` walks the posts that fit them and reads their text. Which is quicker depends on how rare the words are
 * and how rare what fits the filters is, and nobody counts that. So the way that is cheaper to begin with goes first; unless it
 * promises to fill the page soon, the other is tried from where it ended; then the one that gets further back in time for its
 * cost goes on. Every key above the point reached is settled, whoever settled it.
 */

/** Posts between two sort keys: from `floor` on, below `ceiling`. */
export interface KeyRange {
  readonly floor: bigint;
  readonly ceiling: bigint;
}

export interface ScanPlan {
  readonly terms: readonly SearchTerm[];
  readonly needsCheck: boolean;
  /** Lists that `words` opens each time. */
  readonly lists: number;
  /** Keys (`key`) of index hits in the range, newest first, at most `limit`. */
  words(range: KeyRange, limit: number): RawBuilder<unknown>;
  /** That a hit of `words` fits the filters beside the text, said of `c.key`. */
  readonly isFitting: RawBuilder<unknown>;
  /** Keys of the posts that fit all filters but the text, newest first, at most `limit`. */
  rows(range: KeyRange, limit: number): RawBuilder<unknown>;
}

export interface ScanResult {
  /** Sort keys of the hits, newest first, as text. */
  readonly keys: readonly string[];
  /** Set when the work allowed for one page was done before the page was full: the next page goes on below this key. */
  readonly stoppedAt: bigint | null;
}

// Microseconds, roughly: what one row of each way costs, and what stands before the first.
const COST_PER_HIT = 0.8;
const COST_PER_CHECK = 7;
const COST_PER_LIST = 100;
const COST_PER_CHUNK = 100;
/** Where a page ends before it is full: about a tenth of a second, so that no search holds up everybody else. */
const MAX_COST = 100_000;
const FIRST_ROWS = 64;
const FIRST_HITS = 128;
const MAX_CHUNK = 4_096;

interface Chunk {
  readonly keys: readonly string[];
  /** The oldest key settled; null when nothing is left below. */
  readonly settledTo: bigint | null;
  readonly cost: number;
}

interface Way {
  readonly next: (range: KeyRange, limit: number) => Promise<Chunk>;
  /** What its first turn costs whatever it finds. */
  readonly opening: number;
  chunkSize: number;
  /** Distance settled for one unit of cost in its last turn; null before its first. */
  speed: number | null;
}

export interface ScanPage extends KeyRange {
  readonly wanted: number;
  /** Work after which the page ends even if it is not full, roughly in microseconds. */
  readonly maxCost?: number;
}

export async function scan(query: Query, plan: ScanPlan, page: ScanPage): Promise<ScanResult> {
  const ways = waysOf(query, plan, page.wanted);
  const keys: string[] = [];
  let ceiling = page.ceiling;
  let cost = 0;
  while (cost < (page.maxCost ?? MAX_COST)) {
    const costToFill = keys.length === 0 ? Infinity : (cost / keys.length) * (page.wanted - keys.length);
    const way = choose(ways, costToFill);
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

/** Both ways, the one that is cheaper to begin with first. */
function waysOf(query: Query, plan: ScanPlan, wanted: number): readonly [Way, Way] {
  const rows: Way = {
    next: (range, limit) => walkRows(query, plan, range, limit),
    opening: FIRST_ROWS * COST_PER_CHECK,
    chunkSize: FIRST_ROWS,
    speed: null,
  };
  const words: Way = {
    next: (range, limit) => walkWords(query, plan, range, limit),
    opening: plan.lists * COST_PER_LIST,
    // Each turn opens the lists anew.
    chunkSize: Math.max(FIRST_HITS, wanted),
    speed: null,
  };
  return words.opening < rows.opening ? [words, rows] : [rows, words];
}

function choose([first, second]: readonly [Way, Way], costToFill: number): Way {
  if (first.speed === null) return first;
  if (second.speed === null) return costToFill < second.opening ? first : second;
  return first.speed > second.speed ? first : second;
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
  const found = await readCandidates(query, { source: plan.words(range, limit), isFitting: plan.isFitting, withText: plan.needsCheck });
  const hits = plan.needsCheck ? found.hits.filter((row) => fits(row, plan.terms)) : found.hits;
  const checks = plan.needsCheck ? found.hits.length : 0;
  return toChunk(hits, found, { limit, cost: plan.lists * COST_PER_LIST + found.count * COST_PER_HIT + checks * COST_PER_CHECK });
}

async function walkRows(query: Query, plan: ScanPlan, range: KeyRange, limit: number): Promise<Chunk> {
  const found = await readCandidates(query, { source: plan.rows(range, limit), isFitting: sql`TRUE`, withText: true });
  const hits = found.hits.filter((row) => fits(row, plan.terms));
  return toChunk(hits, found, { limit, cost: found.count * COST_PER_CHECK });
}

interface Candidates {
  readonly hits: readonly CandidateRow[];
  readonly reached: string | null;
  readonly count: number;
}

interface CandidateQuery {
  readonly source: RawBuilder<unknown>;
  readonly isFitting: RawBuilder<unknown>;
  readonly withText: boolean;
}

/** One statement for the hits and for how far it looked, so that both are of one moment. */
async function readCandidates(query: Query, { source, isFitting, withText }: CandidateQuery): Promise<Candidates> {
  const texts = withText ? sql`CROSS JOIN posts AS p INDEXED BY posts_sort ON p.sort_key = c.key` : sql``;
  const { rows } = await sql<CandidateRow>`
    WITH candidates AS MATERIALIZED (${source})
    SELECT CAST(c.key AS TEXT) AS key, ${withText ? sql`p.caption, p.metadata` : sql`NULL AS caption, NULL AS metadata`},
      NULL AS reached, NULL AS count
    FROM candidates AS c ${texts} WHERE ${isFitting}
    UNION ALL
    SELECT NULL, NULL, NULL, CAST(MIN(key) AS TEXT), COUNT(*) FROM candidates`.execute(query);
  const last = rows.at(-1);
  return { hits: rows.slice(0, -1), reached: last?.reached ?? null, count: last?.count ?? 0 };
}

function toChunk(hits: readonly CandidateRow[], found: Candidates, { limit, cost }: { limit: number; cost: number }): Chunk {
  const isLast = found.reached === null || found.count < limit;
  return {
    keys: hits.flatMap(({ key }) => (key === null ? [] : [key])),
    settledTo: isLast || found.reached === null ? null : BigInt(found.reached),
    cost: cost + COST_PER_CHUNK,
  };
}

function fits(row: CandidateRow, terms: readonly SearchTerm[]): boolean {
  if (isRuledOut(`${row.caption ?? ""}\n${row.metadata ?? ""}`, terms)) return false;
  const metadata = row.metadata === null ? null : (JSON.parse(row.metadata) as Record<string, unknown>);
  return matchesAll(fold(searchableText({ caption: row.caption, metadata })), terms);
}

import type { RawBuilder } from "kysely";
import type { Query } from "../engine/handle.ts";
import { compareTexts, walkIndex, type Candidates } from "./search-candidates.ts";
import type { SearchTerm } from "./search-text.ts";

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
  readonly words: WordsPlan;
  /** A part of it that finds more posts, each at less cost: quicker where few of those found fit the filters. */
  readonly rarest: WordsPlan | null;
  /** Posts in a unit of time, whosever they are. */
  readonly density: number;
  /** Keys and rows (`key`, `row`) of the posts that fit all filters but the text, newest first, at most `limit`. */
  rows(range: KeyRange, limit: number): RawBuilder<unknown>;
  /** That a hit (`key`) fits the filters beside the text: looked up, which costs the same for any filter. */
  readonly isFitting: RawBuilder<unknown>;
  /** The same by a set of all that fit and lie in the range: quicker where these are few. */
  isMember(range: KeyRange): RawBuilder<unknown>;
}

export interface WordsPlan {
  /** It finds more than what was asked for: each post must be compared with the terms. */
  readonly needsCheck: boolean;
  /** Lists that it opens each time. */
  readonly lists: number;
  /** How many of them each hit must be in. */
  readonly clauses: number;
  /** Hits in a unit of time among the newest posts, and entries of the lists that it steps through; null: not known. */
  readonly density: { readonly hits: number; readonly entries: number } | null;
  /** Keys (`key`) of index hits in the range, newest first, at most `limit`. */
  hits(range: KeyRange, limit: number): RawBuilder<unknown>;
}

export interface ScanResult {
  /** Sort keys of the hits, newest first, as text. */
  readonly keys: readonly string[];
  /** Set when the work allowed for one page was done before the page was full: the next page goes on below this key. */
  readonly stoppedAt: bigint | null;
}

export interface ScanPage extends KeyRange {
  readonly wanted: number;
  /** Work after which the page ends even if it is not full, roughly in microseconds. */
  readonly maxCost?: number;
}

// Microseconds, roughly, on a small server.
const COST_PER_TURN = 300;
const COST_PER_LIST = 100;
const COST_PER_HIT = 0.25;
const COST_PER_LOOKUP = 0.8;
/** To put a post into a set. */
const COST_PER_MEMBER = 0.15;
/** Each further list that a hit must be in, where it is not known how long they are. */
const COST_PER_MEETING = 0.4;
/** To step over an entry of a list. */
const COST_PER_ENTRY = 0.02;
const COST_PER_CHECK = 4.5;
/** Where a page ends before it is full: about a tenth of a second, so that no search holds up everybody else. */
const MAX_COST = 100_000;
const FIRST_ROWS = 64;
const MAX_ROWS = 2_048;
const FIRST_HITS = 128;
const MAX_HITS = 32_768;
/** What the newest posts foretell of the words is believed for a first turn of so many; then it is looked into. They may be a thing of last week. */
const MAX_FORETOLD = 4_096;
/** A turn takes so many times more than the one before at most, and so much more than seems needed. */
const MAX_GROWTH = 16;
const MARGIN = 1.15;
const SPARE = 32;

interface Way {
  readonly read: (range: KeyRange, limit: number) => Promise<Candidates & { readonly settledTo: bigint }>;
  /** Whether a candidate that fits still has to be compared with the words. */
  readonly needsCheck: boolean;
  readonly costPerTurn: number;
  /** To find it and to look whether it fits the filters. */
  readonly costPerCandidate: () => number;
  /** The share of its candidates that fits the other filters; 1 where nothing is known. */
  readonly fittingShare: () => number;
  readonly maxSize: number;
  /** Candidates of the next turn. */
  size: number;
  /** What its turns found so far. */
  count: number;
  compared: number;
  /** Fitted the other filters. */
  fitting: number;
  hits: number;
  distance: number;
  /** Candidates in a unit of time, as foretold before its first turn; null: not known. */
  foretold: number | null;
  /** Its last turn found less than half of what its density foretold. */
  isThin: boolean;
}

export async function scan(query: Query, plan: ScanPlan, page: ScanPage): Promise<ScanResult> {
  const rows = rowsWay(query, plan, page.wanted);
  const size = Math.max(FIRST_HITS, page.wanted);
  const all = createWordsWay(query, plan, { words: plan.words, rows, size });
  const rarest = plan.rarest && createWordsWay(query, plan, { words: plan.rarest, rows, size });
  const keys: string[] = [];
  let ceiling = page.ceiling;
  let cost = 0;
  while (cost < (page.maxCost ?? MAX_COST)) {
    const way = choose(cheaper(all, rarest), rows, page.wanted - keys.length);
    if (way.count === 0 && way.foretold !== null) way.size = foretoldSize(way, page.wanted - keys.length);
    const found = await way.read({ floor: page.floor, ceiling }, way.size);
    keys.push(...found.keys);
    if (keys.length >= page.wanted || found.settledTo <= page.floor)
      return { keys: keys.slice(0, page.wanted), stoppedAt: null };
    cost += way.costPerTurn + found.count * way.costPerCandidate() + found.compared * COST_PER_CHECK;
    note(way, found, page.wanted - keys.length);
    ceiling = found.settledTo;
    if (rows.count > FIRST_ROWS * MAX_GROWTH && isDisproved(all, rows)) all.foretold = null;
  }
  return { keys, stoppedAt: ceiling };
}

const NOTHING_FOUND = {
  count: 0,
  compared: 0,
  fitting: 0,
  hits: 0,
  distance: 0,
  foretold: null,
  isThin: false,
};

function rowsWay(query: Query, plan: ScanPlan, wanted: number): Way {
  return {
    ...NOTHING_FOUND,
    read: async (range, limit) =>
      settle(await compareTexts(query, plan.rows(range, limit), plan.terms), range, limit),
    needsCheck: true,
    costPerTurn: COST_PER_TURN,
    costPerCandidate: () => 0,
    fittingShare: () => 1,
    size: Math.max(FIRST_ROWS, Math.ceil(wanted / 4)),
    maxSize: MAX_ROWS,
  };
}

function createWordsWay(
  query: Query,
  plan: ScanPlan,
  { words, rows, size }: { words: WordsPlan; rows: Way; size: number },
): Way {
  const { density } = words;
  const costPerMeeting =
    density === null
      ? (words.clauses - 1) * COST_PER_MEETING
      : (density.entries / density.hits) * COST_PER_ENTRY;
  const costPerHit = COST_PER_HIT + costPerMeeting;
  const way: Way = {
    ...NOTHING_FOUND,
    foretold: density?.hits ?? null,
    read: async (all, limit) => {
      // The set has to end somewhere. Where the words get rarer than foretold, the next turn does without: it ends with its hits.
      const isSet = costPerMember() < COST_PER_LOOKUP;
      const range = isSet ? within(all, limit / densityOf(way)) : all;
      const condition = isSet ? plan.isMember(range) : plan.isFitting;
      const terms = words.needsCheck ? plan.terms : null;
      return settle(
        await walkIndex(query, { source: words.hits(range, limit), condition, terms }),
        range,
        limit,
      );
    },
    needsCheck: words.needsCheck,
    costPerTurn: COST_PER_TURN + words.lists * COST_PER_LIST,
    costPerCandidate: () => costPerHit + Math.min(costPerMember(), COST_PER_LOOKUP),
    fittingShare: () => {
      if (way.count > 0) return way.fitting / way.count;
      return rows.count > 0 ? Math.min(1, densityOf(rows) / plan.density) : 1;
    },
    size,
    maxSize: MAX_HITS,
  };
  const costPerMember = (): number =>
    way.isThin || !isKnown(way) || rows.count === 0
      ? Infinity
      : (densityOf(rows) / densityOf(way)) * COST_PER_MEMBER;
  return way;
}

/** Whether to look for all words at once, or for the rarest and compare the texts. */
function cheaper(all: Way, rarest: Way | null): Way {
  const areKnown = rarest !== null && isKnown(rarest) && isKnown(all);
  return areKnown && costOfDistance(rarest) < costOfDistance(all) ? rarest : all;
}

/** Walking the posts found less than half of the hits that were foretold: further back the words are rarer. */
function isDisproved(words: Way, rows: Way): boolean {
  return words.foretold !== null && (rows.hits / rows.distance) * 2 < words.foretold * words.fittingShare();
}

function isKnown(way: Way): boolean {
  return way.count > 0 || way.foretold !== null;
}

/** A full turn settled what lies above its oldest candidate, any other its whole range. */
function settle(
  found: Candidates,
  range: KeyRange,
  limit: number,
): Candidates & { readonly settledTo: bigint } {
  return {
    ...found,
    settledTo: found.count < limit || found.span === null ? range.floor : found.span.oldest,
  };
}

/** The newest part of a range. */
function within({ floor, ceiling }: KeyRange, distance: number): KeyRange {
  const end = ceiling - BigInt(Math.ceil(Math.min(distance, Number(ceiling))));
  return { floor: end > floor ? end : floor, ceiling };
}

function choose(words: Way, rows: Way, missing: number): Way {
  if (isKnown(words) && rows.count > 0) return costOfDistance(words) < costOfDistance(rows) ? words : rows;
  const [begun, other] =
    words.count > 0 || (rows.count === 0 && openingOf(words) < openingOf(rows))
      ? [words, rows]
      : [rows, words];
  return begun.count === 0 || costToFill(begun, missing) < openingOf(other) ? begun : other;
}

/** What the next turn costs at least. */
function openingOf(way: Way): number {
  return way.costPerTurn + way.size * costOfCandidate(way);
}

function costToFill(way: Way, missing: number): number {
  return way.hits === 0
    ? Infinity
    : way.costPerTurn + (missing / way.hits) * way.count * costOfCandidate(way);
}

function costOfCandidate(way: Way): number {
  return way.costPerCandidate() + (way.needsCheck ? way.fittingShare() * COST_PER_CHECK : 0);
}

function costOfDistance(way: Way): number {
  return densityOf(way) * costOfCandidate(way);
}

/** Candidates in a unit of time; unknown, and taken for endless, before the first turn unless it was foretold. */
function densityOf(way: Way): number {
  if (way.count === 0 && way.foretold !== null) return way.foretold;
  return way.distance === 0 ? Infinity : way.count / way.distance;
}

/** Candidates among which as many as are missing fit the filters, if it is as foretold. */
function foretoldSize(way: Way, missing: number): number {
  return Math.min(MAX_FORETOLD, Math.ceil((missing / way.fittingShare()) * MARGIN) + FIRST_ROWS);
}

function note(way: Way, found: Candidates & { readonly settledTo: bigint }, missing: number): void {
  way.count += found.count;
  way.compared += found.compared;
  way.fitting += found.fitting;
  way.hits += found.keys.length;
  way.distance += found.span === null ? 0 : Number(found.span.newest - found.settledTo);
  way.isThin = found.count * 2 < way.size;
  const needed = way.hits === 0 ? Infinity : Math.ceil((missing / way.hits) * way.count * MARGIN) + SPARE;
  way.size = Math.min(needed, way.size * MAX_GROWTH, way.maxSize);
}

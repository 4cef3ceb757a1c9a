import type { ScanPage, ScanResult } from "../../search/two-walks.ts";
import type { SearchTerm } from "../../../domain/compare-words.ts";
import type { Frequencies } from "./frequencies.ts";
import { operand, tokensOf } from "./words.ts";

/*
 * A search has two ways to its page. The scan walks the posts that fit the other filters, newest first, and
 * compares their text: quick for words that many posts have. The index gives every post that has rare words,
 * unordered, to be looked up and sorted: quick for few. The statistics of the table tell which words are rare,
 * and the first steps of the scan how many posts really match, which they do not know of words that go together
 * and of beginnings that many rare words share.
 */

/** Microseconds of the server's time (bench/search-postgres.ts). */
export interface Costs {
  /** A post that the scan compares. */
  readonly row: number;
  /** A post that the index gives. */
  readonly hit: number;
  /** An entry that the index reads. */
  readonly entry: number;
}

export interface Tuning {
  /** Posts that the scan looks at in its first step, its second, and so on; the last holds for all after it. */
  readonly steps: readonly number[];
  readonly costs: Costs;
}

export const TUNING: Tuning = { steps: [600, 3_000, 15_000], costs: { row: 3.7, hit: 5, entry: 0.07 } };

export interface Step {
  /** Sort keys of the hits, newest first, as text. */
  readonly keys: readonly string[];
  /** The last key looked at; null where nothing below it is left. */
  readonly oldest: bigint | null;
}

/** Both look from `floor` on and below `ceiling`. */
export interface Ways {
  /** Looks at the newest posts, `limit` at most. */
  readonly scan: (floor: bigint, ceiling: bigint, limit: number) => Promise<Step>;
  /** The newest hits, `limit` at most, through the tokens of `query`, a tsquery. */
  readonly index: (floor: bigint, ceiling: bigint, limit: number, query: string) => Promise<string[]>;
}

/** After so long a page ends even if it is not full, so that no search holds up everybody else. */
const MAX_MS = 75;
/** The index cannot stop: where it takes longer than that, it must be so many times as quick as the scan. */
const WORTH_WAITING = 4;
/** The smallest step that is worth its round trip. */
const LEAST = 600;
/** Statistics count as much as so many posts that the scan has looked at. */
const WEIGHT_OF_STATISTICS = 200;
/** A step that should fill the page takes so many times what seems needed. */
const MARGIN = 1.25;

export async function findKeys(
  ways: Ways,
  { floor, wanted, now, ...page }: ScanPage,
  { terms, frequencies, tuning }: { terms: readonly SearchTerm[]; frequencies: Frequencies; tuning: Tuning },
): Promise<ScanResult> {
  const { steps, costs } = tuning;
  const narrowings = terms.map((term) => narrow(term, frequencies)).sort((a, b) => a.share - b.share);
  const expected = narrowings.reduce((product, { share }) => product * share, 1);
  const plan = cheapest(narrowings, frequencies.posts, costs);
  const keys: string[] = [];
  let ceiling = page.ceiling;
  let seen = 0;
  const begun = now();
  for (let step = 0; ; step += 1) {
    const missing = wanted - keys.length;
    const density = (keys.length + expected * WEIGHT_OF_STATISTICS) / (seen + WEIGHT_OF_STATISTICS);
    const leftUs = (MAX_MS - (now() - begun)) * 1_000;
    const scanUs = (missing / density) * costs.row;
    const indexUs = plan.cost(density);
    if (step > 0 && indexUs < (indexUs > leftUs ? scanUs / WORTH_WAITING : scanUs)) {
      keys.push(...(await ways.index(floor, ceiling, missing, plan.query)));
      return { keys, stoppedAt: null };
    }
    // What the time left is enough for, at the pace so far where that is slower than usual.
    const pace = Math.max(costs.row, seen === 0 ? 0 : ((now() - begun) * 1_000) / seen);
    const most = Math.max(LEAST, leftUs / pace);
    const needed = (missing / density) * MARGIN;
    const size = Math.min(steps[step] ?? steps.at(-1) ?? 1, Math.ceil(Math.min(needed, most)));
    const found = await ways.scan(floor, ceiling, size);
    keys.push(...found.keys);
    if (keys.length >= wanted || found.oldest === null)
      return { keys: keys.slice(0, wanted), stoppedAt: null };
    ceiling = found.oldest;
    seen += size;
    if (now() - begun >= MAX_MS) return { keys, stoppedAt: ceiling };
  }
}

/** What the index is asked for a term. */
interface Narrowing {
  /** A tsquery. */
  readonly query: string;
  /** Of all posts: those that it gives, and those whose entries are read for it. */
  readonly share: number;
  readonly read: number;
}

/** A beginning that is more common than the rest of its term is left out: all of its entries would be read. */
function narrow(term: SearchTerm, { shareOf }: Frequencies): Narrowing {
  const tokens = tokensOf(term).map((token) => ({ token, share: shareOf(token) }));
  const rarest = Math.min(...tokens.map(({ share }) => share));
  const asked = tokens.filter(({ token, share }) => !token.isPrefix || share === rarest);
  const query = asked.map(({ token }) => operand(token)).join(" & ");
  return { query, share: rarest, read: rarest };
}

interface IndexPlan {
  readonly query: string;
  /** In microseconds, where so large a share of all posts matches all terms. */
  readonly cost: (density: number) => number;
}

/** The rarest term, and each next one that costs less to read than what it spares. */
function cheapest([first, ...others]: readonly Narrowing[], posts: number, { hit, entry }: Costs): IndexPlan {
  if (first === undefined) throw new Error("A search has terms.");
  let plan = first;
  for (const other of others) {
    const both = {
      query: `${plan.query} & ${other.query}`,
      share: plan.share * other.share,
      read: plan.read + other.read,
    };
    if (both.share * hit + both.read * entry >= plan.share * hit + plan.read * entry) break;
    plan = both;
  }
  const { query, share, read } = plan;
  return {
    query,
    cost: (density) => posts * (Math.max(share, density) * hit + Math.max(read, density) * entry),
  };
}

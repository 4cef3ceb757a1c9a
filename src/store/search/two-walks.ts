/*
 * A search has two ways to its page, both newest first: walking the text index and looking up whether each
 * hit fits the other filters, and walking the posts that fit them and comparing their text. Which is quicker
 * depends on how rare the words are and how rare what fits the filters is, and nobody counts that. So both
 * begin in turn, in steps that grow, and the one that gets further back in time per millisecond goes on.
 * Every key above the point reached is settled, whoever settled it.
 */

/** Posts between two sort keys: from `floor` on, below `ceiling`. */
export interface KeyRange {
  readonly floor: bigint;
  readonly ceiling: bigint;
}

/** What looking at some candidates, newest first, has shown. */
export interface Step {
  /** Sort keys of the posts found, newest first, as text. */
  readonly keys: readonly string[];
  /** The newest and the oldest key looked at; null where nothing in the range is left to look at. */
  readonly span: { readonly newest: bigint; readonly oldest: bigint } | null;
}

/** Looks at the newest candidates in the range, `limit` at most. */
export type Walk = (range: KeyRange, limit: number) => Promise<Step>;

export interface ScanPage extends KeyRange {
  readonly wanted: number;
  /** Milliseconds of a clock that never jumps. */
  readonly now: () => number;
}

export interface ScanResult {
  /** Sort keys of the hits, newest first, as text. */
  readonly keys: readonly string[];
  /**
   * Set when the time for one page was over before the page was full: the next page goes on below this key.
   */
  readonly stoppedAt: bigint | null;
}

/** After so long a page ends even if it is not full, so that no search holds up everybody else. */
const MAX_MS = 100;
const FIRST_STEP = 128;
/** A step is so many times as large as the one before, unless that took longer than this. */
const GROWTH = 4;
const MAX_GROWING_MS = 12;
/**
 * The slower way goes on while it has had less than this share of the other's time: further back it may be
 * quicker.
 */
const SHARE_OF_SLOWER = 0.25;
/** A step that should fill the page takes so many times what seems needed. */
const MARGIN = 1.25;

interface Way {
  readonly walk: Walk;
  /** Candidates that it looks at in one step. */
  size: number;
  /** Of all its steps: candidates looked at, and how many of them were hits. */
  seen: number;
  hits: number;
  /** Milliseconds of all its steps, and how far its last one got in each; endless before the first. */
  spent: number;
  speed: number;
}

export async function scan(
  walks: readonly [Walk, Walk],
  { floor, wanted, now, ...page }: ScanPage,
): Promise<ScanResult> {
  const [first, second] = [createWay(walks[0], wanted), createWay(walks[1], wanted)];
  const keys: string[] = [];
  let ceiling = page.ceiling;
  const begun = now();
  do {
    const way = choose(first, second);
    const size = Math.min(way.size, Math.ceil(((wanted - keys.length) / shareOf(way)) * MARGIN));
    const start = now();
    const found = await way.walk({ floor, ceiling }, size);
    keys.push(...found.keys);
    if (keys.length >= wanted || found.span === null) return { keys: keys.slice(0, wanted), stoppedAt: null };
    note(way, {
      size,
      hits: found.keys.length,
      ms: now() - start,
      distance: Number(found.span.newest - found.span.oldest),
    });
    ceiling = found.span.oldest;
  } while (now() - begun < MAX_MS);
  return { keys, stoppedAt: ceiling };
}

function createWay(walk: Walk, wanted: number): Way {
  return { walk, size: Math.max(FIRST_STEP, wanted), seen: 0, hits: 0, spent: 0, speed: Infinity };
}

/** How many of its candidates are hits; none before its first step. */
function shareOf({ seen, hits }: Way): number {
  return seen === 0 ? 0 : hits / seen;
}

function choose(one: Way, other: Way): Way {
  const [quicker, slower] = one.speed >= other.speed ? [one, other] : [other, one];
  return slower.spent < quicker.spent * SHARE_OF_SLOWER ? slower : quicker;
}

function note(
  way: Way,
  { size, hits, ms, distance }: { size: number; hits: number; ms: number; distance: number },
): void {
  // A short step that was to fill the page says nothing of how long one of full size takes.
  if (size === way.size && ms < MAX_GROWING_MS) way.size *= GROWTH;
  way.seen += size;
  way.hits += hits;
  way.spent += ms;
  way.speed = distance / ms;
}

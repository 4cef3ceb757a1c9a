import { rowOf } from "../../engine/statements.ts";
import type { Reader } from "../../engine/store.ts";
import type { NeededToken } from "./words.ts";

/** How common words are. */
export interface Frequencies {
  /** How many are indexed; endless while nobody has counted. */
  readonly posts: number;
  /** The share of all posts that have this token, or one that begins like it: from above 0 to 1. */
  readonly shareOf: (token: NeededToken) => number;
}

/** What ANALYZE has found, which autovacuum runs after many changes. */
const STATISTICS = `
  SELECT c.reltuples AS posts, array_to_json(s.most_common_elems::text::text[])::text AS tokens,
    array_to_json(s.most_common_elem_freqs)::text AS shares
  FROM pg_stats s JOIN pg_class c ON c.oid = 'post_search'::regclass
  WHERE s.schemaname = current_schema() AND s.tablename = 'post_search' AND s.attname = 'words'
    AND s.most_common_elems IS NOT NULL`;

const KEPT_MS = 60_000;
const UNKNOWN: Frequencies = { posts: Infinity, shareOf: () => 0.01 };

/** Reads them anew after a minute; `now` is a clock that never jumps. */
export function createFrequencies(reader: Reader): (now: number) => Promise<Frequencies> {
  let known: { readonly readAt: number; readonly frequencies: Promise<Frequencies> } | null = null;
  return (now) => {
    if (known === null || now - known.readAt >= KEPT_MS) {
      const frequencies = readFrequencies(reader);
      known = { readAt: now, frequencies };
      frequencies.catch(() => (known = null));
    }
    return known.frequencies;
  };
}

async function readFrequencies(reader: Reader): Promise<Frequencies> {
  const row = await rowOf<{ posts: number; tokens: string; shares: string }>(reader, STATISTICS, []);
  if (row === undefined) return UNKNOWN;
  const tokens = JSON.parse(row.tokens) as string[];
  const shares = JSON.parse(row.shares) as number[];
  const known = tokens.map((token, at) => ({ token, share: shares[at] ?? 0 })).sort(byToken);
  // Behind those of the tokens stands the least of them.
  const rare = (shares[tokens.length] ?? 0) / 2;
  return {
    posts: row.posts,
    shareOf: ({ text, isPrefix }) => {
      let share = 0;
      for (let at = firstFrom(known, text); ; at += 1) {
        const { token } = known[at] ?? {};
        if (token === undefined || !(isPrefix ? token.startsWith(text) : token === text)) break;
        share += known[at]?.share ?? 0;
      }
      return share === 0 ? rare : Math.min(1, share);
    },
  };
}

interface KnownToken {
  readonly token: string;
  readonly share: number;
}

function byToken(one: KnownToken, other: KnownToken): number {
  return one.token < other.token ? -1 : 1;
}

/** Where the first token stands that is not less than this one. */
function firstFrom(known: readonly KnownToken[], text: string): number {
  let [low, high] = [0, known.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((known[middle]?.token ?? "") < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

import { randomInt } from "node:crypto";
import type { SqliteDatabase } from "../engine/driver.ts";

/**
 * Bits that tell posts of the same millisecond apart. The text index stores the distances of keys: each bit
 * makes it 1.5 % larger.
 */
const TIE_BITS = 16n;

/**
 * The least sort key of this millisecond: that of a later one is greater than any of it. Exceeds 2⁵³: bind as
 * BigInt, read as text.
 */
export function firstKeyAt(ms: number): bigint {
  return BigInt(ms) << TIE_BITS;
}

const LAST_OF_MOMENT =
  "SELECT CAST(MAX(sort_key) AS TEXT) AS key FROM posts WHERE sort_key >= ? AND sort_key < ?";
const IS_TAKEN = "SELECT 1 FROM posts INDEXED BY posts_sort WHERE sort_key = ?";
const KEY_OF_POST =
  "SELECT CAST(sort_key AS TEXT) AS key, scheduled_at AS at FROM posts WHERE id = ? AND owner_id = ?";

/** Keys of one millisecond. */
const TIES = 2 ** Number(TIE_BITS);
/** Looked at in a millisecond whose last key is taken; posts that moved away leave gaps. */
const GAP_PROBES = 8;

/**
 * The next free key of the post's millisecond; later posts of the same millisecond sort as newer. Where that
 * has none left, one of a gap, or of a millisecond soon after it (a displaced post): so many posts at one
 * moment are in no order that anybody sees, and are found all the same (`displacedUntil`).
 */
export function nextSortKey(raw: SqliteDatabase, scheduledAt: number): bigint {
  let moment = scheduledAt;
  for (let step = 1; ; step *= 2) {
    const key = freeKeyAt(raw, moment);
    if (key !== null) return key;
    moment += step;
  }
}

function freeKeyAt(raw: SqliteDatabase, moment: number): bigint | null {
  const [first, end] = [firstKeyAt(moment), firstKeyAt(moment + 1)];
  const last = raw.prepare(LAST_OF_MOMENT).get([first, end]) as { key: string | null };
  if (last.key === null) return first;
  const next = BigInt(last.key) + 1n;
  if (next < end) return next;
  for (let probe = 0; probe < GAP_PROBES; probe += 1) {
    const key = first + BigInt(randomInt(TIES));
    if (raw.prepare(IS_TAKEN).get([key]) === undefined) return key;
  }
  return null;
}

/** Where a post stands in the order of all. */
export interface Place {
  readonly sortKey: bigint;
  /** Milliseconds since 1970. */
  readonly scheduledAt: number;
}

/** Null for a post that does not exist or is somebody else's. */
export function readPlace(
  raw: SqliteDatabase,
  post: { readonly ownerId: string; readonly id: string },
): Place | null {
  const row = raw.prepare(KEY_OF_POST).get([post.id, post.ownerId]) as
    { key: string; at: number } | undefined;
  return row === undefined ? null : { sortKey: BigInt(row.key), scheduledAt: row.at };
}

/** Said of posts whose millisecond had no key left, in the words of the index posts_displaced. */
const IS_DISPLACED = `sort_key >> ${TIE_BITS} <> scheduled_at`;
const DISPLACED = `
  SELECT CAST(MAX(sort_key) AS TEXT) AS key FROM posts INDEXED BY posts_displaced
  WHERE ${IS_DISPLACED} AND owner_id = ? AND scheduled_at >= ? AND scheduled_at <= ?`;

/**
 * The last key of the owner's displaced posts of this time, both ends included; null where there are none.
 */
export function displacedUntil(
  raw: SqliteDatabase,
  ownerId: string,
  { from, to }: { readonly from: number; readonly to: number },
): bigint | null {
  const { key } = raw.prepare(DISPLACED).get([ownerId, from, to]) as { key: string | null };
  return key === null ? null : BigInt(key);
}

import { randomInt } from "node:crypto";
import { rowOf } from "../engine/statements.ts";
import { HANDLE, type Reader, type Tx } from "../engine/store.ts";

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
/** Below zero, where no other lock has its number. */
const LOCK_MOMENT = "SELECT pg_advisory_xact_lock(?)";
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
export async function nextSortKey(tx: Tx, scheduledAt: number): Promise<bigint> {
  let moment = scheduledAt;
  for (let step = 1; ; step *= 2) {
    const key = await freeKeyAt(tx, moment);
    if (key !== null) return key;
    moment += step;
  }
}

async function freeKeyAt(tx: Tx, moment: number): Promise<bigint | null> {
  const [first, end] = [firstKeyAt(moment), firstKeyAt(moment + 1)];
  // Where several write at once, one transaction after the other gives a millisecond's keys away. SQLite has
  // one writer.
  if (tx[HANDLE].engine === "postgres") await rowOf(tx, LOCK_MOMENT, [-moment]);
  const last = await rowOf<{ key: string | null }>(tx, LAST_OF_MOMENT, [first, end]);
  if (last === undefined || last.key === null) return first;
  const next = BigInt(last.key) + 1n;
  if (next < end) return next;
  for (let probe = 0; probe < GAP_PROBES; probe += 1) {
    const key = first + BigInt(randomInt(TIES));
    if ((await rowOf(tx, IS_TAKEN, [key])) === undefined) return key;
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
export async function readPlace(
  reader: Reader,
  post: { readonly ownerId: string; readonly id: string },
): Promise<Place | null> {
  const row = await rowOf<{ key: string; at: number }>(reader, KEY_OF_POST, [post.id, post.ownerId]);
  return row === undefined ? null : { sortKey: BigInt(row.key), scheduledAt: row.at };
}

/** Said of posts whose millisecond had no key left, in the words of the index posts_displaced. */
const IS_DISPLACED = `sort_key >> ${TIE_BITS} <> scheduled_at`;
/**
 * Of a sum: for the greatest key itself PostgreSQL goes backwards through all posts, and would come to none.
 */
const DISPLACED = `
  SELECT CAST(MAX(sort_key + 0) AS TEXT) AS key FROM posts INDEXED BY posts_displaced
  WHERE ${IS_DISPLACED} AND owner_id = ? AND scheduled_at >= ? AND scheduled_at <= ?`;

/**
 * The last key of the owner's displaced posts of this time, both ends included; null where there are none.
 */
export async function displacedUntil(
  reader: Reader,
  ownerId: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<bigint | null> {
  const row = await rowOf<{ key: string | null }>(reader, DISPLACED, [ownerId, from, to]);
  return row === undefined || row.key === null ? null : BigInt(row.key);
}

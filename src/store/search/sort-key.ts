import { AppError } from "../../domain/errors.ts";
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

/** The millisecond that a sort key belongs to. */
export function momentOf(sortKey: bigint): number {
  return Number(sortKey >> TIE_BITS);
}

const LAST_OF_MOMENT =
  "SELECT CAST(MAX(sort_key) AS TEXT) AS key FROM posts WHERE sort_key >= ? AND sort_key < ?";
const KEY_OF_POST = "SELECT CAST(sort_key AS TEXT) AS key FROM posts WHERE id = ? AND owner_id = ?";

/**
 * The next free key of the post's millisecond; later posts of the same millisecond sort as newer. Throws
 * `conflict` where it is full.
 */
export function nextSortKey(raw: SqliteDatabase, scheduledAt: number): bigint {
  const [first, end] = [firstKeyAt(scheduledAt), firstKeyAt(scheduledAt + 1)];
  const last = raw.prepare(LAST_OF_MOMENT).get([first, end]) as { key: string | null };
  const next = last.key === null ? first : BigInt(last.key) + 1n;
  if (next >= end) {
    throw new AppError(
      "conflict",
      "scheduledAt: too many posts are scheduled for this very millisecond. Choose a time a moment later.",
    );
  }
  return next;
}

/** Null for a post that does not exist or is somebody else's. */
export function readSortKey(
  raw: SqliteDatabase,
  post: { readonly ownerId: string; readonly id: string },
): bigint | null {
  const row = raw.prepare(KEY_OF_POST).get([post.id, post.ownerId]) as { key: string } | undefined;
  return row === undefined ? null : BigInt(row.key);
}

/** Bits that tell posts of the same millisecond apart. The text index stores the distances of keys: each bit makes it 1.5 % larger. */
const TIE_BITS = 16n;

/** The least sort key of this millisecond: that of a later one is greater than any of it. Exceeds 2⁵³: bind as BigInt, read as text. */
export function firstKeyAt(ms: number): bigint {
  return BigInt(ms) << TIE_BITS;
}

/** The millisecond that a sort key belongs to. */
export function momentOf(sortKey: bigint): number {
  return Number(sortKey >> TIE_BITS);
}

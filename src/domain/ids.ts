import { monotonicFactory } from "ulid";

const ulid = monotonicFactory();

export const ID_PREFIXES = ["post", "acc", "file", "key", "att", "con", "wrk", "whk", "evt"] as const;
export type IdPrefix = (typeof ID_PREFIXES)[number];

/** A new opaque id (`post_01jd…`), sortable by creation time. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${ulid().toLowerCase()}`;
}

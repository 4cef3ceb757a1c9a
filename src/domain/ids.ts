import { randomInt } from "node:crypto";
import { monotonicFactory } from "ulid";

// As unforeseeable as its own source; `randomInt` asks the system for thousands at once.
const ulid = monotonicFactory(() => randomInt(32) / 32);

export const ID_PREFIXES = [
  "post",
  "acc",
  "file",
  "key",
  "att",
  "con",
  "wrk",
  "whk",
  "evt",
  "grt",
  "dft",
  "ses",
  "cli",
] as const;
type IdPrefix = (typeof ID_PREFIXES)[number];

/** A new opaque id (`post_01jd…`), sortable by creation time. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${ulid().toLowerCase()}`;
}

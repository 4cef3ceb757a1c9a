import { appendFileSync } from "node:fs";
import { createRandom } from "../support/random.ts";

/**
 * How far the plan is carried: CI runs a short form of each fault, `npm run torture` the long one,
 * times its `--scale`. Rows of what was seen go into the table of docs/reliability.md.
 */
const { TORTURE_SCALE, TORTURE_SEED, TORTURE_RESULTS, POSTHORN_TEST_ENGINE } = process.env;

export const IS_LONG = TORTURE_SCALE !== undefined;

/** For a whole test; the long forms take what they take. */
export const TIMEOUT_MS = IS_LONG ? 6 * 3_600_000 : 240_000;

export function times(runs: { readonly short: number; readonly long: number }): number {
  return IS_LONG ? Math.max(1, Math.ceil(runs.long * Number(TORTURE_SCALE))) : runs.short;
}

/** Of this run; `npm run torture -- --seed` repeats one. */
export const SEED = TORTURE_SEED === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(TORTURE_SEED);

/** The same numbers for the same seed, whatever else is run. */
export function randomFor(name: string): () => number {
  let mixed = SEED;
  for (const letter of name) mixed = Math.imul(mixed ^ letter.charCodeAt(0), 0x01_00_01_93);
  return createRandom(mixed);
}

interface Row {
  readonly fault: string;
  /** What was done, to what. */
  readonly how: string;
  readonly runs: string;
  readonly seen: string;
  /** False where nothing is left to chance. */
  readonly isSeeded?: boolean;
}

/** Called when everything held; a run that failed leaves no row. */
export function report(row: Row): void {
  if (TORTURE_RESULTS === undefined) return;
  // A file that runs on both engines has a row of each.
  const how = POSTHORN_TEST_ENGINE === "postgres" ? `PostgreSQL: ${row.how}` : row.how;
  const seed = row.isSeeded === true ? SEED : null;
  appendFileSync(TORTURE_RESULTS, `${JSON.stringify({ ...row, how, seed })}\n`);
}

import { DEFAULT_PAGE_CHARS, MAX_RESULT_CHARS } from "../limits.ts";

type Result = Readonly<Record<string, unknown>>;

export interface FittedResult {
  readonly result: Record<string, unknown>;
  /** What the model must know of what it does not see. */
  readonly note: string | null;
}

interface Fitting {
  /** Whether the caller said how long a page should be. */
  readonly isLimited: boolean;
  /** The same page with fewer entries, and the cursor that belongs to it. */
  readonly again: (limit: number) => Promise<Record<string, unknown>>;
}

/** Below this, addresses and cursors would be cut, too. */
const TEXT_CHARS = [4_000, 1_000];

const MAX_TRIES = 4;

/** Room for what is noted beside. */
const NOTE_CHARS = 500;
const MAX_CHARS = MAX_RESULT_CHARS - NOTE_CHARS;

/** A result of a size for models. Pages get shorter, with a cursor. Else texts are cut, then lists. */
export async function fitResult(whole: Record<string, unknown>, fitting: Fitting): Promise<FittedResult> {
  const page = listIn(whole);
  const paged =
    page !== null && "nextCursor" in whole
      ? await fitPage(whole, page, fitting)
      : { result: whole, note: null };
  if (sizeOf(paged.result) <= MAX_CHARS) return paged;
  const { result, note } = fitTexts(paged.result);
  return { result, note: paged.note === null ? note : `${paged.note} ${note}` };
}

async function fitPage(
  whole: Record<string, unknown>,
  key: string,
  { isLimited, again }: Fitting,
): Promise<FittedResult> {
  const maxChars = isLimited ? MAX_CHARS : DEFAULT_PAGE_CHARS - NOTE_CHARS;
  let result = whole;
  for (let tries = 0; tries < MAX_TRIES && sizeOf(result) > maxChars; tries++) {
    const count = countFitting(result, key, maxChars);
    if (count === lengthOf(result, key)) break;
    result = await again(count);
  }
  if (result === whole) return { result, note: null };
  const more = isLimited ? "" : " For longer pages give limit.";
  const rest = `For the rest call again with the same filters and nextCursor as cursor.${more}`;
  return {
    result,
    note: `These are ${lengthOf(result, key)} ${key}: a page that can be read at once. ${rest}`,
  };
}

function fitTexts(whole: Record<string, unknown>): {
  readonly result: Record<string, unknown>;
  readonly note: string;
} {
  let result = whole;
  for (const maxChars of TEXT_CHARS) {
    result = cutTexts(whole, maxChars) as Record<string, unknown>;
    if (sizeOf(result) > MAX_CHARS) continue;
    return { result, note: `Texts are cut after ${maxChars} characters (…): do not write them back.` };
  }
  const key = listIn(result);
  if (key === null) return { result, note: "Texts are cut (…): do not write them back." };
  const count = countFitting(result, key, MAX_CHARS);
  const list = listOf(result, key);
  return {
    result: { ...result, [key]: list.slice(0, count) },
    note: `These are the first ${count} of ${list.length} ${key}, with texts cut (…): ask for less at once.`,
  };
}

/** At least one: a page without entries would lead nowhere. */
function countFitting(result: Result, key: string, maxChars: number): number {
  const list = listOf(result, key);
  let size = sizeOf({ ...result, [key]: [] });
  const over = list.findIndex((item) => (size += sizeOf(item) + 1) > maxChars);
  return Math.max(1, over === -1 ? list.length : over);
}

/** The key of the longest list. */
function listIn(result: Result): string | null {
  const keys = Object.keys(result).filter((key) => Array.isArray(result[key]));
  return keys.sort((a, b) => sizeOf(result[b]) - sizeOf(result[a]))[0] ?? null;
}

function listOf(result: Result, key: string): unknown[] {
  const list = result[key];
  return Array.isArray(list) ? list : [];
}

function lengthOf(result: Result, key: string): number {
  return listOf(result, key).length;
}

function cutTexts(value: unknown, maxChars: number): unknown {
  if (typeof value === "string")
    return value.length <= maxChars ? value : `${value.slice(0, maxChars).replace(/[\uD800-\uDBFF]$/, "")}…`;
  if (Array.isArray(value)) return value.map((item) => cutTexts(item, maxChars));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutTexts(item, maxChars)]));
}

function sizeOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0;
}

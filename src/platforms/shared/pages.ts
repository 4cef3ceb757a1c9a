/** One page of a list. */
export interface Page<T, C> {
  readonly items: readonly T[];
  /** What the next page is asked for with. Nothing, or "": this page is the last, or the last that matters. */
  readonly next?: C | null | undefined;
}

/**
 * The entries of a list, page after page, of `most` pages. `read` gets nothing for the first page, then what
 * the page before it gave as `next`. `tooMany` is called where more is left than was read.
 */
export async function* pages<T, C = string>(
  most: number,
  read: (from: C | undefined) => Promise<Page<T, C>>,
  tooMany?: () => void,
): AsyncGenerator<T, void> {
  let from: C | undefined;
  for (let page = 0; page < most; page += 1) {
    const { items, next } = await read(from);
    yield* items;
    if (next === undefined || next === null || next === "") return;
    from = next;
  }
  tooMany?.();
}

/** All entries in a list of ours. */
export async function collect<T>(entries: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const entry of entries) all.push(entry);
  return all;
}

/** The first entry that fits, without a look at the pages behind it; null: none does. */
export async function findFirst<T>(
  entries: AsyncIterable<T>,
  isIt: (entry: T) => boolean | Promise<boolean>,
): Promise<T | null> {
  for await (const entry of entries) if (await isIt(entry)) return entry;
  return null;
}

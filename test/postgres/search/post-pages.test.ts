import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseSearch } from "../../../src/domain/compare-words.ts";
import { TUNING } from "../../../src/store/postgres/search/two-ways.ts";
import { ONLY_INDEX, ONLY_SCANS, openSearchable, type Searchable } from "../../support/postgres-search.ts";
import { checkPages, editSome, fillStore } from "../../support/search-oracle.ts";

const TUNINGS = [
  ["by whichever way is cheaper", TUNING, 500],
  ["in small steps, by whichever way is cheaper", { ...TUNING, steps: ONLY_SCANS.steps }, 250],
  ["by scans alone, in steps of one and five", ONLY_SCANS, 250],
  ["by the index after one post", ONLY_INDEX, 500],
] as const;

describe("a page of PostgreSQL", () => {
  let store: Searchable;
  let posts: Awaited<ReturnType<typeof fillStore>>;

  beforeAll(async () => {
    store = await openSearchable();
    posts = await fillStore(store);
    await store.analyze();
  });
  afterAll(() => store[Symbol.asyncDispose]());

  it.each(TUNINGS)("shows what a plain scan finds, %s", { timeout: 120_000 }, async (_, tuning, numRuns) =>
    checkPages(store.createSearch(tuning), posts, { numRuns }),
  );

  it.each([
    ["after posts were reworded and moved", ONLY_SCANS],
    ["and so does the index", ONLY_INDEX],
  ])("finds the same %s", { timeout: 60_000 }, async (_, tuning) => {
    posts = await editSome(store, posts);
    await checkPages(store.createSearch(tuning), posts, { numRuns: 150 });
  });

  it("scans while nobody has counted the words", async () => {
    await using fresh = await openSearchable();
    const all = await fillStore(fresh);
    await checkPages(fresh.createSearch(), all, { numRuns: 50 });
    const filter = { accountIds: null, providers: null, statuses: null, from: null, to: null };
    const terms = parseSearch("nowhere");
    // Each look at the clock takes a minute: the page ends after its first step, and says where.
    let minutes = 0;
    const now = (): number => (minutes += 1) * 60_000;
    const page = { before: null, limit: 5, now };
    const { rows, next } = await fresh
      .createSearch({ ...ONLY_INDEX, steps: [7] })
      .page({ ...filter, ownerId: "default", terms }, page);
    expect(rows).toEqual([]);
    expect(next).not.toBeNull();
  });
});

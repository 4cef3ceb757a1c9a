import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { openStore } from "../../../src/store/open-store.ts";
import type { Store } from "../../../src/store/engine/store.ts";
import { scan, type KeyRange, type ScanPlan } from "../../../src/store/search/search-scan.ts";
import { momentOf } from "../../../src/store/search/sort-key.ts";
import { parseSearch } from "../../../src/store/search/search-text.ts";
import { addAccount, addPosts } from "../../support/post-rows.ts";
import { queryOf } from "../../support/handles.ts";

const COUNT = 3_000;
const EVERYTHING = { floor: 0n, ceiling: 2n ** 63n - 1n };

/** Every hundredth post has the words side by side, the others have them apart. */
async function createShelf(): Promise<Db> {
  const store = await openStore({ file: ":memory:" });
  await addAccount(store, { id: "acc_1" });
  const posts = Array.from({ length: COUNT }, (_, at) => ({
    id: `post_${at}`,
    caption: at % 100 === 0 ? "near-by" : "by the near-est",
    scheduledAt: Date.UTC(2026, 0, 1) + at * 60_000,
  }));
  await addPosts(store, posts);
  return store;
}

function planOf(search: string): ScanPlan {
  const newest = ({ floor, ceiling }: KeyRange, limit: number): ReturnType<typeof sql> =>
    sql`SELECT sort_key AS key, rowid AS row FROM posts WHERE sort_key >= ${floor} AND sort_key < ${ceiling} ORDER BY sort_key DESC LIMIT ${limit}`;
  return {
    terms: parseSearch(search),
    words: { needsCheck: true, lists: 1, clauses: 1, density: null, hits: newest },
    rarest: null,
    density: 0,
    rows: newest,
    isFitting: sql`TRUE`,
    isMember: () => sql`TRUE`,
  };
}

const minuteOf = (key: string): number => (momentOf(BigInt(key)) - Date.UTC(2026, 0, 1)) / 60_000;

describe("scan", () => {
  it("compares each row with the words and settles them in order", async () => {
    await using store = await createShelf();
    const { keys, stoppedAt } = await scan(store, planOf("near-by"), { ...EVERYTHING, wanted: 100 });
    expect(keys.map(minuteOf)).toEqual(Array.from({ length: 30 }, (_, at) => 2_900 - at * 100));
    expect(stoppedAt).toBeNull();
  });

  it("stops at the number wanted", async () => {
    await using store = await createShelf();
    const { keys, stoppedAt } = await scan(store, planOf("near-by"), { ...EVERYTHING, wanted: 3 });
    expect(keys.map(minuteOf)).toEqual([2_900, 2_800, 2_700]);
    expect(stoppedAt).toBeNull();
  });

  it("ends a page when its work is done, says where, and loses nothing on the way", async () => {
    await using store = await createShelf();
    const found: string[] = [];
    let ceiling: bigint | null = EVERYTHING.ceiling;
    let pages = 0;
    while (ceiling !== null) {
      const { keys, stoppedAt }: Awaited<ReturnType<typeof scan>> = await scan(store, planOf("near-by"), {
        floor: 0n,
        ceiling,
        wanted: 50,
        maxCost: 500,
      });
      found.push(...keys);
      ceiling = stoppedAt;
      pages += 1;
    }
    expect(pages).toBeGreaterThan(3);
    expect(found.map(minuteOf)).toEqual(Array.from({ length: 30 }, (_, at) => 2_900 - at * 100));
  });
});

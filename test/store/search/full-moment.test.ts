import { describe, expect, it } from "vitest";
import { openStore } from "../../../src/store/open-store.ts";
import type { PostFilter } from "../../../src/store/engine/search.ts";
import type { Store } from "../../../src/store/engine/store.ts";
import { parseSearch } from "../../../src/domain/compare-words.ts";
import { firstKeyAt, nextSortKey } from "../../../src/store/search/sort-key.ts";
import { transition } from "../../../src/store/tables/posts.ts";
import { addAccount, addPosts } from "../../support/post-rows.ts";
import { rawOf } from "../../support/handles.ts";

const NINE = Date.UTC(2026, 11, 1, 9);
const TIES = 65_536;

async function openAccounts(): Promise<Store> {
  const store = await openStore({ file: ":memory:" });
  await addAccount(store, { id: "acc_1" });
  await addAccount(store, { id: "acc_bob", ownerId: "bob" });
  return store;
}

/** Writes rows of bob's at one moment, with all of its keys; one of `gaps` is left free. */
async function fillMoment(store: Store, moment: number, gaps = 0): Promise<void> {
  await addPosts(store, [
    { id: `post_${moment}`, ownerId: "bob", accountId: "acc_bob", scheduledAt: moment },
  ]);
  // Not from a row: not every driver hands out a sort key as a number.
  const names = rawOf(store).prepare("SELECT name FROM pragma_table_info('posts')").all([]) as {
    name: string;
  }[];
  const columns = names.map(({ name }) => name).filter((name) => name !== "id" && name !== "sort_key");
  const sql = `
    WITH RECURSIVE ties (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM ties WHERE n < ${TIES - 1})
    INSERT INTO posts (id, sort_key, ${columns.join(", ")})
    SELECT id || '_' || n, sort_key + n, ${columns.join(", ")} FROM posts CROSS JOIN ties
    WHERE posts.id = ? AND (n = ${TIES - 1} OR n >= ?)`;
  rawOf(store)
    .prepare(sql)
    .run([`post_${moment}`, gaps + 1]);
}

const ALL = { accountIds: null, providers: null, statuses: null, terms: [], from: null, to: null };

/** All ids of the filter, page by page. */
async function readAll(store: Store, filter: Partial<PostFilter>, limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (let before: bigint | null = null; ;) {
    const wish = { before, limit, now: () => 0 };
    const page = await store.search.page({ ...ALL, ownerId: "default", ...filter }, wish);
    ids.push(...page.rows.map(({ id }) => id));
    if (page.next === null) return ids;
    before = page.next;
  }
}

describe("a moment that has no key left", () => {
  it(
    "takes every owner's posts all the same, and every filter finds them once",
    { timeout: 60_000 },
    async () => {
      await using store = await openAccounts();
      await fillMoment(store, NINE);
      await fillMoment(store, NINE + 1);
      const at = (id: string, scheduledAt: number) => ({ id, caption: `word ${id}`, scheduledAt });
      await addPosts(store, [
        at("before", NINE - 1),
        at("nine_1", NINE),
        at("nine_2", NINE),
        at("one_later", NINE + 1),
        at("two_later", NINE + 2),
        at("three_later", NINE + 3),
        at("nine_3", NINE),
      ]);
      const nine = ["nine_1", "nine_2", "nine_3"];
      for (const limit of [1, 2, 50]) {
        for (const terms of [[], parseSearch("word")]) {
          const find = async (from: number | null, to: number | null, more: Partial<PostFilter> = {}) =>
            (await readAll(store, { from, to, terms, ...more }, limit)).toSorted();
          const all = ["before", ...nine, "one_later", "three_later", "two_later"];
          expect(await find(null, null)).toEqual(all);
          expect(await find(NINE, NINE)).toEqual(nine);
          expect(await find(null, NINE)).toEqual(["before", ...nine]);
          expect(await find(NINE + 1, null)).toEqual(["one_later", "three_later", "two_later"]);
          expect(await find(NINE + 1, NINE + 2)).toEqual(["one_later", "two_later"]);
          expect(await find(NINE + 3, NINE + 3)).toEqual(["three_later"]);
          expect(await find(NINE, NINE, { accountIds: ["acc_1"], statuses: ["scheduled"] })).toEqual(nine);
          expect(await find(NINE, NINE, { providers: ["feed"] })).toEqual(nine);
        }
      }
      const bobs = await readAll(store, { ownerId: "bob", from: NINE, to: NINE }, 500);
      expect(new Set(bobs).size).toBe(TIES);
      expect(bobs).toHaveLength(TIES);
    },
  );

  it("is not filled by posts that go to and fro", { timeout: 60_000 }, async () => {
    await using store = await openAccounts();
    await addPosts(
      store,
      ["a", "b"].map((id) => ({ id, scheduledAt: NINE })),
    );
    const raw = rawOf(store);
    const move = raw.prepare("UPDATE posts SET scheduled_at = ?, sort_key = ? WHERE id = ?");
    await store.write(async (tx) => {
      for (let turn = 0; turn < 150_000; turn += 1) {
        // One leaves and comes back while the other is there.
        const moment = NINE + (turn & 1 ? 0 : 60_000);
        move.run([moment, await nextSortKey(tx, moment), turn & 2 ? "a" : "b"]);
      }
    });
    const { count } = raw
      .prepare("SELECT COUNT(*) AS count FROM posts WHERE sort_key >> 16 <> scheduled_at")
      .get([]) as { count: number };
    expect(count).toBe(0);
    expect((await readAll(store, { from: NINE, to: NINE + 60_000 }, 1)).toSorted()).toEqual(["a", "b"]);
  });

  it("gives the numbers of its gaps away", async () => {
    await using store = await openAccounts();
    // Gaps are looked for at random: these are so many that a few looks find one.
    await fillMoment(store, NINE, TIES - TIES / 64);
    await addPosts(store, [{ id: "nine", scheduledAt: NINE }]);
    const key = rawOf(store)
      .prepare("SELECT CAST(sort_key AS TEXT) AS key FROM posts WHERE id = 'nine'")
      .get([]);
    expect(BigInt((key as { key: string }).key)).toBeLessThan(firstKeyAt(NINE + 1));
  });

  it("keeps a displaced post where it is when its text is changed, and lets it go elsewhere", async () => {
    await using store = await openAccounts();
    await fillMoment(store, NINE);
    await addPosts(store, [{ id: "nine", caption: "old", scheduledAt: NINE }]);
    const edit = (scheduledAt: number, caption: string): Promise<unknown> =>
      store.write((tx) =>
        transition(tx, { ownerId: "default", id: "nine" }, "edit", {
          scheduled_at: scheduledAt,
          due_at: scheduledAt,
          caption,
          updated_at: 1,
        }),
      );
    const find = (words: string, moment: number): Promise<string[]> =>
      readAll(store, { terms: parseSearch(words), from: moment, to: moment }, 5);
    await edit(NINE, "changed");
    expect(await find("changed", NINE)).toEqual(["nine"]);
    expect(await find("old", NINE)).toEqual([]);
    await edit(NINE + 1, "moved");
    expect(await find("moved", NINE + 1)).toEqual(["nine"]);
    expect(await find("moved", NINE)).toEqual([]);
    await edit(NINE, "back");
    expect(await find("back", NINE)).toEqual(["nine"]);
  });
});

import { describe, expect, it } from "vitest";
import { parseSearch } from "../../../src/domain/compare-words.ts";
import { change, rowsOf } from "../../../src/store/engine/statements.ts";
import { indexOf } from "../../../src/store/engine/handle.ts";
import { nextSortKey } from "../../../src/store/search/sort-key.ts";
import { transition } from "../../../src/store/tables/posts.ts";
import { addAccount, addPosts } from "../../support/post-rows.ts";
import { ONLY_INDEX, ONLY_SCANS, openSearchable, type Searchable } from "../../support/postgres-search.ts";

const ALL = { ownerId: "default", accountIds: null, providers: null, statuses: null, from: null, to: null };
const NINE = Date.UTC(2026, 11, 1, 9);

async function openAccount(): Promise<Searchable> {
  const store = await openSearchable();
  await addAccount(store, { id: "acc_1" });
  return store;
}

/** The ids of one page, which both ways must give. */
async function find(store: Searchable, search: string): Promise<string[]> {
  await store.analyze();
  const ways = [ONLY_SCANS, ONLY_INDEX].map(async (tuning) => {
    const page = { before: null, limit: 50, now: () => 0 };
    const { rows } = await store.createSearch(tuning).page({ ...ALL, terms: parseSearch(search) }, page);
    return rows.map(({ id }) => id);
  });
  const [scanned = [], indexed] = await Promise.all(ways);
  expect(indexed).toEqual(scanned);
  return scanned;
}

/** Fillers, so that the searched post is not among those that the first step shows. */
async function addBelow(store: Searchable, posts: readonly { id: string; caption: string }[]): Promise<void> {
  await addPosts(
    store,
    posts.map((post, at) => ({ ...post, scheduledAt: NINE + at })),
  );
  await addPosts(
    store,
    Array.from({ length: 30 }, (_, at) => ({
      id: `filler_${at}`,
      caption: "quite other words",
      scheduledAt: NINE + 1_000 + at,
    })),
  );
}

describe("the words of posts on PostgreSQL", () => {
  it("are found by the beginning of each, newest first", async () => {
    await using store = await openAccount();
    await addBelow(store, [
      { id: "one", caption: "Summer launch" },
      { id: "two", caption: "Launching in summer" },
    ]);
    expect(await find(store, "laun SUM")).toEqual(["two", "one"]);
    expect(await find(store, "aunch")).toEqual([]);
    expect(await find(store, "launchi")).toEqual(["two"]);
  });

  it("are those of the post as it is now, and none of a transaction that failed", async () => {
    await using store = await openAccount();
    await addBelow(store, [{ id: "one", caption: "Summer launch" }]);
    const edit = (caption: string, scheduledAt: number): Promise<unknown> =>
      store.write((tx) =>
        transition(tx, { ownerId: "default", id: "one" }, "edit", {
          ...{ caption, scheduled_at: scheduledAt, due_at: scheduledAt, updated_at: 1 },
        }),
      );
    await edit("Winter launch", NINE);
    expect(await find(store, "summer")).toEqual([]);
    await edit("Winter pause", NINE + 500);
    expect(await find(store, "winter pause")).toEqual(["one"]);
    const failing = store.write(async (tx) => {
      await indexOf(tx).put(tx, { ownerId: "default", sortKey: 1n, caption: "gone", metadata: null });
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    const rows = await rowsOf(store, "SELECT sort_key FROM post_search WHERE strpos(marked, 'gone') > 0", []);
    expect(rows).toEqual([]);
  });

  it.each([
    '"',
    "'",
    "''",
    "a'b:*",
    "a & b",
    "!a",
    "(a)",
    "a <-> b",
    "a:A",
    "a*",
    "\\",
    "\\'",
    "\ue001a",
    "\ue001abc",
    "\ud800",
    "%",
    "_",
    "?",
    "$1",
  ])("take %j literally", async (text) => {
    await using store = await openAccount();
    await addBelow(store, [{ id: "one", caption: `before ${text} after` }]);
    expect(await find(store, text)).toEqual(["one"]);
  });

  it("may be searched for with a NUL, which no text there has", async () => {
    await using store = await openAccount();
    await addBelow(store, [{ id: "one", caption: "before a after" }]);
    expect(await find(store, "a\0b")).toEqual([]);
  });

  it("may be as many, as long and as different as a post takes", { timeout: 60_000 }, async () => {
    await using store = await openAccount();
    const han = Array.from({ length: 100_000 }, (_, at) =>
      String.fromCodePoint(0x4e00 + ((at * 7_919 + Math.floor(at / 20_000) * 31) % 20_000)),
    ).join("");
    const words = Array.from({ length: 14_000 }, (_, at) => `w${at}`).join(" ");
    await addBelow(store, [
      { id: "han", caption: han },
      { id: "words", caption: `${words} ${"z".repeat(10_000)}` },
    ]);
    expect(await find(store, han.slice(-12))).toEqual(["han"]);
    expect(await find(store, han.slice(50_000, 50_400))).toEqual(["han"]);
    expect(await find(store, "w13999")).toEqual(["words"]);
    expect(await find(store, "z".repeat(50))).toEqual(["words"]);
    expect(await find(store, `${"z".repeat(50)}y`)).toEqual([]);
  });

  it("are none of what an unknown number of rare words begins with, where these are many", async () => {
    await using store = await openAccount();
    const captions = Array.from({ length: 300 }, (_, at) => `order${at}x`);
    await addBelow(
      store,
      captions.map((caption, at) => ({ id: `post_${at}`, caption })),
    );
    expect(await find(store, "order29")).toHaveLength(11);
    expect(await find(store, "order")).toHaveLength(50);
  });
});

describe("sort keys on PostgreSQL", () => {
  it("are unique where four write into one millisecond at once", { timeout: 60_000 }, async () => {
    await using store = await openAccount();
    const write = async (writer: number): Promise<void> => {
      for (let at = 0; at < 25; at += 1)
        await addPosts(store, [{ id: `post_${writer}_${at}`, caption: "wanted", scheduledAt: NINE }]);
    };
    await Promise.all([0, 1, 2, 3].map(write));
    const rows = await rowsOf<{ key: string }>(store, "SELECT sort_key::text AS key FROM posts", []);
    const keys = rows.map(({ key }) => BigInt(key)).sort((a, b) => (a < b ? -1 : 1));
    expect(keys).toEqual(Array.from({ length: 100 }, (_, at) => (BigInt(NINE) << 16n) + BigInt(at)));
    expect(new Set(await find(store, "wanted")).size).toBe(50);
  });

  it(
    "of a full millisecond are those of a later one, and their posts are found at their time",
    { timeout: 60_000 },
    async () => {
      await using store = await openAccount();
      await addAccount(store, { id: "acc_bob", ownerId: "bob" });
      await addPosts(store, [{ id: "first", ownerId: "bob", accountId: "acc_bob", scheduledAt: NINE }]);
      // Its other keys, taken by one statement.
      const columns = (
        await rowsOf<{ name: string }>(
          store,
          "SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'posts'",
          [],
        )
      )
        .map(({ name }) => name)
        .filter((name) => name !== "id" && name !== "sort_key")
        .join(", ");
      await store.write((tx) =>
        change(
          tx,
          `INSERT INTO posts (id, sort_key, ${columns})
        SELECT id || n, sort_key + n, ${columns} FROM posts, generate_series(1, 65535) AS ties (n)`,
          [],
        ),
      );
      const key = await store.write((tx) => nextSortKey(tx, NINE));
      expect(key >> 16n).toBe(BigInt(NINE + 1));
      await addPosts(store, [
        { id: "nine", caption: "displaced words", scheduledAt: NINE },
        { id: "later", caption: "displaced words", scheduledAt: NINE + 1 },
      ]);
      await store.analyze();
      const page = { before: null, limit: 3, now: () => 0 };
      for (const tuning of [ONLY_SCANS, ONLY_INDEX]) {
        const search = store.createSearch(tuning);
        const at = async (from: number, to: number): Promise<string[]> => {
          const filter = { ...ALL, terms: parseSearch("displaced"), from, to };
          const found = await search.page(filter, page);
          return found.rows.map(({ id }) => id);
        };
        expect(await at(NINE, NINE)).toEqual(["nine"]);
        expect(await at(NINE + 1, NINE + 1)).toEqual(["later"]);
        expect(await at(NINE, NINE + 1)).toEqual(["later", "nine"]);
      }
      const plain = await store.createSearch().page({ ...ALL, terms: [], from: NINE, to: NINE }, page);
      expect(plain.rows.map(({ id }) => id)).toEqual(["nine"]);
    },
  );
});

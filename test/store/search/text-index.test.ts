import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { openStore } from "../../../src/store/open-store.ts";
import type { IndexedPost, Store } from "../../../src/store/engine/store.ts";
import { compileSearch, textIndex } from "../../../src/store/search/text-index.ts";
import { parseSearch } from "../../../src/domain/compare-words.ts";
import { queryOf } from "../../support/handles.ts";

const KEY = 1_846_837_473_280_000_000n;

const postOf = (sortKey: bigint, caption: string): IndexedPost => ({
  sortKey,
  ownerId: "default",
  caption,
  metadata: null,
});

async function put(store: Store, at: number, caption: string): Promise<void> {
  await store.write(async (tx) => textIndex.put(tx, postOf(KEY + BigInt(at), caption)));
}

async function match(store: Store, expression: string): Promise<number[]> {
  const { rows } = await sql<{ key: string }>`
    SELECT CAST(rowid AS TEXT) AS key FROM search_index WHERE search_index MATCH ${expression} ORDER BY rowid DESC`.execute(
    queryOf(store),
  );
  return rows.map(({ key }) => Number(BigInt(key) - KEY));
}

async function find(store: Store, search: string): Promise<number[]> {
  const compiled = await compileSearch(queryOf(store), parseSearch(search));
  return compiled === null ? [] : match(store, compiled.match);
}

/** Two-letter words in a fixed order without repetition: aa ba ca … */
const wordAt = (at: number): string =>
  `q${String.fromCharCode(97 + (at % 26))}${String.fromCharCode(97 + (Math.floor(at / 26) % 26))}`;

describe("search index", () => {
  it("finds a post by the beginning of each of its words, newest first, until it is taken out", async () => {
    await using store = await openStore({ file: ":memory:" });
    await put(store, 1, "Summer launch");
    await put(store, 2, "Launching in summer");
    expect(await find(store, "laun SUM")).toEqual([2, 1]);
    await store.write(async (tx) => textIndex.remove(tx, KEY + 2n));
    expect(await find(store, "laun")).toEqual([1]);
    await put(store, 2, "Something else");
    expect(await find(store, "laun")).toEqual([1]);
    expect(await find(store, "some")).toEqual([2]);
  });

  it("finds by any prefix however many words share it, and lists few of them", async () => {
    await using store = await openStore({ file: ":memory:" });
    for (let at = 0; at < 600; at += 1) await put(store, at, `${wordAt(at)}tail`);
    const all = Array.from({ length: 600 }, (_, at) => 599 - at);
    expect(await find(store, "q")).toEqual(all);
    const compiled = await compileSearch(queryOf(store), parseSearch("q"));
    expect(compiled?.needsCheck).toBe(false);
    expect(compiled?.match.split(" OR ").length).toBeLessThan(60);
    for (const at of [0, 47, 48, 300, 599]) expect(await find(store, wordAt(at))).toEqual([at]);
  });

  it("keeps a prefix short that one long post fills alone", async () => {
    await using store = await openStore({ file: ":memory:" });
    await put(store, 1, Array.from({ length: 600 }, (_, at) => `${wordAt(at)}tail`).join(" "));
    const compiled = await compileSearch(queryOf(store), parseSearch("q"));
    expect(compiled?.match.split(" OR ").length).toBeLessThan(80);
    expect(await find(store, "q")).toEqual([1]);
    expect(await find(store, wordAt(599))).toEqual([1]);
  });

  it("asks for a comparison where a prefix is longer than what the index tells apart", async () => {
    await using store = await openStore({ file: ":memory:" });
    for (let at = 0; at < 200; at += 1) await put(store, at, `order0000000${String(at).padStart(3, "0")}`);
    expect((await compileSearch(queryOf(store), parseSearch("order0000000")))?.needsCheck).toBe(false);
    expect(await find(store, "order0000000")).toHaveLength(200);
    expect((await compileSearch(queryOf(store), parseSearch("order00000001")))?.needsCheck).toBe(true);
    expect(await find(store, "order00000001")).toEqual(
      expect.arrayContaining(Array.from({ length: 100 }, (_, at) => 100 + at)),
    );
    expect(await find(store, "order0000000150")).toContain(150);
  });

  it("forgets what a transaction that failed had learned", async () => {
    await using store = await openStore({ file: ":memory:" });
    const failing = store.write(async (tx) => {
      await textIndex.put(tx, postOf(KEY, "gone"));
      throw new Error("no");
    });
    const stays = Promise.all([put(store, 2, "stays"), put(store, 3, "stays too")]);
    await expect(failing).rejects.toThrow("no");
    await stays;
    expect(await find(store, "gone")).toEqual([]);
    expect(await find(store, "stays")).toEqual([3, 2]);
    await put(store, 1, "gone again");
    expect(await find(store, "gone")).toEqual([1]);
  });

  it("remembers no word of a transaction that was taken back, however often it came there", async () => {
    await using store = await openStore({ file: ":memory:" });
    const failing = store.write(async (tx) => {
      for (const at of [0n, 1n, 2n]) await textIndex.put(tx, postOf(KEY + at, "goneness"));
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    for (const at of [1, 2, 3]) await put(store, at, "goneness again");
    expect(await find(store, "gone")).toEqual([3, 2, 1]);
  });

  it.each([
    '"',
    "'",
    "a OR b",
    "NEAR(a b)",
    "tokens:x",
    "-a",
    "^a",
    "a*",
    "{a}",
    "\u0000",
    "\ue000a",
    "\ue002default",
    "\ud800",
    "%",
    "_",
    "\\",
  ])("takes %j literally", async (text) => {
    await using store = await openStore({ file: ":memory:" });
    await put(store, 1, `before ${text} after`);
    await put(store, 2, "quite other words");
    expect(await find(store, text)).toEqual([1]);
  });

  it("takes in a caption of the longest kind", async () => {
    await using store = await openStore({ file: ":memory:" });
    const long = Array.from({ length: 9_000 }, (_, at) => `w${at}`).join(" ");
    await put(store, 1, `${long} ${"z".repeat(70_000)}`);
    expect(await find(store, "w8999")).toEqual([1]);
    expect(await find(store, "z".repeat(50))).toEqual([1]);
  });
});

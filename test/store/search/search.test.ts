import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { openDb, type Db } from "../../../src/store/engine/db.ts";
import { compileSearch, indexPost, unindexPost } from "../../../src/store/search/search.ts";
import { parseSearch } from "../../../src/store/search/search-text.ts";

const KEY = 1_846_837_473_280_000_000n;

async function put(db: Db, at: number, caption: string): Promise<void> {
  await db.transaction(async (tx) => indexPost(tx, { sortKey: KEY + BigInt(at), caption, metadata: null }));
}

async function match(db: Db, expression: string): Promise<number[]> {
  const { rows } = await sql<{ key: string }>`
    SELECT CAST(rowid AS TEXT) AS key FROM search_index WHERE search_index MATCH ${expression} ORDER BY rowid DESC`.execute(
    db.query,
  );
  return rows.map(({ key }) => Number(BigInt(key) - KEY));
}

async function find(db: Db, search: string): Promise<number[]> {
  const compiled = await compileSearch(db.query, parseSearch(search));
  return compiled === null ? [] : match(db, compiled.match);
}

/** Two-letter words in a fixed order without repetition: aa ba ca … */
const wordAt = (at: number): string =>
  `q${String.fromCharCode(97 + (at % 26))}${String.fromCharCode(97 + (Math.floor(at / 26) % 26))}`;

describe("search index", () => {
  it("finds a post by the beginning of each of its words, newest first, until it is taken out", async () => {
    await using db = await openDb({ file: ":memory:" });
    await put(db, 1, "Summer launch");
    await put(db, 2, "Launching in summer");
    expect(await find(db, "laun SUM")).toEqual([2, 1]);
    await db.transaction(async (tx) => unindexPost(tx, KEY + 2n));
    expect(await find(db, "laun")).toEqual([1]);
    await put(db, 2, "Something else");
    expect(await find(db, "laun")).toEqual([1]);
    expect(await find(db, "some")).toEqual([2]);
  });

  it("finds by any prefix however many words share it, and lists few of them", async () => {
    await using db = await openDb({ file: ":memory:" });
    for (let at = 0; at < 600; at += 1) await put(db, at, `${wordAt(at)}tail`);
    const all = Array.from({ length: 600 }, (_, at) => 599 - at);
    expect(await find(db, "q")).toEqual(all);
    const compiled = await compileSearch(db.query, parseSearch("q"));
    expect(compiled?.needsCheck).toBe(false);
    expect(compiled?.match.split(" OR ").length).toBeLessThan(60);
    for (const at of [0, 47, 48, 300, 599]) expect(await find(db, wordAt(at))).toEqual([at]);
  });

  it("keeps a prefix short that one long post fills alone", async () => {
    await using db = await openDb({ file: ":memory:" });
    await put(db, 1, Array.from({ length: 600 }, (_, at) => `${wordAt(at)}tail`).join(" "));
    const compiled = await compileSearch(db.query, parseSearch("q"));
    expect(compiled?.match.split(" OR ").length).toBeLessThan(80);
    expect(await find(db, "q")).toEqual([1]);
    expect(await find(db, wordAt(599))).toEqual([1]);
  });

  it("asks for a comparison where a prefix is longer than what the index tells apart", async () => {
    await using db = await openDb({ file: ":memory:" });
    for (let at = 0; at < 200; at += 1) await put(db, at, `order0000000${String(at).padStart(3, "0")}`);
    expect((await compileSearch(db.query, parseSearch("order0000000")))?.needsCheck).toBe(false);
    expect(await find(db, "order0000000")).toHaveLength(200);
    expect((await compileSearch(db.query, parseSearch("order00000001")))?.needsCheck).toBe(true);
    expect(await find(db, "order00000001")).toEqual(
      expect.arrayContaining(Array.from({ length: 100 }, (_, at) => 100 + at)),
    );
    expect(await find(db, "order0000000150")).toContain(150);
  });

  it("forgets what a transaction that failed had learned", async () => {
    await using db = await openDb({ file: ":memory:" });
    const failing = db.transaction(async (tx) => {
      indexPost(tx, { sortKey: KEY, caption: "gone", metadata: null });
      throw new Error("no");
    });
    const stays = Promise.all([put(db, 2, "stays"), put(db, 3, "stays too")]);
    await expect(failing).rejects.toThrow("no");
    await stays;
    expect(await find(db, "gone")).toEqual([]);
    expect(await find(db, "stays")).toEqual([3, 2]);
    await put(db, 1, "gone again");
    expect(await find(db, "gone")).toEqual([1]);
  });

  it("remembers no word of a transaction that was taken back, however often it came there", async () => {
    await using db = await openDb({ file: ":memory:" });
    const failing = db.transaction(async (tx) => {
      for (const at of [0n, 1n, 2n])
        indexPost(tx, { sortKey: KEY + at, caption: "goneness", metadata: null });
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    for (const at of [1, 2, 3]) await put(db, at, "goneness again");
    expect(await find(db, "gone")).toEqual([3, 2, 1]);
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
    await using db = await openDb({ file: ":memory:" });
    await put(db, 1, `before ${text} after`);
    await put(db, 2, "quite other words");
    expect(await find(db, text)).toEqual([1]);
  });

  it("takes in a caption of the longest kind", async () => {
    await using db = await openDb({ file: ":memory:" });
    const long = Array.from({ length: 9_000 }, (_, at) => `w${at}`).join(" ");
    await put(db, 1, `${long} ${"z".repeat(70_000)}`);
    expect(await find(db, "w8999")).toEqual([1]);
    expect(await find(db, "z".repeat(50))).toEqual([1]);
  });
});

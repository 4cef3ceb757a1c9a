import { describe, expect, it } from "vitest";
import { openDb, type Db } from "../../../src/store/engine/db.ts";
import { beforeCommit, rawOf } from "../../../src/store/engine/group-transactions.ts";

const put = (db: Db, key: string, then: () => void = () => {}): Promise<string> =>
  db.transaction(async (tx) => {
    await tx.insertInto("meta").values({ key, value: "1" }).execute();
    then();
    return key;
  });

const keys = async (db: Db): Promise<string[]> =>
  (await db.query.selectFrom("meta").select("key").orderBy("key").execute()).map(({ key }) => key);

describe("transactions that come together", () => {
  it("are written at once, each for itself", async () => {
    await using db = await openDb({ file: ":memory:" });
    const refuse = (): void => {
      throw new Error("refused");
    };
    const ends = await Promise.allSettled([put(db, "a"), put(db, "bad", refuse), put(db, "b"), put(db, "a")]);
    expect(ends.map((end) => end.status)).toEqual(["fulfilled", "rejected", "fulfilled", "rejected"]);
    expect(await keys(db)).toEqual(["a", "b"]);
  });

  it("see each other's writes in the order in which they came", async () => {
    await using db = await openDb({ file: ":memory:" });
    const seen: number[] = [];
    const count = (key: string): Promise<void> =>
      db.transaction(async (tx) => {
        seen.push((await tx.selectFrom("meta").select("key").execute()).length);
        await tx.insertInto("meta").values({ key, value: "1" }).execute();
      });
    await Promise.all(Array.from({ length: 70 }, (_, at) => count(`key ${at}`)));
    expect(seen).toEqual(Array.from({ length: 70 }, (_, at) => at));
  });

  it("run once more, each by itself, when one of them throws", async () => {
    await using db = await openDb({ file: ":memory:" });
    const runs: string[] = [];
    const refuse = (): void => {
      throw new Error("refused");
    };
    const ends = await Promise.allSettled([
      put(db, "a", () => runs.push("a")),
      put(db, "bad", refuse),
      put(db, "b", () => runs.push("b")),
    ]);
    expect(ends.map((end) => end.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(runs).toEqual(["a", "a", "b"]);
    await expect(put(db, "c", refuse)).rejects.toThrow("refused");
    expect(await keys(db)).toEqual(["a", "b"]);
  });

  it("do their late work before the end, in order; where it throws, it takes back only its own", async () => {
    await using db = await openDb({ file: ":memory:" });
    const done: string[] = [];
    const work = (key: string, late: () => void): Promise<void> =>
      db.transaction(async (tx) => {
        const raw = rawOf(tx);
        beforeCommit(tx, () => {
          raw.prepare("INSERT INTO meta (key, value) VALUES (?, '1')").run([`${key} late`]);
          late();
        });
        await tx.insertInto("meta").values({ key, value: "1" }).execute();
        done.push(key);
      });
    await Promise.all([work("a", () => done.push("a late")), work("b", () => done.push("b late"))]);
    expect(done).toEqual(["a", "b", "a late", "b late"]);
    const refuse = (): void => {
      throw new Error("refused");
    };
    const ends = await Promise.allSettled([work("c", () => {}), work("d", refuse), work("e", () => {})]);
    expect(ends.map((end) => end.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await keys(db)).toEqual(["a", "a late", "b", "b late", "c", "c late", "e", "e late"]);
    expect(() => rawOf({})).toThrow("was not begun");
  });

  it("are all told when the disk is full, and none is half written", async () => {
    await using db = await openDb({ file: ":memory:" });
    const pages = (db.raw.prepare("PRAGMA page_count").get([]) as { page_count: number }).page_count;
    db.raw.exec(`PRAGMA max_page_count = ${pages}`);
    const long = (key: string): Promise<unknown> =>
      db.transaction((tx) =>
        tx
          .insertInto("meta")
          .values({ key, value: "x".repeat(100_000) })
          .execute(),
      );
    const ends = await Promise.allSettled(["a", "b"].map(long));
    expect(ends.map((end) => (end.status === "rejected" ? String(end.reason) : end.status))).toEqual([
      expect.stringContaining("The disk of the data folder is full."),
      expect.stringContaining("The disk of the data folder is full."),
    ]);
    expect(await keys(db)).toEqual([]);
    db.raw.exec(`PRAGMA max_page_count = ${pages + 1_000}`);
    expect(await put(db, "c")).toBe("c");
  });
});

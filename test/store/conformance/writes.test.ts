import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AppError } from "../../../src/domain/errors.ts";
import { withoutNul } from "../../../src/domain/whole-text.ts";
import type { Store } from "../../../src/store/engine/store.ts";
import { rowsFrom } from "../../../src/store/engine/statements.ts";
import { insertMeta, readMeta, setMeta } from "../../../src/store/queries/meta.ts";
import { gate } from "../../support/gate.ts";
import { queryOf, rowsOf } from "../../support/handles.ts";
import { openPlace, type Place } from "./place.ts";

let place: Place;
let store: Store;
let other: Store;

beforeEach(async () => {
  place = await openPlace();
  [store, other] = await Promise.all([place.open(), place.open()]);
});
afterEach(async () => {
  await Promise.all([store, other].map((one) => one[Symbol.asyncDispose]()));
  await place[Symbol.asyncDispose]();
});

/** Of rows that a test added. */
async function keys(from: Store): Promise<string[]> {
  const query = queryOf(from).selectFrom("meta").select("key").where("key", "like", "key %").orderBy("key");
  return (await query.execute()).map(({ key }) => key);
}

const put = (to: Store, key: string, then: () => void = () => {}): Promise<void> =>
  to.write(async (tx) => {
    await queryOf(tx).insertInto("meta").values({ key, value: "1" }).execute();
    then();
  });

const refuse = (): never => {
  throw new AppError("conflict", "No.");
};

describe("a write", () => {
  it("sees what it wrote, and takes back what it throws", async () => {
    const seen = await store.write(async (tx) => {
      await insertMeta(tx, "key kept", "1");
      return await readMeta(tx, "key kept");
    });
    expect(seen).toBe("1");
    await expect(put(store, "key thrown", refuse)).rejects.toMatchObject({
      kind: "conflict",
      message: "No.",
    });
    expect(await keys(store)).toEqual(["key kept"]);
    expect(await keys(other)).toEqual(["key kept"]);
    expect(store.writeTrouble()).toBeNull();
  });

  it("stands or falls by itself, beside others that come together with it", async () => {
    await put(store, "key a");
    const ends = await Promise.allSettled([
      put(store, "key b"),
      put(store, "key c", refuse),
      put(store, "key d"),
      put(store, "key a"),
      put(other, "key e"),
    ]);
    expect(ends.map(({ status }) => status === "fulfilled")).toEqual([true, false, true, false, true]);
    expect(await keys(store)).toEqual(["key a", "key b", "key d", "key e"]);
  });

  it("is seen by nobody before it stands", async () => {
    const [isWritten, goOn] = [gate(), gate()];
    const writing = other.write(async (tx) => {
      await insertMeta(tx, "key late", "1");
      isWritten.open();
      await goOn.opened;
    });
    await isWritten.opened;
    expect(await keys(store)).toEqual([]);
    goOn.open();
    await writing;
    expect(await keys(store)).toEqual(["key late"]);
  });

  it("takes turns with others at what they share, and nothing is lost", async () => {
    await store.write((tx) => setMeta(tx, "key sum", "0"));
    const add = (to: Store): Promise<unknown> =>
      to.write((tx) =>
        sql`UPDATE meta SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE key = 'key sum'`.execute(
          queryOf(tx),
        ),
      );
    await Promise.all(Array.from({ length: 100 }, (_, n) => add(n % 2 === 0 ? store : other)));
    expect(await readMeta(store, "key sum")).toBe("100");
  });

  it("waits for the lock of another process", async () => {
    const [isHeld, goOn] = [gate(), gate()];
    const holding = other.write(async (tx) => {
      await setMeta(tx, "key held", "first");
      isHeld.open();
      await goOn.opened;
    });
    await isHeld.opened;
    let isOver = false;
    const waiting = store.write((tx) => setMeta(tx, "key held", "second")).finally(() => (isOver = true));
    await pause(500);
    expect(isOver).toBe(false);
    expect(await readMeta(store, "key held")).toBeNull();
    goOn.open();
    await Promise.all([holding, waiting]);
    expect(await readMeta(store, "key held")).toBe("second");
    expect(store.writeTrouble()).toBeNull();
  });
});

describe("values", () => {
  it("are read as they were written, whatever they are", async () => {
    const texts = ["", "'", '"', "a\\b", "{}", "null", "zürich", "東京", "🎉", "a,b", "%_"];
    await store.write(async (tx) => {
      for (const [n, value] of texts.entries()) await setMeta(tx, `key ${n}`, value);
    });
    for (const [n, value] of texts.entries()) expect(await readMeta(other, `key ${n}`)).toBe(value);
    const listed = await rowsOf<{ value: string }>(
      store,
      sql`SELECT one.value FROM ${rowsFrom(store, texts)}`,
    );
    expect(listed.map(({ value }) => value).toSorted()).toEqual(texts.toSorted());
    expect(await rowsOf(store, sql`SELECT one.value FROM ${rowsFrom(store, [])}`)).toEqual([]);
  });

  it("are numbers of milliseconds and bytes where they are counted, too", async () => {
    const rows = await rowsOf(
      store,
      sql`SELECT count(*) AS n, CAST(1796000000000 AS BIGINT) AS at FROM posts`,
    );
    expect(rows).toEqual([{ n: 0, at: 1_796_000_000_000 }]);
    expect(await queryOf(store).selectFrom("posts").select("id").where("id", "in", []).execute()).toEqual([]);
  });

  it("are numbers where they are summed up, averaged and rounded", async () => {
    const rows = await rowsOf(
      store,
      sql`SELECT sum(n) AS total, avg(n) AS mean, CAST(0.25 AS NUMERIC) AS share
        FROM (SELECT CAST(2 AS BIGINT) AS n UNION ALL SELECT 3) AS given`,
    );
    expect(rows).toEqual([{ total: 5, mean: 2.5, share: 0.25 }]);
  });

  it("may have NUL, at which no text ends and nothing fails", async () => {
    const given = "a\0b";
    await store.write((tx) => setMeta(tx, "key nul", given));
    expect([given, withoutNul(given)]).toContain(await readMeta(other, "key nul"));
    const found = queryOf(store).selectFrom("meta").select("key").where("value", "in", [given]);
    expect(await found.execute()).toEqual([{ key: "key nul" }]);
  });

  it("are ordered byte by byte", async () => {
    const names = ["key a", "key B", "key Ä", "key ä", "key _", "key Z", "key 東"];
    for (const name of names) await put(store, name);
    const byBytes = names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(await keys(store)).toEqual(byBytes);
  });
});

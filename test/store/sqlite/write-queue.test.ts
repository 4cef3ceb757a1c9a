import { describe, expect, it } from "vitest";
import { openStore } from "../../../src/store/open-store.ts";
import type { Store } from "../../../src/store/engine/store.ts";
import { queryOf, rawOf } from "../../support/handles.ts";

const put = (store: Store, key: string, then: () => void = () => {}): Promise<string> =>
  store.write(async (tx) => {
    await queryOf(tx).insertInto("meta").values({ key, value: "1" }).execute();
    then();
    return key;
  });

const keys = async (store: Store): Promise<string[]> =>
  (await queryOf(store).selectFrom("meta").select("key").orderBy("key").execute()).map(({ key }) => key);

describe("writes that come together", () => {
  it("see each other's writes in the order in which they came", async () => {
    await using store = await openStore({ file: ":memory:" });
    const seen: number[] = [];
    const count = (key: string): Promise<void> =>
      store.write(async (tx) => {
        seen.push((await queryOf(tx).selectFrom("meta").select("key").execute()).length);
        await queryOf(tx).insertInto("meta").values({ key, value: "1" }).execute();
      });
    await Promise.all(Array.from({ length: 70 }, (_, at) => count(`key ${at}`)));
    expect(seen).toEqual(Array.from({ length: 70 }, (_, at) => at));
  });

  it("run once more, each by itself, when one of them throws", async () => {
    await using store = await openStore({ file: ":memory:" });
    const runs: string[] = [];
    const refuse = (): void => {
      throw new Error("refused");
    };
    const ends = await Promise.allSettled([
      put(store, "a", () => runs.push("a")),
      put(store, "bad", refuse),
      put(store, "b", () => runs.push("b")),
    ]);
    expect(ends.map((end) => end.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(runs).toEqual(["a", "a", "b"]);
    await expect(put(store, "c", refuse)).rejects.toThrow("refused");
    expect(await keys(store)).toEqual(["a", "b"]);
  });

  it("are all told when the disk is full, and none is half written", async () => {
    await using store = await openStore({ file: ":memory:" });
    const pages = (rawOf(store).prepare("PRAGMA page_count").get([]) as { page_count: number }).page_count;
    rawOf(store).exec(`PRAGMA max_page_count = ${pages}`);
    const long = (key: string): Promise<unknown> =>
      store.write((tx) =>
        queryOf(tx)
          .insertInto("meta")
          .values({ key, value: "x".repeat(100_000) })
          .execute(),
      );
    const ends = await Promise.allSettled(["a", "b"].map(long));
    expect(ends.map((end) => (end.status === "rejected" ? String(end.reason) : end.status))).toEqual([
      expect.stringContaining("The disk of the data folder is full."),
      expect.stringContaining("The disk of the data folder is full."),
    ]);
    expect(await keys(store)).toEqual([]);
    rawOf(store).exec(`PRAGMA max_page_count = ${pages + 1_000}`);
    expect(await put(store, "c")).toBe("c");
  });

  it("are not seen before they are all written, nor by whoever reads meanwhile", async () => {
    await using store = await openStore({ file: ":memory:" });
    const rolledBack = store.write(async (tx) => {
      await queryOf(tx).insertInto("meta").values({ key: "lost", value: "1" }).execute();
      await new Promise((resolve) => setImmediate(resolve));
      throw new Error("rolled back");
    });
    await new Promise((resolve) => setImmediate(resolve));
    const seen = keys(store);
    await expect(rolledBack).rejects.toThrow("rolled back");
    expect(await seen).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { openDb } from "../../../src/store/engine/db.ts";

describe("group commit", () => {
  it("writes what is wanted at once in one transaction, each piece for itself", async () => {
    await using db = await openDb({ file: ":memory:" });
    const put = (key: string): Promise<string> =>
      db.commit((raw) => {
        raw.prepare("INSERT INTO meta (key, value) VALUES (?, '1')").run([key]);
        if (key === "bad") throw new Error("refused");
        return key;
      });
    const ends = await Promise.allSettled(["a", "bad", "b", "a"].map(put));
    expect(ends.map((end) => end.status)).toEqual(["fulfilled", "rejected", "fulfilled", "rejected"]);
    expect(await db.query.selectFrom("meta").select("key").orderBy("key").execute()).toEqual([
      { key: "a" },
      { key: "b" },
    ]);
  });

  it("waits for a use case's transaction and never writes inside it", async () => {
    await using db = await openDb({ file: ":memory:" });
    const rolledBack = db.transaction(async (tx) => {
      await tx.insertInto("meta").values({ key: "lost", value: "1" }).execute();
      await new Promise((resolve) => setImmediate(resolve));
      throw new Error("rolled back");
    });
    const kept = db.commit((raw) =>
      raw.prepare("INSERT INTO meta (key, value) VALUES ('kept', '1')").run([]),
    );
    await expect(rolledBack).rejects.toThrow("rolled back");
    await kept;
    expect(await db.query.selectFrom("meta").select("key").execute()).toEqual([{ key: "kept" }]);
  });
});

import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDb } from "../../../src/store/engine/db.ts";

async function freshFile(): Promise<string> {
  return join(await mkdtemp(join(tmpdir(), "posthorn-db-")), "posthorn.db");
}

describe("openDb", () => {
  it("opens with the pragmas that crash safety rests on", async () => {
    await using db = await openDb({ file: await freshFile() });
    expect(db.raw.prepare("PRAGMA journal_mode").get([])).toEqual({ journal_mode: "wal" });
    expect(db.raw.prepare("PRAGMA synchronous").get([])).toEqual({ synchronous: 2 });
    expect(db.raw.prepare("PRAGMA foreign_keys").get([])).toEqual({ foreign_keys: 1 });
  });

  it("lets several openers of one new file migrate it once", async () => {
    const file = await freshFile();
    const all = await Promise.all([1, 2, 3].map(() => openDb({ file })));
    for (const db of all) await db[Symbol.asyncDispose]();
  });

  it("refuses a database of a newer version and leaves it alone", async () => {
    const file = await freshFile();
    {
      await using db = await openDb({ file });
      db.raw.exec("PRAGMA user_version = 999");
    }
    await expect(openDb({ file })).rejects.toThrow(/newer Posthorn \(schema 999/);
  });

  it("says in one sentence that a file is no database", async () => {
    const file = await freshFile();
    await writeFile(
      file,
      "this is not a database at all, only text that is long enough to be read as a header",
    );
    await expect(openDb({ file })).rejects.toThrow(/it is not a SQLite database/);
  });

  it("rolls back what a failing exclusive block wrote and keeps async transactions out of it", async () => {
    await using db = await openDb({ file: await freshFile() });
    const slow = db.transaction(async (tx) => {
      await tx.insertInto("meta").values({ key: "a", value: "1" }).execute();
      await new Promise((resolve) => setImmediate(resolve));
      return "done";
    });
    const failing = db.exclusive((raw) => {
      raw.exec("INSERT INTO meta (key, value) VALUES ('b', '2')");
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await slow).toBe("done");
    expect(await db.query.selectFrom("meta").select("key").execute()).toEqual([{ key: "a" }]);
  });
});

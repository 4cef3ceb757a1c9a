import { join } from "node:path";
import { expect, it } from "vitest";
import { checkpoint, openDb } from "../../../src/store/engine/db.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

it("leaves the log alone while a transaction is open, and nothing fails", async () => {
  using folder = temporaryFolder();
  await using db = await openDb({ file: join(folder.path, "a.db") });
  await db.transaction(async (tx) => {
    await tx.insertInto("meta").values({ key: "a", value: "1" }).execute();
    expect(() => checkpoint(db.raw)).not.toThrow();
  });
  checkpoint(db.raw);
  expect(await db.query.selectFrom("meta").select("value").where("key", "=", "a").executeTakeFirst()).toEqual(
    { value: "1" },
  );
});

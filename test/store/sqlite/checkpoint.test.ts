import { join } from "node:path";
import { expect, it } from "vitest";
import { openStore } from "../../../src/store/open-store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { queryOf } from "../../support/handles.ts";

it("carries the log over after a transaction that is open, and nothing fails", async () => {
  using folder = temporaryFolder();
  await using store = await openStore({ file: join(folder.path, "a.db") });
  let tidied: Promise<void> | null = null;
  await store.write(async (tx) => {
    await queryOf(tx).insertInto("meta").values({ key: "a", value: "1" }).execute();
    tidied = store.tidy();
  });
  await tidied;
  expect(
    await queryOf(store).selectFrom("meta").select("value").where("key", "=", "a").executeTakeFirst(),
  ).toEqual({ value: "1" });
});

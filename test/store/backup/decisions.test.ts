import { expect, it } from "vitest";
import { DECISIONS } from "../../../src/store/backup/decisions.ts";
import { openEmptyStore } from "../../support/context.ts";
import { rowsOf } from "../../support/handles.ts";

it("has a decision for every table", async () => {
  await using store = await openEmptyStore();
  const tables = await rowsOf<{ name: string }>(
    store,
    // The index of words is made of the rows.
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'search_%' AND name NOT LIKE 'sqlite_%'",
  );
  expect(tables.map(({ name }) => name).sort()).toEqual(Object.keys(DECISIONS).sort());
});

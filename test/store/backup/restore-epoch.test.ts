import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openStore } from "../../../src/store/open-store.ts";
import {
  advanceEpoch,
  isOlder,
  readEpoch,
  readEpochFile,
  writeEpochFile,
} from "../../../src/store/backup/restore-epoch.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const ID = "0b0e7c7a-93a5-4a8e-9f0c-6f7a4a3f0a51";
const OTHER = "5d1f3f0e-1f43-4a2b-8a55-1f2f7f0f9c11";

describe("the epoch of a database", () => {
  it.each([
    ["the same", { id: ID, count: 4 }, false],
    ["behind, as a crash leaves it", { id: ID, count: 3 }, false],
    ["ahead", { id: ID, count: 5 }, true],
    ["another's", { id: OTHER, count: 0 }, true],
    ["missing", null, true],
  ])("is older where its file is %s", (_case, file, expected) => {
    expect(isOlder({ id: ID, count: 4 }, file)).toBe(expected);
  });

  it("moves on in the database and its file, which never runs ahead or back", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "generation");
    await using store = await openStore({ file: join(folder.path, "a.db") });
    await advanceEpoch(store, file);
    const first = await readEpoch(store);
    expect(readEpochFile(file)).toEqual(first);
    await advanceEpoch(store, file);
    expect(readEpochFile(file)).toEqual({ id: first?.id, count: (first?.count ?? 0) + 1 });
    writeEpochFile(file, { id: first?.id ?? "", count: 99 }, { isDurable: true });
    await advanceEpoch(store, file);
    expect(readEpochFile(file)?.count).toBe(99);
    expect(readdirSync(folder.path).filter((name) => name.startsWith("generation"))).toEqual(["generation"]);
  });

  it("is unknown where the file makes no sense", () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "generation");
    writeFileSync(file, "what?");
    expect(readEpochFile(file)).toBeNull();
  });
});

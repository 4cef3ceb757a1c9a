import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openStore } from "../../src/store/open-store.ts";
import { rawOf } from "../support/handles.ts";

async function freshFile(): Promise<string> {
  return join(await mkdtemp(join(tmpdir(), "posthorn-db-")), "posthorn.db");
}

describe("openStore", () => {
  it("opens with the pragmas that crash safety rests on", async () => {
    await using store = await openStore({ file: await freshFile() });
    expect(rawOf(store).prepare("PRAGMA journal_mode").get([])).toEqual({ journal_mode: "wal" });
    expect(rawOf(store).prepare("PRAGMA synchronous").get([])).toEqual({ synchronous: 2 });
    expect(rawOf(store).prepare("PRAGMA foreign_keys").get([])).toEqual({ foreign_keys: 1 });
  });

  it("says in one sentence that a file is no database", async () => {
    const file = await freshFile();
    await writeFile(
      file,
      "this is not a database at all, only text that is long enough to be read as a header",
    );
    await expect(openStore({ file })).rejects.toThrow(/it is not a SQLite database/);
  });
});

import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../src/store/open-store.ts";
import type { Store } from "../../src/store/engine/store.ts";
import { isOnPostgres } from "../support/context.ts";
import { rawOf } from "../support/handles.ts";

/** A database of which a copy is made while it is at work, by the way that its engine has for that. */
export interface CopiedDatabase extends AsyncDisposable {
  open(): Promise<Store>;
  copy(store: Store): Promise<void>;
  /** Once nobody has it open any more. */
  putBack(): Promise<void>;
}

/** On the engine of this run; SQLite's files are in the folder. */
export function createCopiedDatabase(folder: string): Promise<CopiedDatabase> {
  return isOnPostgres ? onPostgres() : onSqlite(folder);
}

async function onSqlite(folder: string): Promise<CopiedDatabase> {
  const file = join(folder, "posthorn.db");
  const copied = join(folder, "copy.db");
  return {
    open: () => openStore({ file }),
    copy: async (store) => void rawOf(store).prepare("VACUUM INTO ?").run([copied]),
    async putBack() {
      for (const end of ["-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
      copyFileSync(copied, file);
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

async function onPostgres(): Promise<CopiedDatabase> {
  const { createDatabase } = await import("../support/postgres.ts");
  const { openTestStoreOn } = await import("../support/postgres-store.ts");
  const { copyDatabase } = await import("../support/postgres-copy.ts");
  const database = await createDatabase();
  let copied: Awaited<ReturnType<typeof copyDatabase>> | null = null;
  return {
    open: () => openTestStoreOn(database.url),
    copy: async () => void (copied = await copyDatabase(database.url)),
    putBack: async () => copied?.putBack(),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

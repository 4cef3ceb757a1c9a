import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../src/app/system-clock.ts";
import type { Store } from "../../src/store/engine/store.ts";
import { openStore } from "../../src/store/open-store.ts";
import { isOnPostgres } from "../support/context.ts";
import { freshDatabase } from "../support/fresh-schema.ts";
import { createDatabase } from "../support/postgres.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** What several processes share on the engine of this run. */
export interface SharedDatabase extends AsyncDisposable {
  /** Of workers; on SQLite the database is in it. */
  readonly folder: string;
  /** As workers open it: a file or an address. */
  readonly place: string;
  /** Null where it is a file in the folder. */
  readonly url: string | null;
  /** Of the program, on a data folder of its own. */
  readonly env: Readonly<Record<string, string>>;
  open(): Promise<Store>;
}

export async function createSharedDatabase(): Promise<SharedDatabase> {
  const folder = temporaryFolder();
  const database = isOnPostgres ? await createDatabase() : null;
  const file = join(folder.path, "posthorn.db");
  if (database === null) await writeFile(file, await freshDatabase());
  const onPostgres = database === null ? {} : { DATABASE_URL: database.url, POSTHORN_FILES: "folder" };
  return {
    folder: folder.path,
    place: database?.url ?? file,
    url: database?.url ?? null,
    env: { ...folder.env, ...onPostgres },
    open: () => openStore(database === null ? { file } : { url: database.url, clock: systemClock }),
    async [Symbol.asyncDispose]() {
      await database?.[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

import { checkpoint, explained, openDatabase, type OpenOptions } from "./engine/database.ts";
import { HANDLE, type Store } from "./engine/store.ts";
import { createWriteQueue } from "./engine/write-queue.ts";
import { createClaims } from "./publishing/claims.ts";
import { createSearch } from "./search/post-pages.ts";
import { textIndex } from "./search/text-index.ts";
import { createLedger } from "./publishing/ledger.ts";

/**
 * Opens the store on a SQLite file, or in memory for ":memory:". Throws `unavailable` with one sentence where
 * it cannot.
 */
export async function openStore(options: OpenOptions): Promise<Store> {
  const database = openDatabase(options);
  const { query, raw } = database;
  const handle = { query, raw, index: textIndex };
  const queue = createWriteQueue(handle);
  const write: Store["write"] = (work) =>
    queue.write(work).catch((error: unknown) => {
      throw explained(error);
    });
  const base = { [HANDLE]: handle, write };
  return {
    ...base,
    writeTrouble: queue.writeTrouble,
    engine: database.driver,
    claims: createClaims(base),
    ledger: createLedger(base),
    search: createSearch(base),
    tidy: () => checkpoint(database),
    copyTo: (file) => query.connection().execute(async () => void raw.prepare("VACUUM INTO ?").run([file])),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

import { AppError } from "../domain/errors.ts";
import type { Store } from "../store/engine/store.ts";
import { openStore } from "../store/open-store.ts";
import type { Settings } from "./setup.ts";
import { systemClock } from "./system-clock.ts";

type DatabasePlace = Pick<Settings, "config" | "secrets" | "folder">;

/** The store that the settings name: the data folder's SQLite, or a PostgreSQL. */
export function openDatabase({ config, secrets, folder }: DatabasePlace): Promise<Store> {
  if (config.database !== null && secrets.database !== null) {
    const { url, directUrl } = secrets.database;
    const sizes = { application: config.database.connections };
    return openStore({ url, directUrl: directUrl ?? undefined, sizes, clock: systemClock });
  }
  return openStore({ file: folder.database, usedMark: folder.generation, locks: folder.locks });
}

/** Throws `conflict` for what is done with the data folder's database alone; `instead` says what is done. */
export function assertOwnFolder({ config }: Pick<Settings, "config">, what: string, instead: string): void {
  if (config.database === null) return;
  throw new AppError(
    "conflict",
    `${what} is for the database of a data folder, and DATABASE_URL is set. ${instead}`,
  );
}

export const BACK_UP_INSTEAD =
  "Back up a PostgreSQL with its own pg_dump, and the bucket and the secret key beside it; docs/many-machines.md has the commands. Nothing was changed.";

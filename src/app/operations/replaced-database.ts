import { join } from "node:path";
import type { DataFolder } from "../data-folder.ts";
import { fileOf } from "../file-store.ts";
import { ownsDatabase } from "../secret-key.ts";
import type { Cipher } from "../../domain/cipher.ts";
import { AppError } from "../../domain/errors.ts";
import { writeCopy } from "../../store/backup/database-copy.ts";
import { forgetSealed } from "../../store/backup/decided-since.ts";
import { isThere } from "../../store/backup/durable.ts";
import { goesOnFrom, readEpoch, readFormerIds } from "../../store/backup/restore-epoch.ts";
import type { Store } from "../../store/engine/store.ts";
import { sqliteCode } from "../../store/local/driver.ts";
import { explained } from "../../store/local/sentences.ts";
import { openStore } from "../../store/open-store.ts";
import type { Unknown } from "../../domain/health/backups.ts";

/** What the database that a backup replaces can tell of what was decided since. */
type ReplacedDatabase =
  | { readonly unknown: Unknown }
  | {
      readonly unknown: null;
      /** What the database of the backup was called since. */
      readonly ids: readonly string[];
      /** False: another secret key sealed it. */
      readonly isOpen: boolean;
    };

interface ReplacementInput {
  readonly folder: DataFolder;
  /** A folder for a copy: the database itself stays as it is. */
  readonly staging: string;
  readonly cipher: Cipher;
}

/** Attaches a copy of the folder's database to that of the backup, where it is the same one, gone on. */
export async function attachPresent(
  backup: Store,
  { folder, staging, cipher }: ReplacementInput,
): Promise<ReplacedDatabase> {
  if (!(await isThere(folder.database))) return { unknown: "absent" };
  const file = join(staging, "replaced.db");
  const replaced = await readPresent(folder.database, { file, backup, cipher });
  if (replaced.unknown === null) await fileOf(backup).attachReplaced(file);
  return replaced;
}

async function readPresent(
  database: string,
  { file, backup, cipher }: { readonly file: string; readonly backup: Store; readonly cipher: Cipher },
): Promise<ReplacedDatabase> {
  try {
    writeCopy(database, file);
    await using store = await openStore({ file });
    if (!(await fileOf(store).isSound())) return { unknown: "unreadable" };
    if (!(await goesOnFrom(store, backup))) return { unknown: "unrelated" };
    const isOpen = await ownsDatabase(store, cipher);
    if (!isOpen) await store.write(forgetSealed);
    const own = await readEpoch(store);
    return {
      unknown: null,
      ids: [...(own === null ? [] : [own.id]), ...(await readFormerIds(store))],
      isOpen,
    };
  } catch (cause) {
    if (isOfMachine(cause)) throw explained(cause);
    return { unknown: "unreadable" };
  }
}

/** A disk that is full and a lock of another program say nothing of the database. */
function isOfMachine(error: unknown): boolean {
  const code = sqliteCode(error instanceof AppError ? error.cause : error);
  if (code === null) return !(error instanceof AppError);
  return code.startsWith("SQLITE_FULL") || code.startsWith("SQLITE_BUSY");
}

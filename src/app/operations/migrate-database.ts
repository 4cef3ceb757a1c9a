import { Readable } from "node:stream";
import { findOwnDatabase, openDataFolder, type DataFolder, type Environment } from "../data-folder.ts";
import { AppError } from "../../domain/errors.ts";
import { toIso } from "../../domain/time.ts";
import { capabilitiesOf, openBucket, openDatabase, ownDatabase } from "../file-store.ts";
import { createFolderStore } from "../../media/stores/folder-store.ts";
import { openCipher } from "../secret-key.ts";
import { readMasterKey, readPlace, type Settings } from "../setup.ts";
import { createWhole } from "../../store/backup/durable.ts";
import { listStoredKeys } from "../../store/backup/database-copy.ts";
import { isMovedAlready, moveDatabase, type MovedCount } from "../../store/moving/move.ts";
import type { Tell } from "../../store/engine/store.ts";
import { openStore } from "../../store/open-store.ts";
import { takeFolder } from "../../store/local/locks.ts";
import { systemClock } from "../system-clock.ts";
import type { MigrationResult } from "../../domain/health/backups.ts";

interface Migration {
  readonly env: Environment;
  readonly signal: AbortSignal;
  readonly progress: (moved: MovedCount) => void;
  readonly tell?: Tell;
}

type Target = Pick<Settings, "config" | "secrets" | "folder">;

/**
 * Moves the data folder's database into the server's of the settings, and its files into their bucket. From
 * the first row on nothing starts on the folder any more, whose database is only read. What was cut off goes
 * on when it is called again. Throws `conflict` while anything works on the folder, or where the target is in
 * use.
 */
export async function migrateDatabase(migration: Migration): Promise<MigrationResult> {
  const { env, signal, progress, tell = () => {} } = migration;
  const { place, config, secrets } = await readPlace(env);
  if (capabilitiesOf(config).inFolder)
    throw new AppError(
      "invalid",
      "DATABASE_URL is not set. Set it to the address of an empty PostgreSQL database, and a bucket for the files (POSTHORN_S3_…) or POSTHORN_FILES=folder for a shared folder, then try again. Nothing was changed.",
    );
  const folder = await openDataFolder(place);
  if (findOwnDatabase(folder).place === null)
    throw new AppError(
      "conflict",
      `There is no database in ${folder.path}, so there is nothing to move: start with DATABASE_URL.`,
    );
  const target = { config, secrets, folder };
  const lock = takeFolder(folder.locks);
  try {
    await using from = await openStore(ownDatabase(folder, tell));
    // The hosts of the PostgreSQL need this very key.
    await openCipher(from, { ...target, masterKey: await readMasterKey(target) });
    await using to = await openDatabase(target, tell);
    const files = await copyFiles(target, signal);
    const begun = (): Promise<void> => leaveMark(folder);
    const now = (to.liveness.clock ?? systemClock).now();
    const isMoved = await isMovedAlready(from, to);
    if (isMoved) await begun();
    const tables = isMoved ? null : await moveDatabase({ from, to, now, begun, signal, progress });
    return { folder: folder.path, tables, ...files };
  } finally {
    lock.release();
  }
}

/** What keeps others from starting on the folder. A person who wants to go back removes it. */
async function leaveMark({ moved, path }: DataFolder): Promise<void> {
  await createWhole(
    moved,
    `${toIso(systemClock.now())}: the database of this folder was moved to PostgreSQL, and nothing starts here any more.\nStart with DATABASE_URL. To go back to ${path} as it was then, delete this file. What happened in PostgreSQL since is not in it.\n`,
  );
}

/** Nothing is copied where the files stay in a shared folder. */
async function copyFiles(
  { config, secrets, folder }: Target,
  signal: AbortSignal,
): Promise<Pick<MigrationResult, "copied" | "missing">> {
  const bucket = await openBucket({ config, secrets });
  if (bucket === null) return { copied: 0, missing: [] };
  await bucket.assertSettings();
  const files = createFolderStore(folder.files);
  let copied = 0;
  const missing: string[] = [];
  for (const key of listStoredKeys(folder.database)) {
    signal.throwIfAborted();
    const sizeBytes = await files.size(key);
    const stored = await bucket.size(key);
    if (sizeBytes === null && stored === null) missing.push(key);
    if (sizeBytes === null || stored === sizeBytes) continue;
    await bucket.write(key, Readable.from(files.read(key)), { signal, sizeBytes });
    copied += 1;
  }
  return { copied, missing };
}

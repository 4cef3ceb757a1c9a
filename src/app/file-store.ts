import { existsSync } from "node:fs";
import { AppError, hasCode } from "../domain/errors.ts";
import type { BucketStore } from "../media/stores/bucket-store.ts";
import { createFolderStore } from "../media/stores/folder-store.ts";
import type { FileStore } from "../ports/file-store.ts";
import type { Config } from "./config.ts";
import type { DataFolder } from "./data-folder.ts";
import type { Settings } from "./setup.ts";
import { keepSchemaCopy } from "../store/backup/database-copy.ts";
import { IN_FOLDER, ON_SERVER, type Capabilities } from "../store/engine/capabilities.ts";
import type { DatabaseFile } from "../store/engine/engine.ts";
import type { Store, Tell } from "../store/engine/store.ts";
import { openStore, type FileOptions } from "../store/open-store.ts";
import { systemClock } from "./system-clock.ts";

type StorageSettings = Pick<Settings, "config" | "secrets" | "folder">;

/** Where the files are: in the bucket of the settings, else in the data folder. */
export async function openFileStore(settings: StorageSettings): Promise<FileStore> {
  return (await openBucket(settings)) ?? createFolderStore(settings.folder.files);
}

/** Null where the settings name no bucket; most processes need no code for one. */
export async function openBucket({
  config,
  secrets,
}: Pick<StorageSettings, "config" | "secrets">): Promise<BucketStore | null> {
  const { bucket } = config;
  const { bucketSecretKey } = secrets;
  if (bucket === null || bucketSecretKey === null) return null;
  const { createBucketStore } = await import("../media/stores/bucket-store.ts").catch((cause: unknown) => {
    if (!hasCode(cause, ["ERR_MODULE_NOT_FOUND"])) throw cause;
    throw new AppError(
      "unavailable",
      "POSTHORN_S3_BUCKET is set, and the packages @aws-sdk/client-s3, @aws-sdk/lib-storage and @aws-sdk/s3-request-presigner, which talk to buckets, are not installed. Install Posthorn with its optional packages.",
      { cause },
    );
  });
  return createBucketStore({ bucket, secretAccessKey: bucketSecretKey });
}

/**
 * The store that the settings name: in the data folder, or on a server. `tell` hears, in sentences,
 * that it was brought to a newer schema and where the copy is, and what the start waits for.
 */
export async function openDatabase({ config, secrets, folder }: StorageSettings, tell: Tell): Promise<Store> {
  if (config.database !== null && secrets.database !== null) {
    const { url, directUrl } = secrets.database;
    return openStore({
      url,
      directUrl: directUrl ?? undefined,
      size: config.database.connections,
      clock: systemClock,
      telling: { tell },
    });
  }
  assertNotMoved(folder);
  return openStore({ ...ownDatabase(folder, tell), locks: folder.locks });
}

/** The data folder's own database. A copy of it is kept before it is brought to a newer schema. */
export function ownDatabase(folder: DataFolder, tell: Tell): FileOptions {
  const keepCopy = (version: number): string =>
    keepSchemaCopy(folder.database, { version, now: systemClock.now() });
  const upgrade = { keepCopy, tell };
  return { file: folder.database, usedMark: folder.epoch, upgrade };
}

/** Throws `unavailable` for a folder whose database went to a PostgreSQL. */
function assertNotMoved({ moved, path }: DataFolder): void {
  if (!existsSync(moved)) return;
  throw new AppError(
    "unavailable",
    `The database of ${path} was moved to PostgreSQL. Two databases that go on from the same posts would publish them twice. Start with DATABASE_URL. To go back to the folder as it was then, delete ${moved}.`,
  );
}

/** What the database of these settings can do. */
export function capabilitiesOf({ database }: Pick<Config, "database">): Capabilities {
  return database === null ? IN_FOLDER : ON_SERVER;
}

/** Throws `conflict` for what is done with a database that is a file. */
export function assertBackupFile({ config }: Pick<Settings, "config">, what: string): void {
  if (capabilitiesOf(config).backupFile) return;
  throw new AppError(
    "conflict",
    `${what} works on the database of a data folder, but DATABASE_URL is set. ${BACK_UP_INSTEAD}`,
  );
}

/** The database as a file. Throws `conflict` where it is none. */
export function fileOf({ file }: Pick<Store, "file">): DatabaseFile {
  if (file !== null) return file;
  throw new AppError("conflict", BACK_UP_INSTEAD);
}

const BACK_UP_INSTEAD =
  "Back up PostgreSQL with pg_dump, and the bucket and the secret key separately. docs/many-machines.md has the commands. Nothing was changed.";

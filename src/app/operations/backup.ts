import pLimit from "p-limit";
import type { BackupReport, BackupResult } from "../../domain/health/backups.ts";
import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdtemp, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Cipher } from "../../domain/cipher.ts";
import { AppError } from "../../domain/errors.ts";
import { DAY, toIso } from "../../domain/time.ts";
import {
  DATABASE,
  FILES,
  FORMAT,
  MANIFEST,
  writeArchive,
  type ArchiveWriter,
  type Manifest,
} from "../../store/backup/backup-archive.ts";
import { assertAbsent, explainingWrite, removeLeftovers, syncFolder } from "../../store/backup/durable.ts";
import { listStoredKeys } from "../../store/backup/database-copy.ts";
import type { AppContext } from "../../context.ts";
import { createContext } from "../compose.ts";
import { findSecretKey, readIfThere } from "../data-folder.ts";
import { describeBucket } from "../../domain/files/bucket-settings.ts";
import { assertBackupFile, fileOf } from "../file-store.ts";
import type { Setup } from "../setup.ts";
import { createCipher, secretKeyId } from "../../store/engine/cipher.ts";
import type { Tell } from "../../store/engine/store.ts";
import { VERSION } from "../../domain/version.ts";

interface BackupInput {
  /** Where to; it must not be there yet unless `isForced`. */
  readonly file: string;
  readonly isForced: boolean;
  /** Where the database's copy stands meanwhile. */
  readonly folder: string;
  readonly version: string;
  readonly secretKeyId: string;
  /** What `posthorn.env` holds; null: there is none. */
  readonly settings: string | null;
  /** Seals them, and vouches for the backup: a restore tells it from one that was changed or made up. */
  readonly cipher: Cipher;
  /** Where the files are kept, if not in the data folder: they stay there, and the backup names them. */
  readonly bucket: { readonly endpoint: string; readonly name: string } | null;
  readonly signal: AbortSignal;
}

/** By a key derived from the secret key only for this. Nothing else can make a backup up. */
export function signBackup(cipher: Cipher, checksums: string): string {
  return cipher.sign("backup", checksums);
}

/** What sealed settings are bound to. */
const SETTINGS_AAD = "backup.settings";

/** The text of `posthorn.env`; null where the backup has none. Throws `invalid` for a text that does not open. */
export function openSettings(cipher: Cipher, { settings }: Manifest): string | null {
  if (settings === undefined) return null;
  try {
    return cipher.open(settings, SETTINGS_AAD);
  } catch (cause) {
    const problem = "The settings in the backup do not open: they were changed after it was made.";
    throw new AppError("invalid", `${problem} Take another backup. Nothing was changed.`, { cause });
  }
}

type Source = Pick<AppContext, "store" | "files" | "clock">;

/**
 * Writes database and stored files to one file, while others go on working. The database is of one moment;
 * stored files never change, so that those it refers to can be read after it. Throws `conflict` where the
 * file is there already.
 */
export async function makeBackup(ctx: Source, input: BackupInput): Promise<BackupReport> {
  const file = resolve(input.file);
  if (!input.isForced) await assertAbsent(file);
  const temporary = `${file}.${randomBytes(6).toString("hex")}.part`;
  await removeLeftovers(input.folder, STAGING, ctx.clock.now() - DAY);
  const folder = await mkdtemp(join(input.folder, STAGING));
  try {
    const createdAt = ctx.clock.now();
    const copy = join(folder, DATABASE);
    await fileOf(ctx.store).copyTo(copy);
    const keys = listStoredKeys(copy);
    const { version, secretKeyId, settings, bucket, signal } = input;
    const missing = bucket === null ? [] : await findMissing(ctx, keys, signal);
    const manifest: Manifest = { format: FORMAT, program: "posthorn", version, createdAt, secretKeyId };
    if (settings !== null) manifest.settings = input.cipher.seal(settings, SETTINGS_AAD);
    if (bucket !== null) manifest.bucket = { endpoint: bucket.endpoint, name: bucket.name, keys };
    const { sizeBytes } = await explainingWrite(file, () =>
      writeArchive(
        temporary,
        async (archive) => {
          await archive.addText(MANIFEST, `${JSON.stringify(manifest, null, 2)}\n`);
          await archive.add(
            DATABASE,
            (await stat(copy)).size,
            createReadStream(copy, { highWaterMark: READ_BYTES }),
          );
          if (bucket !== null) return;
          for (const key of keys) if (!(await addFile(ctx, archive, { key, signal }))) missing.push(key);
        },
        (checksums) => signBackup(input.cipher, checksums),
      ),
    );
    if (!input.isForced) await assertAbsent(file);
    await rename(temporary, file);
    await syncFolder(dirname(file));
    const there = keys.length - missing.length;
    const counts = bucket === null ? { files: there, filesInBucket: 0 } : { files: 0, filesInBucket: there };
    return { file, createdAt: toIso(createdAt), sizeBytes, ...counts, missing };
  } finally {
    await rm(folder, { recursive: true, force: true });
    await rm(temporary, { force: true });
  }
}

/** Another backup may be under way at the same time. */
const STAGING = ".backup-";

const READ_BYTES = 1024 * 1024;

/** Files of the database that the store has not (any more). */
export async function findMissing(
  { files }: Pick<Source, "files">,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const sizes = await pLimit(ASKED_AT_ONCE).map(keys, (key) => {
    signal.throwIfAborted();
    return files.size(key);
  });
  return keys.filter((_key, at) => sizes[at] === null);
}

const ASKED_AT_ONCE = 16;

/** False for a file that is not in the store (any more). */
async function addFile(
  ctx: Source,
  archive: ArchiveWriter,
  { key, signal }: { key: string; signal: AbortSignal },
): Promise<boolean> {
  signal.throwIfAborted();
  const sizeBytes = await ctx.files.size(key);
  if (sizeBytes === null) return false;
  const chunks = (ctx.files.read(key) as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  // Opened before its header is written: it may be deleted this very moment.
  const first = await chunks.next().catch((error: unknown) => {
    if (error instanceof AppError && error.kind === "not_found") return null;
    throw error;
  });
  if (first === null) return false;
  await archive.add(FILES + key, sizeBytes, rest(first, chunks, signal));
  return true;
}

async function* rest(
  first: IteratorResult<Buffer>,
  chunks: AsyncIterator<Buffer>,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  for (let next = first; next.done !== true; next = await chunks.next()) {
    signal.throwIfAborted();
    yield next.value;
  }
}

type BackupOptions = Pick<BackupInput, "file" | "isForced" | "signal">;

/** Opens the service beside what runs, and backs it up. */
export async function backUp(
  setup: Setup,
  options: BackupOptions & { readonly tell: Tell },
): Promise<BackupResult> {
  assertBackupFile(setup, "posthorn backup");
  await using ctx = await createContext(setup, {}, options.tell);
  // Awaited here: the service closes at the end of this function.
  return await backUpOpen(ctx, setup, options);
}

/** A backup of the service that is open, in a file of its own that goes when it is disposed. */
export async function backUpForNow(
  ctx: Source,
  setup: Setup,
  signal: AbortSignal,
): Promise<{ readonly path: string; readonly name: string } & AsyncDisposable> {
  assertBackupFile(setup, "A backup");
  // One that a killed process left is cleared away with the next backup.
  const folder = await mkdtemp(join(setup.folder.path, STAGING));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const path = join(folder, "posthorn.tar");
  try {
    const { createdAt } = await backUpOpen(ctx, setup, { file: path, isForced: false, signal });
    const name = `posthorn-${createdAt.slice(0, "2027-01-31".length)}.tar`;
    return { path, name, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function backUpOpen(ctx: Source, setup: Setup, options: BackupOptions): Promise<BackupResult> {
  const { folder } = setup;
  // Read again: opening may have finished a replacement that was cut off.
  const key = (await findSecretKey(folder.secretKey)) ?? setup.masterKey;
  const { bucket } = setup.config;
  const settings = await readIfThere(folder.settings);
  const report = await makeBackup(ctx, {
    ...options,
    folder: folder.path,
    version: VERSION,
    secretKeyId: secretKeyId(key),
    cipher: createCipher(key),
    settings,
    bucket,
  });
  return {
    ...report,
    hasSettings: settings !== null,
    bucket: bucket === null ? null : describeBucket(bucket),
    secretKeyFile: folder.secretKey,
  };
}

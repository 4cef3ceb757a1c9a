import { copyFile, link, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import {
  findOwnDatabase,
  findSecretKey,
  openDataFolder,
  readIfThere,
  readSettingsText,
  type DataFolder,
  type Environment,
} from "../data-folder.ts";
import { listPlatformSettings, loadCatalog, parseConfig, readPlace, type Settings } from "../setup.ts";
import { describeBucket } from "../../domain/files/bucket-settings.ts";
import { AppError } from "../../domain/errors.ts";
import { toIso } from "../../domain/time.ts";
import { assertBackupFile, fileOf, openFileStore } from "../file-store.ts";
import { assertKey, type FileStore } from "../../ports/file-store.ts";
import { findMissing, openSettings, signBackup } from "./backup.ts";
import { attachPresent } from "./replaced-database.ts";
import { holdRestored } from "../../publishing/restored.ts";
import { createCipher, secretKeyId } from "../../store/engine/cipher.ts";
import { openStore } from "../../store/open-store.ts";
import { countPostsIn, foldLog } from "../../store/backup/database-copy.ts";
import { createWhole, isThere, removeLeftovers, syncFolder } from "../../store/backup/durable.ts";
import { takeFolder } from "../../store/local/locks.ts";
import {
  addFormerIds,
  newEpoch,
  readEpoch,
  writeEpochFile,
  type RestoreEpoch,
} from "../../store/backup/restore-epoch.ts";
import { verifyBackup, type VerifiedBackup, FILES, readArchive } from "../../store/backup/backup-archive.ts";
import { systemClock } from "../system-clock.ts";
import { type RestoreResult, UNSIGNED_RISK } from "../../domain/health/backups.ts";
import { createHash, timingSafeEqual } from "node:crypto";
import { Readable } from "node:stream";
import { ownsDatabase } from "../secret-key.ts";

interface RestoreInput {
  readonly env: Environment;
  readonly file: string;
  /** Replaces a database that holds posts. */
  readonly isForced: boolean;
  /** Takes a backup that the secret key does not vouch for. */
  readonly isUnsigned: boolean;
}

/**
 * Puts a backup into the data folder. Everything is verified before anything is touched; stored files, which
 * never change, come first, and renaming the database is the one moment at which the folder goes over from
 * the old state to the new.
 */
export async function restoreBackup(input: RestoreInput): Promise<RestoreResult> {
  const { env, file, isForced, isUnsigned } = input;
  const archive = resolve(file);
  if (!(await isThere(archive))) throw new AppError("not_found", `${archive} is not there.`);
  const { place, ...settings } = await readPlace(env);
  assertBackupFile(settings, "posthorn restore");
  const folder = await openDataFolder(place);
  const lock = takeFolder(folder.locks);
  try {
    if (!isForced) assertEmpty(folder, findOwnDatabase(folder).place !== null);
    await removeLeftovers(folder.path, STAGING);
    const staging = await mkdtemp(join(folder.path, STAGING));
    return await restoreInto({ ...settings, env, folder, isUnsigned }, archive, staging);
  } finally {
    lock.release();
  }
}

type Target = Pick<Settings, "config" | "secrets" | "folder"> & Pick<RestoreInput, "env" | "isUnsigned">;

async function restoreInto(given: Target, archive: string, staging: string): Promise<RestoreResult> {
  const { folder } = given;
  try {
    const staged = join(staging, "posthorn.db");
    const backup = await verifyBackup(archive, { stagedDatabase: staged, assertKey });
    const isSigned = await assertSigned(archive, backup, given);
    const wanted = await findSettings(given, backup);
    const target = wanted?.isInForce === true ? await withSettings(given, wanted.text) : given;
    assertSameBucket(target, backup);
    const epoch = newEpoch();
    const prepared = await prepareDatabase(staged, folder, { backup, epoch });
    const missing = await restoreFiles(target, archive, backup);
    if (wanted !== null) await createWhole(wanted.file, wanted.text);
    const keptAside = await switchDatabase(folder, staged);
    // Until this is written the two differ. The next start would hold back what it need not, and ask for what is
    // known, but nothing worse.
    writeEpochFile(folder.epoch, epoch, { isDurable: true });
    await syncFolder(folder.path);
    return {
      folder: folder.path,
      createdAt: toIso(backup.manifest.createdAt),
      ...prepared,
      files: backup.files.size,
      missing,
      settings: wanted && { file: wanted.file, isInForce: wanted.isInForce },
      keptAside,
      isSigned,
    };
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/**
 * The settings of the backup and where they belong. Those that the folder has already stay in force: a person
 * who moves to a bucket or another address has changed them for this restore. Null: there is nothing to write.
 */
async function findSettings(
  { folder }: Target,
  backup: VerifiedBackup,
): Promise<{ readonly file: string; readonly text: string; readonly isInForce: boolean } | null> {
  const key = await findSecretKey(folder.secretKey);
  const text = key === null ? null : openSettings(createCipher(key), backup.manifest);
  const present = await readIfThere(folder.settings);
  if (text === null || text === present) return null;
  const isInForce = present === null;
  const file = isInForce ? folder.settings : await findFreeName(`${folder.settings}.from-backup`);
  return { file, text, isInForce };
}

/** Settings that are wrong on this machine are told by its first start; the restore does without them. */
async function withSettings(target: Target, text: string): Promise<Target> {
  try {
    const given = readSettingsText(target.folder.settings, text, target.env);
    return { ...target, ...parseConfig(given, await listPlatformSettings()) };
  } catch (error) {
    if (error instanceof AppError && error.kind === "invalid") return target;
    throw error;
  }
}

/** Throws `conflict` where the files of the backup are in a bucket that the settings do not name. */
function assertSameBucket({ config }: Target, { manifest }: VerifiedBackup): void {
  const wanted = manifest.bucket;
  const { bucket } = config;
  if (
    wanted === undefined ||
    (bucket !== null && bucket.endpoint === wanted.endpoint && bucket.name === wanted.name)
  )
    return;
  throw new AppError(
    "conflict",
    `The files of this backup are in ${describeBucket(wanted)}. Set POSTHORN_S3_ENDPOINT, POSTHORN_S3_BUCKET and what belongs to them to it, then restore again. Nothing was changed.`,
  );
}

/**
 * Into the folder, or into the bucket of the settings; what the backup left in its bucket is only looked for.
 */
async function restoreFiles(
  target: Target,
  archive: string,
  { manifest, files: wanted }: VerifiedBackup,
): Promise<string[]> {
  const files = await openFileStore(target);
  await copyFiles(archive, { files, wanted });
  return manifest.bucket === undefined
    ? []
    : await findMissing({ files }, manifest.bucket.keys, new AbortController().signal);
}

const STAGING = ".restore-";

/** Throws `conflict` for a database that holds posts, or that cannot be read. */
function assertEmpty({ path, database }: DataFolder, isPresent: boolean): void {
  if (!isPresent || countPostsIn(database) === 0) return;
  throw new AppError(
    "conflict",
    `The data folder ${path} holds posts (or a database that cannot be read). To replace it, use --force: the old database is kept beside the new one. Or set POSTHORN_DATA_DIR to an empty folder.`,
  );
}

/**
 * Checks the copy, brings it to the newest schema and to what was decided since it was made, and holds back what may
 * have gone out since.
 */
async function prepareDatabase(
  file: string,
  folder: DataFolder,
  { backup, epoch }: { readonly backup: VerifiedBackup; readonly epoch: RestoreEpoch },
): Promise<Pick<RestoreResult, "held" | "posts" | "decided">> {
  const { platforms } = await loadCatalog();
  await using store = await openStore({ file });
  if (!(await fileOf(store).isSound()))
    throw new AppError(
      "invalid",
      "The database in the backup is damaged. Nothing was changed. Take another backup.",
    );
  const key = await findSecretKey(folder.secretKey);
  const cipher = key === null ? null : createCipher(key);
  if (cipher === null || !(await ownsDatabase(store, cipher)))
    throw otherKey(folder, key, backup.manifest.secretKeyId);
  const replaced = await attachPresent(store, { folder, staging: dirname(file), cipher });
  const now = systemClock.now();
  const held = await store.write(async (tx) => {
    const own = await readEpoch(tx);
    if (own !== null)
      await addFormerIds(tx, replaced.unknown === null ? [...replaced.ids, own.id] : [own.id]);
    return holdRestored(tx, { epoch, now, platforms, isKnown: replaced.unknown === null });
  });
  const posts = countPostsIn(file) ?? 0;
  await fileOf(store).fold();
  const isSealed = replaced.unknown === null && !replaced.isOpen;
  return { held: held.posts, posts, decided: { ...held.decided, unknown: replaced.unknown, isSealed } };
}

/** The old database gets a second name; then the new one takes its first in one step. */
async function switchDatabase({ path, database }: DataFolder, staged: string): Promise<string | null> {
  const aside = (await isThere(database)) ? await findFreeName(`${database}.before`) : null;
  if (aside !== null) await keepAside(database, aside);
  await rename(staged, database);
  await syncFolder(path);
  return aside;
}

async function findFreeName(beginning: string): Promise<string> {
  const stamp = toIso(systemClock.now()).slice(0, 19).replaceAll(":", "");
  for (let n = 1; ; n++) {
    const name = `${beginning}-${stamp}${n === 1 ? "" : `-${n}`}`;
    if (!(await isThere(name))) return name;
  }
}

async function keepAside(database: string, aside: string): Promise<void> {
  foldLog(database);
  // A damaged database keeps its journal; the new one must not find it.
  for (const end of ["-wal", "-shm"]) {
    if (await isThere(database + end)) await rename(database + end, aside + end);
  }
  await link(database, aside).catch(() => copyFile(database, aside));
}

/** Brings the files of a verified backup into the store; those that are there already, and whole, stay. */
export async function copyFiles(
  archive: string,
  { files, wanted }: { readonly files: FileStore; readonly wanted: ReadonlyMap<string, string> },
): Promise<void> {
  for await (const entry of readArchive(archive)) {
    const key = entry.name.startsWith(FILES) ? entry.name.slice(FILES.length) : null;
    const sha256 = key === null ? undefined : wanted.get(key);
    if (
      key === null ||
      sha256 === undefined ||
      (await isStored(files, key, { sizeBytes: entry.sizeBytes, sha256 }))
    ) {
      for await (const chunk of entry.body) void chunk;
      continue;
    }
    const written = await files.write(key, Readable.from(entry.body));
    if (written.sha256 !== sha256)
      throw new AppError("invalid", `${archive}: it was changed while it was read. Restore it again.`);
  }
}

async function isStored(
  files: FileStore,
  key: string,
  is: { sizeBytes: number; sha256: string },
): Promise<boolean> {
  if ((await files.size(key)) !== is.sizeBytes) return false;
  const hash = createHash("sha256");
  for await (const chunk of files.read(key)) hash.update(chunk as Buffer);
  return hash.digest("hex") === is.sha256;
}

/**
 * Whether the secret key of the folder vouches for the backup. Throws `invalid` where it does not, unless
 * such a backup is wanted, and `unavailable` where the key is not that of the backup.
 */
async function assertSigned(
  archive: string,
  { manifest, checksums, signature }: VerifiedBackup,
  { folder, isUnsigned }: { readonly folder: DataFolder; readonly isUnsigned: boolean },
): Promise<boolean> {
  const key = await findSecretKey(folder.secretKey);
  if (key === null) throw otherKey(folder, null, manifest.secretKeyId);
  const wanted = Buffer.from(signBackup(createCipher(key), checksums));
  const given = Buffer.from(signature ?? "");
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return true;
  if (isUnsigned) return false;
  if (secretKeyId(key) !== manifest.secretKeyId) throw otherKey(folder, key, manifest.secretKeyId);
  const problem =
    signature === null
      ? "it is not signed, so Posthorn cannot tell who wrote it"
      : `its signature does not fit ${folder.secretKey}, so it was changed after it was made`;
  throw new AppError(
    "invalid",
    `${archive}: ${problem}. ${UNSIGNED_RISK} Take another backup. If you know where this one has been all the time (those made before backups were signed have no signature), restore it with --unsigned. Nothing was changed.`,
  );
}

/** For a folder whose secret key, if it has one, is not that of the backup. */
export function otherKey({ secretKey }: DataFolder, key: Buffer | null, wanted: string): AppError {
  const present = key === null ? "is not there" : `is another (${secretKeyId(key)})`;
  return new AppError(
    "unavailable",
    `The secret key ${wanted} vouches for this backup and opens the tokens in it, and ${secretKey} ${present}. Put the key that belongs to the backup there, readable only by you, then restore again. Nothing was changed.`,
  );
}

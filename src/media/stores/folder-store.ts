import { createHash, randomBytes, type Hash } from "node:crypto";
import { constants } from "node:fs";
import {
  link,
  mkdir,
  open,
  readdir,
  realpath,
  rename,
  stat,
  unlink,
  type FileHandle,
} from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { Readable } from "node:stream";
import { AppError, hasCode } from "../../domain/errors.ts";
import { toBuffer } from "../../domain/to-buffer.ts";
import { HOUR } from "../../domain/time.ts";
import { assertFreeSpace, explainFullDisk } from "../../ports/disk-space.ts";
import { assertKey, type FileStore, type WriteOptions } from "../../ports/file-store.ts";

/** Below the folder; no key can begin with a dot. */
const TEMPORARY = ".temporary";

/** What a killed process left in the temporary place is removed then. A file under way changes all the time. */
const ABANDONED_MS = HOUR;

const READ_BYTES = 256 * 1024;

// A link in the place of a file is never followed. Windows has no such flag.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;

interface Writing extends WriteOptions {
  readonly body: Readable;
  /** Gives the finished temporary file its name. */
  place(temporary: string, path: string): Promise<void>;
}

/** A FileStore on a folder that belongs to this user only; made when the first file is written. */
export function createFolderStore(folder: string): FileStore {
  const temporaryFolder = join(folder, TEMPORARY);
  const write = async (key: string, input: Writing): Promise<{ sizeBytes: number; sha256: string }> => {
    const path = pathOf(folder, key);
    try {
      await mkdir(temporaryFolder, { recursive: true, mode: 0o700 });
      await assertFreeSpace(folder, input.sizeBytes ?? 0);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await assertInside(folder, dirname(path));
      return await writeWhole(temporaryFolder, path, input);
    } catch (error) {
      input.body.destroy();
      throw explainFullDisk(error);
    }
  };
  return {
    write: (key, body, options) => write(key, { ...options, body, place: rename }),
    create: (key, body, options) => write(key, { ...options, body, place: moveNew }),
    async size(key) {
      const path = pathOf(folder, key);
      const handle = await openInside(folder, path);
      if (handle === null) return null;
      await using file = handle;
      const stats = await file.stat();
      return stats.isFile() ? stats.size : null;
    },
    read(key, range = {}) {
      const path = pathOf(folder, key);
      return Readable.from(readFrom(folder, path, range), { objectMode: false, highWaterMark: READ_BYTES });
    },
    async locate(key) {
      const path = pathOf(folder, key);
      const handle = await openInside(folder, path);
      await handle?.close();
      return handle === null ? null : path;
    },
    async remove(key) {
      const path = pathOf(folder, key);
      await assertInside(folder, dirname(path)).catch(ignoreMissing);
      await unlink(path).catch(ignoreMissing);
    },
    temporaryUrl: async () => null,
  };
}

function pathOf(folder: string, key: string): string {
  assertKey(key);
  return join(folder, ...key.split("/"));
}

/** Removes what killed processes left half written, unless other processes write in these folders. */
export async function removePartialFiles(folders: readonly string[], isUnused: () => boolean): Promise<void> {
  const listed = folders.map(async (folder) => {
    const names = await readdir(join(folder, TEMPORARY)).catch(ignoreMissing);
    return (names ?? []).map((name) => join(folder, TEMPORARY, name));
  });
  const partial = (await Promise.all(listed)).flat();
  if (partial.length === 0 || !isUnused()) return;
  for (const path of partial) await unlink(path).catch(ignoreMissing);
}

/** Compared with a file that is new: by the file system's own time. */
async function removeAbandoned(temporaryFolder: string, now: number): Promise<void> {
  for (const name of await readdir(temporaryFolder)) {
    const path = join(temporaryFolder, name);
    const stats = await stat(path).catch(ignoreMissing);
    if (stats !== undefined && now - stats.mtimeMs > ABANDONED_MS) await unlink(path).catch(ignoreMissing);
  }
}

async function writeWhole(
  temporaryFolder: string,
  path: string,
  input: Writing,
): Promise<{ sizeBytes: number; sha256: string }> {
  const temporary = join(temporaryFolder, randomBytes(12).toString("hex"));
  const hash = createHash("sha256");
  try {
    const sizeBytes = await writeTemporary(temporary, hash, input);
    await input.place(temporary, path);
    await syncFolder(dirname(path));
    return { sizeBytes, sha256: hash.digest("hex") };
  } catch (error) {
    await unlink(temporary).catch(ignoreMissing);
    throw error;
  }
}

/** A second name, then without the first: unlike renaming, that replaces nothing. */
async function moveNew(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path);
  } catch (cause) {
    if (hasCode(cause, ["EEXIST"])) throw occupied(cause);
    // Some file systems (exFAT, network shares) give a file no second name.
    if (!hasCode(cause, ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"])) throw cause;
    if ((await stat(path).catch(ignoreMissing)) !== undefined) throw occupied(cause);
    return rename(temporary, path);
  }
  await unlink(temporary);
}

function occupied(cause: unknown): AppError {
  return new AppError("conflict", "There is a file under this key already. Nothing was written. Try again.", {
    cause,
  });
}

async function writeTemporary(temporary: string, hash: Hash, { body, signal }: Writing): Promise<number> {
  await using file = await open(
    temporary,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW,
    0o600,
  );
  await removeAbandoned(dirname(temporary), (await file.stat()).mtimeMs);
  const onAbort = (): void =>
    void body.destroy(
      signal?.reason instanceof Error ? signal.reason : new Error("The writing was called off."),
    );
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    let sizeBytes = 0;
    for await (const chunk of body) {
      const bytes = toBuffer(chunk);
      hash.update(bytes);
      await writeAll(file, bytes);
      sizeBytes += bytes.length;
    }
    await file.sync();
    return sizeBytes;
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten;
}

/** The new name itself must survive a power loss. Not every system lets one open a folder. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY).catch(() => null);
  if (handle === null) return;
  await using opened = handle;
  await opened.sync().catch(() => {});
}

async function* readFrom(
  folder: string,
  path: string,
  range: { start?: number; end?: number },
): AsyncGenerator<Buffer> {
  const handle = await openInside(folder, path);
  if (handle === null)
    throw new AppError("not_found", "The file is not in the store any more. Upload it again.");
  await using file = handle;
  let at = range.start ?? 0;
  const end = range.end ?? Number.MAX_SAFE_INTEGER;
  while (at <= end) {
    const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, end - at + 1));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function openInside(folder: string, path: string): Promise<FileHandle | null> {
  try {
    await assertInside(folder, dirname(path));
    return await open(path, constants.O_RDONLY | NO_FOLLOW);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** A folder inside may not be a link that leads out. */
async function assertInside(folder: string, inner: string): Promise<void> {
  const way = relative(await realpath(folder), await realpath(inner));
  if (way === ".." || way.startsWith(`..${sep}`))
    throw new AppError("not_found", "The file is not in the store.");
}

/** ELOOP: a link instead of a file. EISDIR: a folder there. ENOTDIR: a file instead of a folder. */
function isMissing(error: unknown): boolean {
  return hasCode(error, ["ENOENT", "ELOOP", "EISDIR", "ENOTDIR"]);
}

function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

import { randomUUID } from "node:crypto";
import { closeSync, constants, fsyncSync, openSync, renameSync, writeSync } from "node:fs";
import { access, copyFile, link, open, readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AppError, codeOf } from "../../domain/errors.ts";

/** New names in the folder survive a power loss from here on. Not every system lets one open a folder. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY).catch(() => null);
  if (handle === null) return;
  await using opened = handle;
  await opened.sync().catch(() => {});
}

/** What is being written, beside the file that it is to become; a process that is killed leaves it. */
export const UNFINISHED = ".new-";

const OWNER_ONLY = 0o600;

/**
 * Writes a file for this user alone, unless it is there; false then. It appears under its name as a whole or
 * not at all, and survives a power loss. Of processes that do this together, one makes it.
 */
export async function createWhole(file: string, text: string): Promise<boolean> {
  const folder = dirname(file);
  const unfinished = join(folder, UNFINISHED + randomUUID());
  try {
    await using handle = await open(unfinished, "wx", OWNER_ONLY);
    await handle.writeFile(text);
    await handle.sync();
    // Not every file system has links; a copy at least never replaces anything.
    await link(unfinished, file).catch((error: unknown) => {
      if (codeOf(error) === "EEXIST") throw error;
      return copyFile(unfinished, file, constants.COPYFILE_EXCL);
    });
    await syncFolder(folder);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    await rm(unfinished, { force: true });
  }
}

/**
 * Replaces a file of this user's as a whole; `isDurable`: it survives a power loss. Synchronous, to be part
 * of a transaction.
 */
export function replaceFile(
  file: string,
  text: string,
  { isDurable }: { readonly isDurable: boolean },
): void {
  const unfinished = join(dirname(file), UNFINISHED + randomUUID());
  const handle = openSync(unfinished, "wx", OWNER_ONLY);
  try {
    writeSync(handle, text);
    if (isDurable) fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(unfinished, file);
  if (isDurable) syncFolderNow(dirname(file));
}

function syncFolderNow(path: string): void {
  try {
    const handle = openSync(path, "r");
    fsyncSync(handle);
    closeSync(handle);
  } catch {
    // Not every system lets one open a folder.
  }
}

export function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/**
 * Removes what commands that were killed left in the folder under a name with this beginning, last changed
 * before `before`.
 */
export async function removeLeftovers(folder: string, prefix: string, before = Infinity): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix)) continue;
    const path = join(folder, name);
    const changedAt = await readChangedAt(path);
    if (changedAt !== null && changedAt < before) await rm(path, { recursive: true, force: true });
  }
}

/** Null where it is gone: another process that starts beside this one finished or removed it. */
async function readChangedAt(path: string): Promise<number | null> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** Throws `conflict` where the file is there already. */
export async function assertAbsent(file: string): Promise<void> {
  if (await isThere(file))
    throw new AppError(
      "conflict",
      `${file} is there already. Choose another name, or overwrite it with --force.`,
    );
}

/** Why the system refuses something, in words. */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "the file system is read-only",
  EISDIR: "it is a folder",
  ENOENT: "its folder does not exist",
  ENOTDIR: "part of its path is a file",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk is full",
  EEXIST: "there is a file of this name",
  ELOOP: "its links lead in circles",
  EIO: "the disk reports an error",
  EMFILE: "too many files are open",
  ENAMETOOLONG: "its name is too long",
};

export function reasonOf(error: unknown): string {
  return REASONS[codeOf(error)] ?? `the system answers ${codeOf(error)}`;
}

/** Runs what writes the file; where the disk does not take it, throws `unavailable` with the reason. */
export async function explainingWrite<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const reason = REASONS[codeOf(cause)];
    if (cause instanceof AppError || reason === undefined) throw cause;
    throw new AppError("unavailable", `${file} cannot be written: ${reason}.`, { cause });
  }
}

import { randomUUID } from "node:crypto";
import { closeSync, constants, fsyncSync, openSync, renameSync, writeFileSync } from "node:fs";
import { access, copyFile, link, open, readdir, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AppError, codeOf } from "../../domain/errors.ts";

/**
 * New names in the folder survive a power loss from here on. Some systems let no program open a folder, and there
 * it does nothing.
 */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY).catch(() => null);
  if (handle === null) return;
  await using opened = handle;
  await opened.sync().catch(() => {});
}

/** Names of files that are not finished begin so. A process that is killed leaves them. */
export const UNFINISHED = ".new-";

/** Only this user may read and write it. */
const NEW_FILE = { flag: "wx", mode: 0o600 } as const;

function unfinishedBeside(file: string): string {
  return join(dirname(file), UNFINISHED + randomUUID());
}

/**
 * Writes a file, unless it is there; false then. It appears as a whole or not at all, and survives a power loss.
 * Of several processes that do this together, one makes it. Throws `unavailable` with the reason where the disk does
 * not take it.
 */
export async function createWhole(file: string, text: string): Promise<boolean> {
  const unfinished = unfinishedBeside(file);
  try {
    await writeFile(unfinished, text, { ...NEW_FILE, flush: true });
    // A file system without links gets a copy, which at least replaces nothing.
    await link(unfinished, file).catch((error: unknown) => {
      if (codeOf(error) === "EEXIST") throw error;
      return copyFile(unfinished, file, constants.COPYFILE_EXCL);
    });
    await syncFolder(dirname(file));
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw explainWrite(file, error);
  } finally {
    await rm(unfinished, { force: true });
  }
}

/**
 * Replaces a file as a whole. `isDurable`: it survives a power loss. Synchronous, so that it can be part of a
 * transaction.
 */
export function replaceFile(
  file: string,
  text: string,
  { isDurable }: { readonly isDurable: boolean },
): void {
  const unfinished = unfinishedBeside(file);
  writeFileSync(unfinished, text, { ...NEW_FILE, flush: isDurable });
  renameSync(unfinished, file);
  if (!isDurable) return;
  try {
    const folder = openSync(dirname(file), "r");
    fsyncSync(folder);
    closeSync(folder);
  } catch {
    // As in `syncFolder`.
  }
}

export function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Removes files that killed commands left in the folder: with this prefix, last changed before `before`. */
export async function removeLeftovers(folder: string, prefix: string, before = Infinity): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix)) continue;
    const path = join(folder, name);
    const changedAt = await readChangedAt(path);
    if (changedAt !== null && changedAt < before) await rm(path, { recursive: true, force: true });
  }
}

/** Null where it is gone: another process finished or removed it meanwhile. */
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

/** The system's reasons in words. */
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

/** Runs `work`, which writes the file. Throws `unavailable` with the reason where the system refuses it. */
export function explainingWrite<T>(file: string, work: () => Promise<T>): Promise<T> {
  return work().catch((cause: unknown) => {
    throw explainWrite(file, cause);
  });
}

function explainWrite(file: string, cause: unknown): unknown {
  const reason = REASONS[codeOf(cause)];
  if (cause instanceof AppError || reason === undefined) return cause;
  return new AppError("unavailable", `${file} cannot be written: ${reason}.`, { cause });
}

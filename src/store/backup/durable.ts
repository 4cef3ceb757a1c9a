import { constants } from "node:fs";
import { access, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../domain/errors.ts";

/** New names in the folder survive a power loss from here on. Not every system lets one open a folder. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY).catch(() => null);
  if (handle === null) return;
  await using opened = handle;
  await opened.sync().catch(() => {});
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
    const path = join(folder, name);
    if (name.startsWith(prefix) && (await stat(path)).mtimeMs < before)
      await rm(path, { recursive: true, force: true });
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

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "the file system is read-only",
  EISDIR: "it is a folder",
  ENOENT: "its folder does not exist",
  ENOTDIR: "part of its path is a file",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk is full",
};

/** Runs what writes the file; where the disk does not take it, throws `unavailable` with the reason. */
export async function explainingWrite<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const code =
      cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "";
    const reason = REASONS[code];
    if (cause instanceof AppError || reason === undefined) throw cause;
    throw new AppError("unavailable", `${file} cannot be written: ${reason}.`, { cause });
  }
}

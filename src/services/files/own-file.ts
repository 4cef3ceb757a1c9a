import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { resolve } from "node:path";
import { AppError } from "../../domain/errors.ts";
import { quote } from "../../domain/time.ts";

/** Without waiting for the other end of a pipe; Windows has no such flag. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "is not there",
  ENOTDIR: "is not there",
  EACCES: "may not be read by this user",
  EPERM: "may not be read by this user",
};

/**
 * Opens any file that somebody at the command line names, from where they are: they could read it as well
 * themselves. Throws `invalid` with the reason.
 */
export async function openOwnFile(path: string): Promise<FileHandle> {
  const refuse = (reason: string): AppError =>
    new AppError(
      "invalid",
      `path: the file ${quote(path)} ${reason}. Give the path of a picture, film or sound.`,
    );
  if (path === "" || path.includes("\0")) throw refuse("has no name that a file can have");
  const handle = await open(resolve(path), FLAGS).catch((error: NodeJS.ErrnoException) => {
    throw refuse(REASONS[error.code ?? ""] ?? "cannot be read");
  });
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw refuse("is no plain file");
}

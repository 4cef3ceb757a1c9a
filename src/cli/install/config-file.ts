import {
  copyFile,
  constants,
  mkdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { dirname } from "node:path";
import { AppError, codeOf } from "../../domain/errors.ts";

const OWN = 0o600;

/** A configuration file that may not be there yet. */
export interface ConfigFile {
  readonly path: string;
  /** "" where there is none. */
  readonly text: string;
  readonly exists: boolean;
}

/** The first of these that is there, else the last. Throws `unavailable` where it cannot be read. */
export async function readConfigFile(paths: readonly string[]): Promise<ConfigFile> {
  for (const path of paths) {
    const text = await readFile(path, "utf8").catch((cause: unknown) => {
      if (codeOf(cause) === "ENOENT") return null;
      throw new AppError("unavailable", `${path} cannot be read (${codeOf(cause) ?? "unknown"}).`, { cause });
    });
    if (text !== null) return { path, text, exists: true };
  }
  return { path: paths.at(-1) ?? "", text: "", exists: false };
}

/**
 * Replaces the file, whole or not at all, with the rights that it had. A link stays one. What the file was
 * before the first change stands beside it, at the path that this answers (null: there was no file), until
 * our entry is out of it again.
 */
export async function writeConfigFile(
  file: ConfigFile,
  text: string,
  { isRemoval }: { readonly isRemoval: boolean },
): Promise<string | null> {
  const path = file.exists ? await realpath(file.path) : file.path;
  const draft = `${path}.posthorn-new`;
  const backup = `${path}.before-posthorn`;
  try {
    const mode = file.exists ? (await stat(path)).mode & 0o777 : OWN;
    await mkdir(dirname(path), { recursive: true });
    if (file.exists && !isRemoval) await keepFirst(path, backup);
    await writeFile(draft, text, { mode, flush: true });
    await rename(draft, path);
    if (isRemoval) await rm(backup, { force: true });
  } catch (cause) {
    await rm(draft, { force: true });
    const reason = codeOf(cause) ?? "unknown";
    throw new AppError("unavailable", `${path} cannot be written (${reason}). It is as it was.`, { cause });
  }
  return file.exists && !isRemoval ? backup : null;
}

async function keepFirst(path: string, backup: string): Promise<void> {
  try {
    await copyFile(path, backup, constants.COPYFILE_EXCL);
  } catch (error) {
    // A second change must not take the place of what the person had.
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

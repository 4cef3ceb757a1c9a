import { copyFile, mkdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
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
 * Replaces the file, whole or not at all, with the rights that it had; what it was stands beside it, at the
 * path that this answers (null: there was none). A link stays one.
 */
export async function writeConfigFile(file: ConfigFile, text: string): Promise<string | null> {
  const path = file.exists ? await realpath(file.path) : file.path;
  const draft = `${path}.posthorn-new`;
  const backup = `${path}.before-posthorn`;
  try {
    const mode = file.exists ? (await stat(path)).mode & 0o777 : OWN;
    await mkdir(dirname(path), { recursive: true });
    if (file.exists) await copyFile(path, backup);
    await writeFile(draft, text, { mode, flush: true });
    await rename(draft, path);
  } catch (cause) {
    await rm(draft, { force: true });
    const reason = codeOf(cause) ?? "unknown";
    throw new AppError("unavailable", `${path} cannot be written (${reason}). It is as it was.`, { cause });
  }
  return file.exists ? backup : null;
}

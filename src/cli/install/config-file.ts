import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { applyEdits, modify, parse, type ParseError } from "jsonc-parser";
import { AppError, codeOf } from "../../domain/errors.ts";
import { isFields, type Fields } from "../../domain/explain-invalid.ts";
import { SERVER_NAME, type Client, type Launch } from "./clients.ts";

const OWN = 0o600;

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
    // Windows marks some files as UTF-8 by a character that is no JSON.
    if (text !== null) return { path, text: text.replace(/^\ufeff/, ""), exists: true };
  }
  return { path: paths.at(-1) ?? "", text: "", exists: false };
}

/** Posthorn's entry in JSON with or without comments; null where there is none. Throws `invalid`. */
function findEntry({ section, title }: Client, text: string): Fields | null {
  const errors: ParseError[] = [];
  const config: unknown = text.trim() === "" ? {} : parse(text, errors, { allowTrailingComma: true });
  const servers = isFields(config) ? (config[section] ?? {}) : null;
  if (errors.length > 0 || !isFields(servers))
    throw new AppError(
      "invalid",
      `The configuration of ${title} cannot be read, and was left as it is. It must be a JSON object whose "${section}" is an object. Mend it and try again.`,
    );
  const entry = servers[SERVER_NAME];
  return isFields(entry) ? entry : null;
}

export function hasPosthorn(client: Client, text: string): boolean {
  if (client.name === "codex") return text.includes(`[${client.section}.${SERVER_NAME}]`);
  try {
    return findEntry(client, text) !== null;
  } catch {
    return false;
  }
}

/** The text with Posthorn's entry, or without it (null). All else stays. Throws `invalid` for a bad text. */
export function planEntry(client: Client, text: string, launch: Launch | null): string {
  const before = findEntry(client, text);
  if (launch === null) return before === null ? text : edit(text, [client.section, SERVER_NAME], undefined);
  const fields = Object.entries(client.entry(launch)).map(([key, value]) => {
    const old = before?.[key];
    return [key, isFields(old) && isFields(value) ? { ...old, ...value } : value] as const;
  });
  if (before === null) return edit(text, [client.section, SERVER_NAME], Object.fromEntries(fields));
  return fields
    .filter(([key, value]) => JSON.stringify(before[key]) !== JSON.stringify(value))
    .reduce((now, [key, value]) => edit(now, [client.section, SERVER_NAME, key], value), text);
}

function edit(text: string, path: string[], value: unknown): string {
  const [, indent = "  "] = /^([ \t]+)"/m.exec(text) ?? [];
  const formattingOptions = {
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.length,
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
  return applyEdits(text, modify(text, path, value, { formattingOptions }));
}

/** Where the file as it was before the first change is kept. */
export function backupOf({ path }: ConfigFile): string {
  return `${path}.before-posthorn`;
}

/** Replaces the file, whole or not at all, with the rights that it had. A link stays one. */
export async function writeConfigFile(file: ConfigFile, text: string): Promise<void> {
  const path = file.exists ? await realpath(file.path) : file.path;
  const draft = `${path}.posthorn-new`;
  try {
    const mode = file.exists ? (await stat(path)).mode & 0o777 : OWN;
    await mkdir(dirname(path), { recursive: true });
    // A second change must not take the place of what the person had.
    if (file.exists && !existsSync(backupOf(file))) await copyFile(path, backupOf(file));
    await writeFile(draft, text, { mode, flush: true });
    await rename(draft, path);
  } catch (cause) {
    await rm(draft, { force: true });
    const reason = codeOf(cause) ?? "unknown";
    throw new AppError("unavailable", `${path} cannot be written (${reason}). It is as it was.`, { cause });
  }
}

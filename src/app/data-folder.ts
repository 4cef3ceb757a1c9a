import envPaths from "env-paths";
import { randomBytes } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { platform } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseEnv } from "node:util";
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { SettingsFile } from "./config.ts";
import { assertTrusted } from "./settings.ts";
import { AppError, codeOf } from "../domain/errors.ts";
import { makeDataPath, tryDataPath } from "../store/backup/data-path.ts";
import { createWhole, reasonOf } from "../store/backup/durable.ts";
import { takeFolder } from "../store/local/locks.ts";

/** Where this installation keeps what it must not forget. */
export type DataFolder = Readonly<ReturnType<typeof layOut>>;

/** Variables as a process has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

const SECRET_KEY_BYTES = 32;
const OTHERS = 0o077;
const SETTINGS = "posthorn.env";

/**
 * The folder of the program itself: the checkout, or the installed package. Built, this file is somewhere
 * else in it.
 */
export const PROGRAM_ROOT = findPackage(dirname(fileURLToPath(import.meta.url)));

function findPackage(folder: string): string {
  return existsSync(join(folder, "package.json")) || dirname(folder) === folder
    ? folder
    : findPackage(dirname(folder));
}

/**
 * `POSTHORN_DATA_DIR`, in a checkout its `data/`, else the user's data folder of the operating system. A
 * published package has no `src/`, which tells it from a checkout.
 */
export function locateDataFolder(env: Environment): string {
  const given = env["POSTHORN_DATA_DIR"];
  if (given !== undefined && given !== "") return resolve(given);
  if (existsSync(join(PROGRAM_ROOT, "src", "main.ts"))) return join(PROGRAM_ROOT, "data");
  return envPaths("posthorn", { suffix: "" }).data;
}

/** Makes the folder, for this user only, where it is missing. Throws `unavailable` where it cannot be used. */
export async function openDataFolder(path: string): Promise<DataFolder> {
  await makeDataPath(path);
  return layOut(path);
}

/** As `openDataFolder`, and leaves a folder that is missing to the first start. */
export async function foreseeDataFolder(path: string): Promise<DataFolder> {
  if (existsSync(path)) return openDataFolder(path);
  await tryDataPath(path);
  return layOut(path);
}

function layOut(path: string) {
  return {
    path,
    /** SQLite's. Whether the folder has a database is asked of `findOwnDatabase`. */
    database: join(path, SQLITE_FILE),
    /** Where a person wrote one. */
    settings: join(path, SETTINGS),
    files: join(path, "files"),
    /** Remote media of posts that are being worked on. */
    spool: join(path, "spool"),
    /** Where resumable uploads grow. */
    uploads: join(path, "uploads"),
    locks: join(path, "locks"),
    /** The first key, for scripts on this machine. */
    apiKeyFile: join(path, "api.key"),
    secretKey: join(path, "secret.key"),
    /** The key that is about to take the place of `secretKey`. */
    nextSecretKey: join(path, "secret.key.next"),
    /** How far the database has come, for noticing an older copy (`src/store/backup/restore-epoch.ts`). */
    epoch: join(path, "generation"),
    /** There once its database went to a PostgreSQL: nothing starts on the folder's own any more. */
    moved: join(path, "moved-to-postgresql"),
  };
}

const SQLITE_FILE = "posthorn.db";
/** Where engines keep a database in a data folder: a file, or a folder of files. */
const DATABASES: readonly string[] = [SQLITE_FILE];

/** The folder's own database, whichever engine made it. `isEmpty`: nothing was written yet, as where there is none. */
export function findOwnDatabase({ path }: Pick<DataFolder, "path">): {
  readonly place: string | null;
  readonly isEmpty: boolean;
} {
  const places = DATABASES.map((name) => join(path, name)).filter((place) => existsSync(place));
  const full = places.find((place) => !isEmpty(place));
  return { place: full ?? places[0] ?? null, isEmpty: full === undefined };
}

function isEmpty(place: string): boolean {
  const isFolder = statSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return isFolder ? readdirSync(place).length === 0 : sizeOf(place) === 0;
}

/** What is set, and what is to be said of the file that some of it stands in. */
export interface EnvironmentReading {
  readonly env: Environment;
  readonly file: SettingsFile;
}

/** The environment with `posthorn.env` of the folder beneath it; what the environment says wins. */
export async function readEnvironment(path: string, env: Environment): Promise<EnvironmentReading> {
  const file = join(path, SETTINGS);
  const text = await readIfThere(file);
  if (text === null) return { env, file: { problems: [], names: [] } };
  const given = readSettingsText(file, text, env);
  assertTrusted(file, await stat(file), given.file.names);
  return given;
}

/** The same for the text of such a file. */
export function readSettingsText(file: string, text: string, env: Environment): EnvironmentReading {
  const { good, problems } = checkEnvLines(text);
  const stored: Environment = parseEnv(good);
  if (stored["POSTHORN_DATA_DIR"] !== undefined) {
    throw new AppError(
      "invalid",
      `${file}: POSTHORN_DATA_DIR cannot stand in a file of the data folder. Set it in the environment.`,
    );
  }
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ""),
  );
  return {
    env: { ...stored, ...given },
    file: { problems: problems.map((one) => `posthorn.env, ${one}`), names: Object.keys(stored) },
  };
}

/** Where part of the path is a file, nothing is there either; making the folder says so in better words. */
const ABSENT: readonly string[] = ["ENOENT", "ENOTDIR"];

/** Null where it is not there. Throws `unavailable` where it cannot be read. */
export async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    if (ABSENT.includes(codeOf(cause))) return null;
    const reason = ["EACCES", "EPERM"].includes(codeOf(cause))
      ? "this user may not read it"
      : reasonOf(cause);
    throw new AppError("unavailable", `${file} cannot be read: ${reason}.`, { cause });
  }
}

/**
 * The key that seals every stored token; made at the first start. Throws `unavailable` where others could
 * read it: then it may be known already; and where it is gone, for no other opens the database.
 */
export async function readSecretKey(folder: DataFolder): Promise<Buffer> {
  // In this order: a process that starts for the first time at this moment makes the key before the mark.
  if (existsSync(folder.epoch) && !findOwnDatabase(folder).isEmpty && !existsSync(folder.secretKey))
    throw new AppError(
      "unavailable",
      `${folder.secretKey} is missing. Only this key opens the tokens in the database. Put your copy of it back: backups of Posthorn do not hold it. Without a copy, move ${folder.path} away, start anew and connect your channels again.`,
    );
  if (existsSync(folder.secretKey) && sizeOf(folder.secretKey) === 0) removeEmptyKey(folder);
  if (!existsSync(folder.secretKey)) await createWhole(folder.secretKey, newSecretKey().text);
  return readKey(folder.secretKey);
}

/** A key, and what its file holds. */
export function newSecretKey(): { readonly key: Buffer; readonly text: string } {
  const key = randomBytes(SECRET_KEY_BYTES);
  return { key, text: `${key.toString("hex")}\n` };
}

/**
 * A process that was killed before it wrote its key left an empty file; nothing is sealed yet. Alone in the
 * folder, because another one may have made a good key in its place since.
 */
function removeEmptyKey(folder: DataFolder): void {
  try {
    const lock = takeFolder(folder.locks);
    if (findOwnDatabase(folder).isEmpty && sizeOf(folder.secretKey) === 0)
      rmSync(folder.secretKey, { force: true });
    lock.release();
  } catch (error) {
    // Another process starts here, too, and does the same.
    if (!(error instanceof AppError) || error.kind !== "conflict") throw error;
  }
}

/** In bytes; 0 where there is no such file. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** The same for a key that must be there already; null where it is not. */
export async function findSecretKey(file: string): Promise<Buffer | null> {
  return (await readIfThere(file)) === null ? null : readKey(file);
}

/**
 * The key in a file that the settings name. Containers mount files of another user, which this one can read
 * only if others can: `assertTrusted` allows for that.
 */
export async function readKeyFile(file: string): Promise<Buffer> {
  if ((await readIfThere(file)) === null)
    throw new AppError("unavailable", `POSTHORN_SECRET_KEY_FILE: ${file} is not there. Put it there.`);
  const key = await readWhole(file);
  assertTrusted(file, await stat(file), ["POSTHORN_SECRET_KEY"]);
  return key;
}

async function readKey(file: string): Promise<Buffer> {
  const key = await readWhole(file);
  await assertPrivate(file);
  return key;
}

async function assertPrivate(file: string): Promise<void> {
  // Windows has no such bits; there the user's own folder protects it.
  if (platform() === "win32") return;
  const { mode } = await stat(file);
  if ((mode & OTHERS) === 0) return;
  throw new AppError(
    "unavailable",
    `Other users of this machine can read ${file}, which opens every stored token. Run: chmod 600 ${file} (and connect your channels anew if another user may have read it).`,
  );
}

const READ_TRIES = 20;

/** The process that has just created the key may not have written it yet. */
async function readWhole(file: string): Promise<Buffer> {
  for (let tries = 0; tries < READ_TRIES; tries += 1) {
    const key = Buffer.from((await readIfThere(file))?.trim() ?? "", "hex");
    if (key.length === SECRET_KEY_BYTES) return key;
    await delay(50);
  }
  throw new AppError(
    "unavailable",
    `${file} is damaged: it must hold ${2 * SECRET_KEY_BYTES} hexadecimal digits. Put your own copy of it back. Without it the stored tokens cannot be read.`,
  );
}

const LINE = /^\s*(?:export\s+)?[A-Z][A-Z0-9_]*\s*=(.*)$/;
const EMPTY = /^\s*(#|$)/;

/**
 * The lines of a file of settings that can be read, and what is wrong with the others, by their numbers: what
 * stands in them may be a secret. Node's own reader takes a line without `=` for the beginning of the next
 * one's name.
 */
function checkEnvLines(text: string): { readonly good: string; readonly problems: readonly string[] } {
  const good: string[] = [];
  const problems: string[] = [];
  let open: { readonly quote: string; readonly line: number } | null = null;
  for (const [at, line] of text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .entries()) {
    const value: string | undefined = open === null ? LINE.exec(line)?.[1]?.trimStart() : undefined;
    if (open !== null) {
      if (line.includes(open.quote)) open = null;
    } else if (value !== undefined) {
      const quote: string | undefined = /^["'`]/.exec(value)?.[0];
      if (quote !== undefined && !value.slice(1).includes(quote)) open = { quote, line: at + 1 };
    } else if (!EMPTY.test(line)) {
      problems.push(`line ${at + 1}: must be NAME=value, the name in capital letters`);
      continue;
    }
    good.push(line);
  }
  if (open !== null) problems.push(`line ${open.line}: the quote ${open.quote} is never closed`);
  return { good: good.join("\n"), problems };
}

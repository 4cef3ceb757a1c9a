import { randomBytes } from "node:crypto";
import { access, constants, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { platform } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseEnv } from "node:util";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import envPaths from "env-paths";
import { AppError } from "../domain/errors.ts";
import { syncFolder } from "../store/backup/durable.ts";

/** Where this installation keeps what it must not forget. */
export interface DataFolder {
  readonly path: string;
  readonly database: string;
  readonly files: string;
  /** Remote media of posts that are being worked on. */
  readonly spool: string;
  /** Where resumable uploads grow. */
  readonly uploads: string;
  readonly locks: string;
  /** The first key, for scripts on this machine. */
  readonly apiKeyFile: string;
  readonly secretKey: string;
  /** The key that is about to take the place of `secretKey`. */
  readonly nextSecretKey: string;
  /** How far the database has come, for noticing an older copy (`src/store/backup/generation.ts`). */
  readonly generation: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const SECRET_KEY_BYTES = 32;
const OWNER_ONLY = 0o600;
const OTHERS = 0o077;

/**
 * The folder of the program itself: the checkout, or the installed package. Built, this file is somewhere
 * else in it.
 */
const PROGRAM_ROOT = findPackage(dirname(fileURLToPath(import.meta.url)));

function findPackage(folder: string): string {
  return existsSync(join(folder, "package.json")) || dirname(folder) === folder
    ? folder
    : findPackage(dirname(folder));
}

/**
 * The data folder's place: `POSTHORN_DATA_DIR`, in a checkout its `data/`, else the user's data folder of the
 * operating system. A published package has no `src/`, which tells it from a checkout.
 */
export function locateDataFolder(env: Environment): string {
  const given = env["POSTHORN_DATA_DIR"];
  if (given !== undefined && given !== "") return resolve(given);
  if (existsSync(join(PROGRAM_ROOT, "src", "main.ts"))) return join(PROGRAM_ROOT, "data");
  return envPaths("posthorn", { suffix: "" }).data;
}

/**
 * Creates the folder, readable by this user alone, where it is missing. Throws `unavailable` where it cannot
 * be used.
 */
export async function openDataFolder(path: string): Promise<DataFolder> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new AppError(
      "unavailable",
      `The data folder ${path} cannot be used: ${reasonOf(cause)}. ${WAY_OUT}`,
      { cause },
    );
  }
  return {
    path,
    database: join(path, "posthorn.db"),
    files: join(path, "files"),
    spool: join(path, "spool"),
    uploads: join(path, "uploads"),
    locks: join(path, "locks"),
    apiKeyFile: join(path, "api.key"),
    secretKey: join(path, "secret.key"),
    nextSecretKey: join(path, "secret.key.next"),
    generation: join(path, "generation"),
  };
}

const WAY_OUT = "Make it writable for this user, or point POSTHORN_DATA_DIR at another folder.";

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "the file system is read-only",
  ENOTDIR: "part of its path is a file",
  EEXIST: "there is a file of this name",
  ENOSPC: "the disk is full",
  ENOENT: "part of its path does not exist",
};

function reasonOf(error: unknown): string {
  return REASONS[codeOf(error)] ?? `the system answers ${codeOf(error)}`;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "UNKNOWN";
}

/** The environment with `posthorn.env` of the folder beneath it; what the environment says wins. */
export async function readEnvironment(path: string, env: Environment): Promise<Environment> {
  const file = join(path, "posthorn.env");
  const text = await readIfThere(file);
  if (text === null) return env;
  const stored: Environment = parseEnv(text);
  if (stored["POSTHORN_DATA_DIR"] !== undefined) {
    throw new AppError(
      "invalid",
      `${file}: POSTHORN_DATA_DIR cannot stand in a file of the data folder. Set it in the environment.`,
    );
  }
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ""),
  );
  return { ...stored, ...given };
}

/** Where part of the path is a file, nothing is there either; making the folder says so in better words. */
const ABSENT: readonly string[] = ["ENOENT", "ENOTDIR"];

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    if (ABSENT.includes(codeOf(cause))) return null;
    throw new AppError("unavailable", `${file} cannot be read: ${reasonOf(cause)}.`, { cause });
  }
}

/**
 * The key that seals every stored token; made at the first start. Throws `unavailable` where others could
 * read it: then it may be known already.
 */
export async function readSecretKey(folder: DataFolder): Promise<Buffer> {
  if (!existsSync(folder.secretKey))
    await createOnce(folder.secretKey, `${randomBytes(SECRET_KEY_BYTES).toString("hex")}\n`);
  return readKey(folder.secretKey);
}

/** The same for a key that must be there already; null where it is not. */
export async function findSecretKey(file: string): Promise<Buffer | null> {
  return (await readIfThere(file)) === null ? null : readKey(file);
}

async function readKey(file: string): Promise<Buffer> {
  await assertPrivate(file);
  return readWhole(file);
}

/** Makes the key that is to take the place of the present one, durably. */
export async function makeNextSecretKey(folder: DataFolder): Promise<Buffer> {
  // What an earlier try left was never used: the database opens with the present key.
  await rm(folder.nextSecretKey, { force: true });
  const key = randomBytes(SECRET_KEY_BYTES);
  await createOnce(folder.nextSecretKey, `${key.toString("hex")}\n`);
  await syncFolder(folder.path);
  return key;
}

/** Puts the next key in the place of the present one; does nothing where another process has just done it. */
export async function promoteNextSecretKey(folder: DataFolder): Promise<void> {
  await rename(folder.nextSecretKey, folder.secretKey).catch((error: unknown) => {
    if (codeOf(error) !== "ENOENT") throw error;
  });
  await syncFolder(folder.path);
}

/** Writes the file unless it is there; false then. Two processes that start together make one. */
export async function createOnce(file: string, text: string): Promise<boolean> {
  try {
    const handle = await open(file, "wx", OWNER_ONLY);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    return true;
  } catch (cause) {
    if (codeOf(cause) === "EEXIST") return false;
    throw new AppError("unavailable", `${file} cannot be written: ${reasonOf(cause)}. ${WAY_OUT}`, { cause });
  }
}

async function assertPrivate(file: string): Promise<void> {
  // Windows has no such bits; there the user's own folder protects it.
  if (platform() === "win32") return;
  const { mode } = await stat(file);
  if ((mode & OTHERS) === 0) return;
  throw new AppError(
    "unavailable",
    `Other users of this machine can read ${file}, which opens every stored token. Run: chmod 600 ${file} (and connect your channels anew if somebody else may have read it).`,
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
    `${file} is damaged: it must hold ${2 * SECRET_KEY_BYTES} hexadecimal digits. Restore it from your backup; without it the stored tokens cannot be read.`,
  );
}

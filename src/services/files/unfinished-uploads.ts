import { existsSync, mkdirSync, rmSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { newId } from "../../domain/ids.ts";
import { takeFileLock } from "../../store/sqlite/file-lock.ts";
import { allFilesOf, findFileRow } from "../../store/tables/files/files.ts";
import type { AppContext } from "../context.ts";

/** Where resumable uploads grow, and where the locks on them lie: both are on this machine. */
export interface UploadFolder {
  readonly folder: string;
  readonly locks: string;
}

/**
 * What a part is called, begins with the marks of its owner and its API key, which older ones lack; what is
 * known of it lies beside it.
 */
const NAME = /^[0-9a-f]{16}-(?:[0-9a-f]{8}-)?[0-9a-f]{32}$/;
const NOTE = ".json";

export function isUploadName(name: string): boolean {
  return NAME.test(name);
}

/**
 * The right to an upload, for one request of one process. Answers the function that gives it back; null where
 * somebody has it.
 */
export function lockUpload({ folder, locks }: UploadFolder, name: string): (() => void) | null {
  mkdirSync(locks, { recursive: true, mode: 0o700 });
  const file = join(locks, `upload-${name}.lock`);
  const release = takeFileLock(file);
  if (release === null) return null;
  return () => {
    // Only with the upload itself: otherwise two could have a lock of this name. Names are never used again.
    const isOver = !existsSync(join(folder, name));
    release();
    if (isOver) rmSync(file, { force: true });
  };
}

interface Part {
  readonly name: string;
  readonly changedAt: number;
}

/** Those in which nothing has come for longest stand first. */
export async function listParts(folder: string): Promise<Part[]> {
  const names = (await readdir(folder).catch(() => [])).filter(isUploadName);
  const parts = await Promise.all(
    names.map(async (name) => {
      const stats = await stat(join(folder, name)).catch(() => null);
      return stats === null ? [] : [{ name, changedAt: stats.mtimeMs }];
    }),
  );
  return parts.flat().toSorted((a, b) => a.changedAt - b.changedAt);
}

/** Removes an upload that nobody is at. False: somebody is. */
export async function removePart(at: UploadFolder, name: string): Promise<boolean> {
  const release = lockUpload(at, name);
  if (release === null) return false;
  try {
    await rm(join(at.folder, name), { force: true });
    await rm(join(at.folder, `${name}${NOTE}`), { force: true });
    return true;
  } finally {
    release();
  }
}

// Crockford's digits, in which ids are written: https://github.com/ulid/spec#encoding.
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
const ID_CHARS = 26;
const NAME_CHARS = 32;

/**
 * An upload is named after the record that it is to become, so that it becomes one, whichever process stores
 * it and however often that is tried.
 */
export function newUploadName(mark: string): string {
  const id = newId("file").slice("file_".length);
  const number = [...id].reduce((sum, digit) => sum * 32n + BigInt(DIGITS.indexOf(digit)), 0n);
  return `${mark}-${number.toString(16).padStart(NAME_CHARS, "0")}`;
}

export function fileIdOf(uploadName: string): string {
  let number = BigInt(`0x${uploadName.slice(-NAME_CHARS)}`);
  let id = "";
  for (; id.length < ID_CHARS; number /= 32n) id = DIGITS.charAt(Number(number % 32n)) + id;
  return `file_${id}`;
}

/** What an upload became; null where it has not become a file yet, or that was deleted. */
export async function findStored(
  ctx: AppContext,
  ownerId: string,
  uploadName: string,
): Promise<{ fileId: string; sizeBytes: number } | null> {
  const row = await findFileRow(ctx.store, allFilesOf(ownerId), fileIdOf(uploadName));
  return row?.status === "ready" ? { fileId: row.id, sizeBytes: row.size_bytes } : null;
}

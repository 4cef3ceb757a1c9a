import type { Readable } from "node:stream";
import { say } from "../domain/sentences.ts";
import { AppError } from "../domain/errors.ts";
import { quote } from "../domain/text/plain-text.ts";

export interface WriteOptions {
  readonly signal?: AbortSignal;
  /** What was announced, where that is known: what cannot fit is refused before anything is written. */
  readonly sizeBytes?: number | null;
}

/**
 * Bytes by key: the folder `files/` or a bucket. Keys match `^[a-z0-9][a-z0-9/_.-]*$` without `..` or `//`
 * (anything else: `AppError` `invalid`).
 */
export interface FileStore {
  /** Shows whole files only. Throws `unavailable` where it cannot be stored now (`DiskFull`: no space). */
  write(key: string, body: Readable, options?: WriteOptions): Promise<{ sizeBytes: number; sha256: string }>;
  /** As `write`, for a new key. Throws `conflict` where something is under it, and leaves that as it was. */
  create(key: string, body: Readable, options?: WriteOptions): Promise<{ sizeBytes: number; sha256: string }>;
  /** Size in bytes; null where there is nothing under the key. */
  size(key: string): Promise<number | null>;
  /** A stream over the bytes `start` to `end`, inclusive; throws `not_found`. */
  read(key: string, range?: { start?: number; end?: number }): Readable;
  /** Where the file lies on this machine, for programs that read it in place. Null: it is not there, or elsewhere. */
  locate(key: string): Promise<string | null>;
  remove(key: string): Promise<void>;
  /** A secret address at which the store itself gives the bytes for `lastsMs`. Null: it has none. */
  temporaryUrl(
    key: string,
    options: { readonly lastsMs: number; readonly mimeType: string },
  ): Promise<string | null>;
}

const KEY = /^[a-z0-9][a-z0-9/_.-]{0,255}$/;

/** Throws `invalid` for a key that could name anything but a file of the store. */
export function assertKey(key: string): void {
  const parts = key.split("/");
  if (KEY.test(key) && parts.every((part) => part !== "" && !part.startsWith(".") && !part.endsWith(".")))
    return;
  throw new AppError(
    "invalid",
    say(`r2://${quote(key).slice(1, -1)} is not an address of a stored file.`, {
      next: [{ do: "list", of: "files" }],
    }),
  );
}

import { hash } from "node:crypto";
import { say } from "../domain/sentences.ts";
import { Readable } from "node:stream";
import { ulid } from "ulid";
import { AppError } from "../domain/errors.ts";
import { cleanFileName, type File, nameInAddress, type UploadFileArgs } from "../domain/files/file.ts";
import { newId } from "../domain/ids.ts";
import { DAY, toIso, MINUTE, SECOND } from "../domain/time.ts";
import type { MediaFormat } from "../ports/media-probe.ts";
import {
  completeFileRow,
  deleteFileRow,
  type FileRow,
  findSignedFile,
  insertFileRow,
  noteStorageKey,
  takeAbandonedUploads,
  TAKEN_IN,
  takeUnfinishedUpload,
} from "../store/queries/files.ts";
import { commitOnce } from "../access/idempotency.ts";
import type { AppContext, CallContext, GuestCall } from "../context.ts";
import { checkSigned, createDownloadUrl, createUploadUrl, type SignedParts, toFile } from "./files.ts";
import { toBuffer } from "../domain/to-buffer.ts";
import { basename } from "node:path";
import { DiskFull } from "../ports/disk-space.ts";
import { OutboundFailure, type OutboundResponse } from "../ports/outbound.ts";
import { openLocalFile, openOwnFile, withHome } from "./local-file.ts";
import { declaredBytes, problemOfAnswer } from "../domain/files/media-limits.ts";

/** Uploads that were begun and never finished are forgotten after this. */
const ABANDONED_MS = DAY;

/** What the record says until the content is known. */
const UNKNOWN_TYPE = "application/octet-stream";

export interface Upload {
  readonly name: string | null;
  readonly body: Readable;
  readonly altText: string | null;
  /** What was announced; what has no room on the disk is refused before it comes. Default: not known. */
  readonly sizeBytes?: number | null;
  /** The record's id, where it was given out before; a leftover of an earlier try gives way. Default: new. */
  readonly fileId?: string;
  /** Taken in for a draft; see `TAKEN_IN`. Default: false. */
  readonly isTakenIn?: boolean;
}

/** Streams a file into the store; one that breaks off, is too large or is no media leaves nothing behind. */
export async function storeUpload(call: CallContext, upload: Upload): Promise<{ file: File }> {
  const { ctx, caller } = call;
  await forgetAbandoned(ctx, caller.ownerId);
  const { format, whole } = await begin(ctx, upload.body, upload.name);
  const { name, altText } = upload;
  const key = newKey(caller.ownerId, format, upload.isTakenIn === true ? TAKEN_IN : "");
  const made = newRow(call, { key, name, altText });
  const row = { ...made, id: upload.fileId ?? made.id };
  const named = { ...row, name: cleanFileName(name, format.extension) };
  const leftover = await ctx.store.write(async (tx) => {
    const found = upload.fileId === undefined ? null : await takeUnfinishedUpload(tx, row);
    await insertFileRow(tx, named);
    return found;
  });
  try {
    if (leftover !== null) await ctx.files.remove(leftover.storage_key);
    return await receive(call, row, { format, whole, sizeBytes: upload.sizeBytes ?? null });
  } catch (error) {
    await ctx.store.write((tx) => deleteFileRow(tx, row.owner_id, row.id));
    throw error;
  }
}

/** A signed address for one upload, for clients that cannot send the file through the call itself. */
export async function createUploadLink(
  call: CallContext,
  file: { name: string | null; altText: string | null },
): Promise<{ uploadUrl: string; method: "PUT"; headers: Record<string, string>; expiresAt: string }> {
  const { ctx, caller } = call;
  await forgetAbandoned(ctx, caller.ownerId);
  const row = newRow(call, { key: `pending/${ulid().toLowerCase()}`, ...file });
  const { url, expiresAt } = await createUploadUrl(ctx, row.id);
  return commitOnce(call, async (tx) => {
    await insertFileRow(tx, row);
    return {
      uploadUrl: url,
      method: "PUT",
      headers: { "Content-Type": UNKNOWN_TYPE },
      expiresAt: toIso(expiresAt),
    };
  });
}

/**
 * Takes what is sent to a signed address. It works once; an upload that broke off may be sent again until its
 * time is over.
 */
export async function receiveLinkedUpload(
  call: GuestCall,
  { body, sizeBytes, ...parts }: SignedParts & Pick<Upload, "body" | "sizeBytes">,
): Promise<{ file: File }> {
  const { ctx } = call;
  checkSigned(ctx, "upload", parts);
  const row = await findSignedFile(ctx.store, parts.id);
  if (row === null) throw new AppError("not_found", "The file that this address was made for was deleted.");
  if (row.status !== "uploading") throw alreadyUsed(row.id);
  const { format, whole } = await begin(ctx, body, row.name);
  const pending = { ...row, storage_key: newKey(row.owner_id, format) };
  const file = { ownerId: row.owner_id, id: row.id };
  await ctx.store.write((tx) => noteStorageKey(tx, file, pending.storage_key));
  return receive(call, pending, { format, whole, sizeBytes: sizeBytes ?? null });
}

function alreadyUsed(id: string): AppError {
  return new AppError(
    "conflict",
    say(`This address was used already, for the file ${id}.`, { next: [{ do: "upload" }] }),
  );
}

/** Stores the bytes under the row's key, then what they are in the row. */
async function receive(
  call: GuestCall,
  row: FileRow,
  content: { format: MediaFormat; whole: Readable; sizeBytes: number | null },
): Promise<{ file: File }> {
  const { ctx } = call;
  const { signal } = call;
  const key = row.storage_key;
  // Nothing to take back when this fails: the store leaves nothing behind, and what is there already is
  // another's.
  const written = await ctx.files.create(key, content.whole, { signal, sizeBytes: content.sizeBytes });
  try {
    const { sizeBytes } = written;
    const facts = await ctx.probe.inspect({ sizeBytes, read: (range) => ctx.files.read(key, range) }, signal);
    const columns = {
      mime_type: facts.mimeType,
      type: facts.type,
      width: facts.width,
      height: facts.height,
      duration_seconds: facts.durationSeconds,
      pages: facts.pages,
      video_codec: facts.videoCodec,
      frames_per_second: facts.framesPerSecond ?? null,
      audio_codec: facts.audioCodec,
      is_animated: facts.isAnimated ? 1 : 0,
      storage_key: key,
      name: cleanFileName(row.name, endingOf(facts.mimeType, content.format)),
      size_bytes: sizeBytes,
      sha256: written.sha256,
      updated_at: ctx.clock.now(),
    };
    const file = { ownerId: row.owner_id, id: row.id };
    const downloadUrl = await createDownloadUrl(ctx, row.id);
    const answer = await commitOnce(call, async (tx) => {
      const done = await completeFileRow(tx, file, columns);
      if (done === null) throw alreadyUsed(row.id);
      return { file: toFile(done, downloadUrl) };
    });
    ctx.log.info({ fileId: row.id, type: facts.type, sizeBytes }, "A file was stored");
    return answer;
  } catch (error) {
    await ctx.files.remove(key);
    throw error;
  }
}

/** What stood behind a long tag is known only now. */
function endingOf(mimeType: string, { extension }: MediaFormat): string {
  return /^audio\/(flac|aac)$/.exec(mimeType)?.[1] ?? extension;
}

/** Owners are not told apart by reading a key, and two of them never share a folder. */
function newKey(ownerId: string, format: MediaFormat, within = ""): string {
  const folder = hash("sha256", ownerId).slice(0, 16);
  return `${folder}/${within}${ulid().toLowerCase()}.${format.extension}`;
}

function newRow(
  { ctx, caller }: CallContext,
  file: { key: string; name: string | null; altText: string | null },
): FileRow {
  const now = ctx.clock.now();
  return {
    id: newId("file"),
    owner_id: caller.ownerId,
    key_id: caller.keyId,
    storage_key: file.key,
    name: file.name ?? "file",
    mime_type: UNKNOWN_TYPE,
    type: "other",
    size_bytes: 0,
    width: null,
    height: null,
    duration_seconds: null,
    pages: null,
    video_codec: null,
    frames_per_second: null,
    audio_codec: null,
    is_animated: 0,
    sha256: null,
    alt_text: file.altText,
    status: "uploading",
    created_at: now,
    updated_at: now,
  };
}

async function forgetAbandoned(ctx: AppContext, ownerId: string): Promise<void> {
  const before = ctx.clock.now() - ABANDONED_MS;
  for (const row of await ctx.store.write((tx) => takeAbandonedUploads(tx, ownerId, before))) {
    await ctx.files.remove(row.storage_key);
  }
}

/** Larger files are refused, on whatever way they come. */
export const MAX_FILE_BYTES = 4 * 1024 ** 3;

/** Looks at the beginning: what is no media is refused before anything of it is stored. */
export async function begin(
  ctx: AppContext,
  body: Readable,
  name: string | null,
): Promise<{ format: MediaFormat; whole: Readable }> {
  try {
    const { head, whole } = await peek(body, ctx.probe.headBytes);
    if (head.length === 0) throw new AppError("invalid", "The file is empty. Give one with content.");
    return { format: await ctx.probe.identify(head, name), whole };
  } catch (error) {
    body.destroy();
    throw error;
  }
}

async function peek(body: Readable, bytes: number): Promise<{ head: Buffer; whole: Readable }> {
  const chunks: Buffer[] = [];
  let size = 0;
  const iterator: AsyncIterator<unknown> = body[Symbol.asyncIterator]();
  while (size < bytes) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    chunks.push(toBuffer(value));
    size += chunks.at(-1)?.length ?? 0;
  }
  const head = Buffer.concat(chunks);
  const whole = Readable.from(limited(head, iterator), { objectMode: false });
  // A stream that was never read does not end what it reads from.
  whole.once("close", () => body.destroy());
  return { head, whole };
}

/** What was looked at and the rest of it, up to the largest size. */
async function* limited(head: Buffer, rest: AsyncIterator<unknown>): AsyncGenerator<Buffer> {
  try {
    let sizeBytes = head.length;
    yield head;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
      const chunk = toBuffer(next.value);
      sizeBytes += chunk.length;
      if (sizeBytes > MAX_FILE_BYTES) throw fileTooLarge();
      yield chunk;
    }
  } finally {
    await rest.return?.();
  }
}

export function fileTooLarge(): AppError {
  return new AppError("too_large", `The file is larger than ${MAX_FILE_BYTES} bytes. Give a smaller one.`);
}

const IMPORT_TIMEOUT_MS = 30 * MINUTE;
const IMPORT_IDLE_MS = 30 * SECOND;
const HEADERS_MS = 30 * SECOND;
const MAX_REDIRECTS = 3;

/** A client that asked for progress hears of it after so many bytes, or more of a large file. */
const PROGRESS_BYTES = 256 * 1024;
const PROGRESS_SHARE = 0.01;

/** Imports an address, reads a file of this machine, or gives an address to upload to. */
export async function uploadFile(
  call: CallContext,
  args: UploadFileArgs,
): Promise<{ file: File } | Awaited<ReturnType<typeof createUploadLink>>> {
  if (args.url !== undefined && args.path !== undefined)
    throw new AppError("invalid", "path: cannot be given together with url. Give one.");
  if (args.url !== undefined) return importFile(call, { ...args, url: args.url });
  if (args.path !== undefined) return readLocalFile(call, { ...args, path: args.path });
  return createUploadLink(call, { name: args.name ?? null, altText: args.altText ?? null });
}

/** Fetches a file through the outbound client into the store. */
export async function importFile(
  call: CallContext,
  args: UploadFileArgs & { readonly url: string; readonly isTakenIn?: boolean },
): Promise<{ file: File }> {
  const { ctx, signal } = call;
  const { href: url } = ctx.outbound.assertAllowed("url", args.url);
  const limits = { timeoutMs: IMPORT_TIMEOUT_MS, headersMs: HEADERS_MS, idleMs: IMPORT_IDLE_MS };
  const request = { method: "GET", url, ...limits, maxRedirects: MAX_REDIRECTS, signal } as const;
  try {
    const answer = await ctx.outbound.request(request);
    const problem = problemOfAnswer(answer, MAX_FILE_BYTES);
    if (problem !== null) {
      answer.body.destroy();
      throw new AppError(problem.isLasting ? "invalid" : "unavailable", `${problem.reason}.`);
    }
    return await storeUpload(call, {
      name: args.name ?? nameInAddress(answer.url),
      altText: args.altText ?? null,
      body: Readable.from(fetched(call, answer), { objectMode: false }),
      sizeBytes: declaredBytes(answer.headers),
      ...(args.isTakenIn === undefined ? {} : { isTakenIn: args.isTakenIn }),
    });
  } catch (error) {
    throw explain(error);
  }
}

async function* fetched(call: CallContext, { headers, body }: OutboundResponse): AsyncGenerator<Buffer> {
  try {
    yield* withProgress(call, body, { total: declaredBytes(headers), message: "Fetching the file" });
  } catch (cause) {
    throw new OutboundFailure("The body broke off.", true, { cause });
  }
}

async function* withProgress(
  call: CallContext,
  body: Readable,
  { total, message }: { readonly total: number | null; readonly message: string },
): AsyncGenerator<Buffer> {
  const step = Math.max(PROGRESS_BYTES, (total ?? 0) * PROGRESS_SHARE);
  let done = 0;
  let told = 0;
  for await (const chunk of body) {
    const bytes = Buffer.from(chunk);
    done += bytes.length;
    if (done === total || done - told >= step) {
      told = done;
      call.progress(done, total, message);
    }
    yield bytes;
  }
}

function explain(error: unknown): unknown {
  if (error instanceof DiskFull) return error;
  if (error instanceof AppError) return error.about("url");
  if (!(error instanceof OutboundFailure)) return error;
  return new AppError(
    "unavailable",
    "url: the address did not answer, or broke off before the file was whole. Try again.",
    { cause: error },
  );
}

/** A file of this machine that may be read, see `openLocalFile`. */
async function readLocalFile(
  call: CallContext,
  args: UploadFileArgs & { readonly path: string },
): Promise<{ file: File }> {
  const path = await withHome(args.path, call.ctx.settings.homeFolder);
  await using handle = await (call.caller.isAtShell === true ? openOwnFile(path) : openLocalFile(call, path));
  const file = await handle.stat();
  const stream = handle.createReadStream({ autoClose: false });
  const body = Readable.from(withProgress(call, stream, { total: file.size, message: "Reading the file" }), {
    objectMode: false,
  });
  const name = args.name ?? basename(args.path);
  return await storeUpload(call, { name, altText: args.altText ?? null, body, sizeBytes: file.size });
}

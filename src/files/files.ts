import { decodeCursor, encodeCursor, unknownCursor } from "../domain/cursor.ts";
import { join, type Said, say } from "../domain/sentences.ts";
import { AppError } from "../domain/errors.ts";
import { plainText, quote } from "../domain/text/plain-text.ts";
import { type File, keyOfCleanCopy, type ListFilesArgs } from "../domain/files/file.ts";
import type { MediaFigures } from "../domain/files/media-limits.ts";
import type { Caller } from "../domain/permissions.ts";
import { toIso, HOUR, MINUTE, SECOND } from "../domain/time.ts";
import {
  allFilesOf,
  deleteFileRow,
  findFileByKey,
  findFileRow,
  findSignedFile,
  isUsedBeyond,
  listFileRows,
  lockFiles,
  type FileRow,
  countUses,
  listUses,
} from "../store/queries/files.ts";
import { listDraftsNaming } from "../store/queries/drafts.ts";
import type { Reader, Tx } from "../store/engine/store.ts";
import type { OwnFile } from "../ports/media.ts";
import { hasTerms, parseSearch } from "../domain/text/compare-words.ts";
import { commitOnce } from "../access/idempotency.ts";
import type { AppContext, CallContext, GuestCall } from "../context.ts";
import { timingSafeEqual } from "node:crypto";

export const OWN_SCHEME = "r2://";

/** Rows read at once while names are searched. */
const SEARCH_BATCH = 500;

/** The files that the caller may see, newest first. */
export async function listFiles(
  { ctx, caller }: CallContext,
  args: ListFilesArgs,
): Promise<{ files: File[]; nextCursor: string | null }> {
  const filters = { search: args.search ?? null, type: args.type ?? null };
  const before = args.cursor === undefined ? null : readCursor(args.cursor, filters);
  const rows = await findRows(ctx, caller, { ...args, before });
  const page = rows.slice(0, args.limit);
  const last = rows.length > args.limit ? page.at(-1) : undefined;
  return {
    files: await showFiles(ctx, caller, page),
    nextCursor: last === undefined ? null : encodeCursor(last.id, filters),
  };
}

function readCursor(cursor: string, filters: unknown): string {
  const id = decodeCursor(cursor, filters);
  if (!/^file_[0-9a-z]{26}$/.test(id)) throw unknownCursor();
  return id;
}

/** One row more than the page holds, where there is one. */
async function findRows(
  ctx: AppContext,
  caller: Caller,
  args: ListFilesArgs & { before: string | null },
): Promise<FileRow[]> {
  const terms = parseSearch(args.search ?? "");
  const filter = { reach: caller, type: args.type ?? null };
  const batch = terms.length === 0 ? args.limit + 1 : SEARCH_BATCH;
  const found: FileRow[] = [];
  for (let before = args.before; ;) {
    const rows = await listFileRows(ctx.store, filter, { before, limit: batch });
    found.push(...rows.filter((row) => hasTerms(`${row.name}\n${row.alt_text ?? ""}`, terms)));
    before = rows.at(-1)?.id ?? null;
    if (rows.length < batch || found.length > args.limit) return found;
  }
}

export async function getFile(
  { ctx, caller }: CallContext,
  args: { id: string },
  field = "id",
): Promise<{ file: File }> {
  const row = await findFileRow(ctx.store, caller, args.id);
  if (row === null) throw fileNotFound(field, args.id);
  const [file] = await showFiles(ctx, caller, [row]);
  return { file: file ?? toFile(row, null) };
}

/**
 * Throws `conflict` while a waiting post, a waiting draft or a series uses the file, and for a limited key while posts of accounts that it
 * does not reach use it. Looked up in the transaction that deletes, once the file is locked: a call that
 * schedules a post with it at the same moment either was first, or finds it gone.
 */
export async function deleteFile(
  call: CallContext,
  args: { id: string },
): Promise<{ file: File; warnings: string[] }> {
  const { ctx, caller } = call;
  const answer = await commitOnce(call, async (tx) => {
    await lockFiles(tx, caller.ownerId, [args.id]);
    const found = await findFileRow(tx, caller, args.id);
    if (found === null) throw fileNotFound("id", args.id);
    if (await isUsedBeyond(tx, caller, found.id)) {
      throw new AppError(
        "conflict",
        "id: posts of channels that this key does not reach use this file, too. Leave it, or delete it with a key that reaches them.",
      );
    }
    await refuseUsed(tx, caller, found.storage_key);
    await deleteFileRow(tx, caller.ownerId, found.id);
    return { file: toFile(found, null), warnings: ["The file is deleted, and cannot be brought back."] };
  });
  await ctx.files.remove(answer.file.url.slice(OWN_SCHEME.length));
  await ctx.files.remove(keyOfCleanCopy(args.id));
  ctx.log.info({ fileId: args.id }, "The file was deleted");
  return answer;
}

async function refuseUsed(tx: Tx, { ownerId }: Caller, key: string): Promise<void> {
  const drafts = await listDraftsNaming(tx, ownerId, { key, states: PROMISED });
  if (drafts.length > 0)
    throw new AppError(
      "conflict",
      say(
        `${drafts.length === 1 ? "1 draft" : `${drafts.length} drafts`} that a person decides about, or that go on as a series, use this file: ${nameUsers(drafts)}. Change or discard them first.`,
        { field: "id", next: [{ do: "see", of: "drafts" }] },
      ),
    );
  const posts = await listUses(tx, allFilesOf(ownerId), key);
  if (posts.length === 0) return;
  const use = posts.length === 1 ? "1 waiting post uses" : `${posts.length} waiting posts use`;
  throw new AppError(
    "conflict",
    say(`${use} this file: ${nameUsers(posts)}. Change or cancel them first.`, {
      field: "id",
      next: [{ do: "see", of: "posts" }],
    }),
  );
}

const MAX_USERS = 3;

/** By their first words and ids; of many the first. */
function nameUsers(users: readonly { readonly id: string; readonly caption: string | null }[]): string {
  const named = users.slice(0, MAX_USERS).map(({ id, caption }) => {
    const text = plainText(caption ?? "", MAX_NAME);
    return text === "" ? id : `“${text}” (${id})`;
  });
  const more = users.length > MAX_USERS ? `; and ${users.length - MAX_USERS} more` : "";
  return `${named.join("; ")}${more}`;
}

const MAX_NAME = 80;

/** A draft in these states has what a person looks at, or said yes to. */
const PROMISED = ["waiting", "repeating"] as const;

/** The same words for a file that is not there, is another owner's, or is beyond the key's reach. */
export function fileNotFound(field: string, id: string): AppError {
  return new AppError(
    "not_found",
    say(`there is no file ${quote(id)}.`, { field, next: [{ do: "list", of: "files" }] }),
  );
}

/** What a signed address leads to. Throws `not_found`, or `forbidden` when its time is over. */
export async function openDownload({ ctx }: GuestCall, parts: SignedParts) {
  checkSigned(ctx, "download", parts);
  return openRow(ctx, await findSignedFile(ctx.store, parts.id), "The file was deleted.");
}

/** The bytes of a file that the caller reaches. Throws `not_found`. */
export async function openContent({ ctx, caller }: CallContext, { id }: { id: string }) {
  return openRow(ctx, await findFileRow(ctx.store, caller, id), fileNotFound("id", id).said);
}

async function openRow({ files }: AppContext, row: FileRow | null, missing: Said) {
  const sizeBytes = row === null || row.status !== "ready" ? null : await files.size(row.storage_key);
  if (row === null || sizeBytes === null) throw new AppError("not_found", missing);
  return {
    name: row.name,
    mimeType: row.mime_type,
    sizeBytes,
    sha256: row.sha256,
    updatedAt: row.updated_at,
    read: (range?: { start: number; end: number }) => files.read(row.storage_key, range),
  };
}

/** The same for a copy that was made for a platform. */
export async function openCopy({ ctx }: GuestCall, parts: SignedParts): ReturnType<typeof openDownload> {
  checkSigned(ctx, "copy", parts);
  const copy = await ctx.publicMedia.openCopy(parts.id);
  if (copy === null) throw new AppError("not_found", "The post that it was made for is finished.");
  const { mimeType, sizeBytes, open: read } = copy;
  return { name: parts.id, mimeType, sizeBytes, sha256: null, updatedAt: ctx.clock.now(), read };
}

/** What a post's media needs to know of an own file; null for one that is missing or another owner's. */
export async function findReadyFile(reader: Reader, ownerId: string, key: string): Promise<OwnFile | null> {
  const row = await findFileByKey(reader, allFilesOf(ownerId), key);
  return row === null || row.sha256 === null
    ? null
    : { id: row.id, name: row.name, altText: row.alt_text, facts: { ...figuresOf(row), sha256: row.sha256 } };
}

/** What was found when it was stored; its bytes never change. */
export function figuresOf(file: FileRow): MediaFigures {
  return {
    mimeType: file.mime_type,
    type: file.type,
    sizeBytes: file.size_bytes,
    width: file.width,
    height: file.height,
    durationSeconds: file.duration_seconds,
    pages: file.pages,
    videoCodec: file.video_codec,
    framesPerSecond: file.frames_per_second,
    audioCodec: file.audio_codec,
    isAnimated: file.is_animated === 1,
  };
}

/** `hasAddress` false: records that outlast every address. */
export async function showFiles(
  ctx: AppContext,
  reach: Parameters<typeof countUses>[1],
  rows: readonly FileRow[],
  hasAddress = true,
): Promise<File[]> {
  const keys = rows.map((row) => row.storage_key);
  const uses = await countUses(ctx.store, reach, keys);
  return Promise.all(
    rows.map(async (row) => {
      const url = hasAddress && row.status === "ready" ? await createDownloadUrl(ctx, row.id) : null;
      return toFile(row, url, uses.get(row.storage_key));
    }),
  );
}

/** The record as every face shows it; `usedByPosts`: how many waiting posts use it. */
export function toFile(row: FileRow, downloadUrl: string | null, usedByPosts = 0): File {
  return {
    id: row.id,
    name: row.name,
    url: OWN_SCHEME + row.storage_key,
    downloadUrl,
    mimeType: row.mime_type,
    type: row.type,
    sizeBytes: row.size_bytes,
    width: row.width,
    height: row.height,
    durationSeconds: row.duration_seconds,
    pages: row.pages,
    sha256: row.sha256,
    altText: row.alt_text,
    status: row.status,
    usedByPosts,
    createdAt: toIso(row.created_at),
    updatedAt: toIso(row.updated_at),
  };
}

/** How long an address in a file's record works. */
const DOWNLOAD_MS = HOUR;
const UPLOAD_MS = 15 * MINUTE;

type Signer = Pick<AppContext, "cipher" | "clock" | "publicUrl">;

/** What an address is good for; a signature for one does not open the other. */
type Purpose = "download" | "upload" | "copy";

const NEXT: Record<Purpose, Said> = {
  download: say("", { next: [{ do: "list", of: "files" }] }),
  upload: say("", { next: [{ do: "upload" }] }),
  copy: "It was made for one post, and for the platform that it went to.",
};

/** What stands in a signed address, as it came in. */
export interface SignedParts {
  readonly id: string;
  readonly expires: string;
  readonly signature: string;
}

export async function createDownloadUrl(ctx: Signer, id: string, lastsMs = DOWNLOAD_MS): Promise<string> {
  return (await createUrl(ctx, "download", { id, lastsMs })).url;
}

/** Of a copy that a platform fetches (`PostMedia.publicUrl`). */
export async function createCopyUrl(ctx: Signer, name: string, lastsMs: number): Promise<string> {
  return (await createUrl(ctx, "copy", { id: name, lastsMs })).url;
}

export function createUploadUrl(ctx: Signer, id: string): Promise<{ url: string; expiresAt: number }> {
  return createUrl(ctx, "upload", { id, lastsMs: UPLOAD_MS });
}

async function createUrl(
  ctx: Signer,
  purpose: Purpose,
  { id, lastsMs }: { id: string; lastsMs: number },
): Promise<{ url: string; expiresAt: number }> {
  const expires = Math.ceil((ctx.clock.now() + lastsMs) / SECOND);
  const signature = sign(ctx, purpose, { id, expires: String(expires) });
  const url = `${await ctx.publicUrl()}/files/${id}/${purpose}?expires=${expires}&signature=${signature}`;
  return { url, expiresAt: expires * SECOND };
}

/** Throws `not_found` for an address that we never gave out, `forbidden` for one whose time is over. */
export function checkSigned(ctx: Signer, purpose: Purpose, parts: SignedParts): void {
  const wanted = Buffer.from(sign(ctx, purpose, parts));
  const given = Buffer.from(parts.signature);
  if (wanted.length !== given.length || !timingSafeEqual(wanted, given)) {
    throw new AppError(
      "not_found",
      `There is nothing to ${purpose === "copy" ? "download" : purpose} at this address.`,
    );
  }
  if (Number(parts.expires) * SECOND > ctx.clock.now()) return;
  throw new AppError("forbidden", join("This address has expired.", NEXT[purpose]));
}

function sign(ctx: Signer, purpose: Purpose, parts: { id: string; expires: string }): string {
  return ctx.cipher.sign(`file ${purpose}`, `${parts.id}\n${parts.expires}`);
}

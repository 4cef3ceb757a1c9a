import { AppError } from "../domain/errors.ts";
import type { Caller } from "../domain/permissions.ts";
import { quote } from "../domain/time.ts";
import type { Tx } from "../store/engine/store.ts";
import { allFilesOf, findFileByKey, findFileRow, lockFiles, type FileRow } from "../store/queries/files.ts";
import type { AppContext } from "../context.ts";
import { fileNotFound, OWN_SCHEME } from "./files.ts";

/** A file of the owner's that a content names, and where it does. */
export interface FileUse {
  readonly id: string;
  readonly field: string;
  /** As the caller gave it. */
  readonly given: string;
  /** The post has it already, so that whoever may change the post may leave it there. */
  readonly isKept: boolean;
}

/** What is stored for an address, and the file it leads to, where that is one of the owner's. */
export interface ResolvedMedia {
  readonly url: string;
  readonly file: FileUse | null;
}

/**
 * The address that is stored for what a user gave: `file_…` ids become their `r2://` address. Throws
 * `not_found` for a file that does not exist, is somebody else's, or is beyond the key's reach, `invalid` for
 * an address that is never allowed.
 */
export async function resolveMediaUrl(
  ctx: AppContext,
  caller: Caller,
  place: { readonly field: string; readonly text: string; readonly isKept?: boolean },
): Promise<ResolvedMedia> {
  const { field, text, isKept = false } = place;
  const isId = text.startsWith("file_");
  if (isId || text.startsWith(OWN_SCHEME)) {
    const reach = isKept ? allFilesOf(caller.ownerId) : caller;
    const row = isId
      ? await findFileRow(ctx.store, reach, text)
      : await findFileByKey(ctx.store, reach, text.slice(OWN_SCHEME.length));
    const { id, storage_key } = readyFile(row, field, text);
    return { url: OWN_SCHEME + storage_key, file: { id, field, given: text, isKept } };
  }
  const href = checkWebAddress(ctx, field, text);
  // Shown again as it was given, unless it holds what no address may hold.
  return { url: /[\s\p{Cc}]/u.test(text) ? href : text, file: null };
}

/**
 * Looks the files up once more, in the transaction that makes a post use them: one that was deleted since, or
 * got out of the key's reach, is `not_found`. Nobody deletes them until that transaction ends.
 */
export async function requireFiles(tx: Tx, caller: Caller, uses: readonly FileUse[]): Promise<void> {
  await lockFiles(
    tx,
    caller.ownerId,
    uses.map(({ id }) => id),
  );
  for (const { id, field, given, isKept } of uses) {
    const row = await findFileRow(tx, isKept ? allFilesOf(caller.ownerId) : caller, id);
    readyFile(row, field, given);
  }
}

/** The ids of the own files among the addresses, in order, as a post's row holds them; null: none. */
export async function fileIdsOf(
  ctx: AppContext,
  ownerId: string,
  urls: readonly string[],
): Promise<string | null> {
  const own = urls.filter((url) => url.startsWith(OWN_SCHEME)).map((url) => url.slice(OWN_SCHEME.length));
  const rows = await Promise.all(
    [...new Set(own)].map((key) => findFileByKey(ctx.store, allFilesOf(ownerId), key)),
  );
  const ids = rows.flatMap((row) => row?.id ?? []).sort();
  return ids.length === 0 ? null : JSON.stringify(ids);
}

/**
 * Refuses what can never be a media address, without a look at the files. Throws `invalid` naming the field.
 */
export function checkMediaAddress(ctx: AppContext, field: string, text: string): void {
  if (!text.startsWith("file_") && !text.startsWith(OWN_SCHEME)) checkWebAddress(ctx, field, text);
}

function checkWebAddress(ctx: AppContext, field: string, text: string): string {
  if (/^\s*https?:/i.test(text)) return ctx.outbound.assertAllowed(field, text).href;
  throw new AppError(
    "invalid",
    `${field}: ${quote(text)} is no media address. Give an https:// address, or the id (file_…) or r2:// address of a stored file, from list_files.`,
  );
}

function readyFile(row: FileRow | null, field: string, text: string): FileRow {
  if (row === null) throw fileNotFound(field, text);
  if (row.status === "ready") return row;
  throw new AppError(
    "conflict",
    `${field}: the file ${row.id} is not uploaded yet. Upload it first, then use it.`,
  );
}

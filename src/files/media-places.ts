import * as z from "zod";
import { type NextStep, say } from "../domain/sentences.ts";
import { commonMetadata, MediaRole } from "../domain/posts/common-metadata.ts";
import type { MediaFigures } from "../domain/files/media-limits.ts";
import type { Metadata } from "../domain/posts/post.ts";
import type { AnyPlatform } from "../ports/platform.ts";
import { AppError } from "../domain/errors.ts";
import type { Caller } from "../domain/permissions.ts";
import { quote } from "../domain/text/plain-text.ts";
import type { Reader, Tx } from "../store/engine/store.ts";
import {
  allFilesOf,
  type FileReach,
  type FileRow,
  findFileByKey,
  findFileRow,
  lockFiles,
} from "../store/queries/files.ts";
import type { AppContext } from "../context.ts";
import { figuresOf, OWN_SCHEME } from "./files.ts";
import { type FilmUse, orderFilms } from "./films.ts";

/** An address somewhere in a post. */
export interface MediaPlace {
  readonly field: string;
  readonly url: string;
  /** Shown as media of a post, and so held to the platform's limits. */
  readonly isShown: boolean;
  /** One of the items of the post itself; the others belong to the posts of its thread. */
  readonly isItem: boolean;
  /** Where its alt text belongs and what stands there; null where there is no place for one. */
  readonly alt: AltText | null;
}

interface AltText {
  readonly field: string;
  readonly text: unknown;
}

/** Every address of a post's content, also empty ones; the first is mediaUrl's. */
export function placesOf(
  { metadata: schema }: Pick<AnyPlatform, "metadata">,
  content: { readonly mediaUrl: string; readonly metadata: Metadata | null },
): MediaPlace[] {
  const metadata = content.metadata ?? {};
  const alt = altTextIn(schema, "metadata", metadata);
  const places: MediaPlace[] = [
    { field: "mediaUrl", url: content.mediaUrl, isShown: true, isItem: true, alt },
  ];
  visit({ schema, field: "metadata", value: metadata }, ({ field, url, role, alt: own }) => {
    places.push({
      field,
      url,
      isShown: role === "item" || role === "thread",
      isItem: role === "item",
      alt: own,
    });
    return url;
  });
  return places;
}

/** The metadata with each of its media addresses replaced. */
export function replaceAddresses(
  { metadata: schema }: Pick<AnyPlatform, "metadata">,
  metadata: Metadata,
  replace: (field: string, url: string) => string,
): Metadata {
  const all = { schema, field: "metadata", value: metadata };
  return visit(all, ({ field, url }) => replace(field, url)) as Metadata;
}

interface Address {
  readonly field: string;
  readonly url: string;
  readonly role: z.infer<typeof MediaRole>;
  readonly alt: AltText | null;
}

/** Walks a value along its schema, whose own `.meta({ media })` says where an address of media stands. */
function visit(
  {
    schema,
    field,
    value,
    alt = null,
  }: { schema: unknown; field: string; value: unknown; alt?: AltText | null },
  replace: (address: Address) => string,
): unknown {
  if (typeof value === "string") {
    const role = roleOf(schema);
    return role === undefined ? value : replace({ field, url: value, role, alt });
  }
  const type = unwrap(schema);
  if (type instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item: unknown, at) =>
      visit({ schema: type.element, field: `${field}[${at}]`, value: item }, replace),
    );
  }
  if (type instanceof z.ZodObject && typeof value === "object" && value !== null) {
    const beside = altTextIn(type, field, value);
    const parts = Object.entries(value).map(([name, part]) => [
      name,
      visit({ schema: type.shape[name], field: `${field}.${name}`, value: part, alt: beside }, replace),
    ]);
    return Object.fromEntries(parts);
  }
  return value;
}

function altTextIn(schema: z.ZodObject, field: string, value: object): AltText | null {
  if (!Object.hasOwn(schema.shape, "altText")) return null;
  return { field: `${field}.altText`, text: "altText" in value ? value.altText : undefined };
}

/** It may be told before or after "may be left out". */
function roleOf(schema: unknown): Address["role"] | undefined {
  const own = schema instanceof z.ZodType ? MediaRole.safeParse(schema.meta()?.["media"]).data : undefined;
  return own ?? (isWrapped(schema) ? roleOf(schema.unwrap()) : undefined);
}

/** What stands behind "may be left out", "may be null" and defaults. */
function unwrap(schema: unknown): unknown {
  return isWrapped(schema) ? unwrap(schema.unwrap()) : schema;
}

function isWrapped(schema: unknown): schema is z.ZodOptional | z.ZodNullable | z.ZodDefault {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault;
}

/** A file of the owner's that a content names, and where it does. */
export interface FileUse {
  readonly id: string;
  readonly field: string;
  /** As the caller gave it. */
  readonly given: string;
  /** The post has it already, so that a caller that may change the post may leave it there. */
  readonly isKept: boolean;
  /** What is made of it for the platform, from when the post is written. */
  readonly film?: FilmUse | null;
}

/** What is stored for an address, and the file it leads to, where that is one of the owner's. */
export interface ResolvedMedia {
  readonly url: string;
  readonly row: FileRow | null;
  readonly file: FileUse | null;
}

/**
 * The address that is stored for what a user gave: `file_…` ids become their `r2://` address. Throws
 * `not_found` for a file that does not exist, is another owner's, or is beyond the key's reach, `invalid` for
 * an address that is never allowed.
 */
export async function resolveMediaUrl(
  ctx: AppContext,
  caller: Caller,
  given: { readonly field: string; readonly text: string; readonly isKept?: boolean },
): Promise<ResolvedMedia> {
  const { field, text, isKept = false } = given;
  if (isOwn(text)) {
    const found = await findFileAt(ctx.store, isKept ? allFilesOf(caller.ownerId) : caller, text);
    const row = readyFile(found, field, text);
    return { url: OWN_SCHEME + row.storage_key, row, file: { id: row.id, field, given: text, isKept } };
  }
  const href = checkWebAddress(ctx, field, text);
  // Shown again as it was given, unless it holds what no address may hold.
  return { url: /[\s\p{Cc}]/u.test(text) ? href : text, row: null, file: null };
}

/**
 * Looks the files up once more, in the transaction that makes a post use them: one that was deleted since, or
 * got out of the key's reach, is `not_found`. None is deleted until that transaction ends. Films that must be
 * converted are ordered.
 */
export async function requireFiles(tx: Tx, caller: Caller, uses: readonly FileUse[]): Promise<void> {
  const ids = uses.map(({ id }) => id);
  await lockFiles(tx, caller.ownerId, ids);
  for (const { id, field, given, isKept } of uses) {
    const row = await findFileRow(tx, isKept ? allFilesOf(caller.ownerId) : caller, id);
    readyFile(row, field, given);
  }
  await orderFilms(tx, uses);
}

/** The file that an address leads to, or an id names; null where it is none of these. */
export async function findFileAt(reader: Reader, reach: FileReach, text: string): Promise<FileRow | null> {
  if (text.startsWith("file_")) return findFileRow(reader, reach, text);
  return text.startsWith(OWN_SCHEME) ? findFileByKey(reader, reach, text.slice(OWN_SCHEME.length)) : null;
}

/** Of the owner's files among the addresses; who may use them, and whether they are there, is told later. */
export async function figuresByUrl(
  { store }: AppContext,
  ownerId: string,
  urls: readonly string[],
): Promise<ReadonlyMap<string, MediaFigures>> {
  const figures = new Map<string, MediaFigures>();
  for (const url of new Set(urls)) {
    const row = await findFileAt(store, allFilesOf(ownerId), url);
    if (row?.status === "ready") figures.set(url, figuresOf(row));
  }
  return figures;
}

/**
 * Refuses what can never be a media address, without a look at the files. Throws `invalid` naming the field.
 */
export function checkMediaAddress(ctx: AppContext, field: string, text: string): void {
  if (!isOwn(text)) checkWebAddress(ctx, field, text);
}

function isOwn(text: string): boolean {
  return text.startsWith("file_") || text.startsWith(OWN_SCHEME);
}

/** As systems write the place of a file. */
const LOCAL_PATH = /^(?:file:|[~.]{0,2}[\\/]|[a-z]:[\\/])/i;

function checkWebAddress(ctx: AppContext, field: string, text: string): string {
  if (/^\s*https?:/i.test(text)) return ctx.outbound.assertAllowed(field, text).href;
  const next: readonly NextStep[] = [
    ...(LOCAL_PATH.test(text) ? [{ do: "upload_local" } as const] : []),
    { do: "list", of: "files" },
  ];
  const what = `${quote(text)} is no media address. Give an https:// address, or the id (file_…) or r2:// address of a stored file.`;
  throw new AppError("invalid", say(what, { field, next }));
}

function readyFile(row: FileRow | null, field: string, text: string): FileRow {
  if (row === null)
    throw new AppError(
      "not_found",
      say(`there is no file ${quote(text)} here.`, {
        field,
        next: [{ do: "list", of: "files" }, { do: "upload" }],
      }),
    );
  if (row.status === "ready") return row;
  throw new AppError(
    "conflict",
    `${field}: the file ${row.id} is not uploaded yet. Upload it first, then use it.`,
  );
}

/** Addresses of media that every platform may have. */
export const COMMON = z.object(commonMetadata);

/**
 * The addresses that a caller gives, as far as their form tells; needs neither post nor platform. Throws
 * `invalid`.
 */
export function checkAddresses(
  ctx: AppContext,
  {
    mediaUrl,
    metadata = null,
  }: { readonly mediaUrl?: string | null | undefined; readonly metadata?: Metadata | null | undefined },
): void {
  const content = { mediaUrl: mediaUrl ?? "", metadata };
  for (const { field, url } of placesOf({ metadata: COMMON }, content)) {
    if (url !== "") checkMediaAddress(ctx, field, url);
  }
}

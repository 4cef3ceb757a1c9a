import * as z from "zod";
import { AppError } from "../../../domain/errors.ts";
import type { Insights, Metrics } from "../../../domain/posts/post.ts";
import { PlatformFault, type JsonObject, type PlatformIo } from "../../../ports/platform-io.ts";
import type { PublishIo } from "../../../ports/publish-io.ts";
import type { FormPart } from "../../../ports/request-body.ts";
import { picturePart } from "../posts/form-file.ts";
import { partsOf } from "../posts/thread.ts";
import { own, ownOrGone } from "./api.ts";
import { Status } from "./entities.ts";
import { readSource } from "./find.ts";
import { capabilitiesOf, familyOf } from "./limits.ts";
import type { MastodonPost } from "./metadata.ts";
import { stepOf } from "./publish.ts";

function pathOf(id: string): string {
  return `/api/v1/statuses/${encodeURIComponent(id)}`;
}

function idOf({ platformPostId }: MastodonPost): string {
  if (platformPostId !== null) return platformPostId;
  throw new AppError("conflict", "platformPostId: the post's id on its server is not known.");
}

function readStatus(post: MastodonPost, io: PlatformIo): Promise<Status | null> {
  return ownOrGone(io, { method: "GET", path: pathOf(idOf(post)) }, Status);
}

async function requireStatus(post: MastodonPost, io: PlatformIo): Promise<Status> {
  const status = await readStatus(post, io);
  if (status !== null) return status;
  throw new AppError("conflict", "The post is no longer on its server, so it cannot be changed.");
}

/** Whether it is there, and what others did with it. Servers do not count views. */
export async function insights(
  post: MastodonPost,
  io: PlatformIo,
): Promise<Pick<Insights, "state" | "visibility"> & { metrics: Partial<Metrics> }> {
  const status = await readStatus(post, io);
  if (status === null) return { state: "removed", visibility: null, metrics: {} };
  return { state: "live", visibility: status.visibility, metrics: countOf(status) };
}

export function countOf(status: Status): Partial<Metrics> {
  const {
    favourites_count: likes,
    replies_count: comments,
    reblogs_count: reblogs,
    quotes_count: quotes,
  } = status;
  const isShared = reblogs !== undefined || quotes !== undefined;
  return {
    likes: likes ?? null,
    comments: comments ?? null,
    shares: isShared ? (reblogs ?? 0) + (quotes ?? 0) : null,
  };
}

/**
 * What an edit does not name is lost: media, text, warning. So all of it is sent, as the post has it where that
 * was changed, else as it stands there.
 */
export async function edit(
  post: MastodonPost,
  changed: readonly string[],
  io: PlatformIo,
): Promise<{ platformUrl?: string }> {
  const current = await requireStatus(post, io);
  const [{ text, media }] = partsOf(post);
  const { sensitive, spoilerText = "", language } = post.metadata;
  const ids = current.media_attachments.map(({ id }) => id);
  const [first] = ids;
  const json: JsonObject = {
    status: familyOf(io.account).write(text),
    spoiler_text: spoilerText,
    sensitive: sensitive ?? (changed.includes("sensitive") ? false : current.sensitive),
    ...(language === undefined ? {} : { language }),
    ...(ids.length === 0 ? {} : { media_ids: ids }),
    ...(first === undefined || !changed.includes("altText")
      ? {}
      : { media_attributes: [{ id: first, description: media[0]?.altText ?? "" }] }),
    ...(familyOf(io.account).takesContentType ? { content_type: "text/plain" } : {}),
  };
  const { url } = await put(io, post, { json });
  return url === null ? {} : { platformUrl: url };
}

/** The same edit twice is one; one that says what stands there already changes nothing. */
async function put(
  io: PlatformIo,
  post: MastodonPost,
  body: { readonly json: JsonObject } | { readonly multipart: readonly FormPart[] },
): Promise<Status> {
  try {
    return await own(io, { method: "PUT", path: pathOf(idOf(post)), isIdempotent: true, ...body }, Status);
  } catch (error) {
    const status = error instanceof PlatformFault ? error.httpStatus : null;
    if (status !== 404 && status !== 405 && status !== 501) throw error;
    throw new AppError("conflict", "This server does not let apps change a live post.", { cause: error });
  }
}

/** An edit that changes nothing but the picture in front of its video or sound. */
export async function setThumbnail(post: MastodonPost, thumbnailUrl: string, io: PublishIo): Promise<void> {
  const current = await requireStatus(post, io);
  const played = current.media_attachments.find(({ type }) => type === "video" || type === "audio");
  if (played === undefined)
    throw new AppError("conflict", "Only a video or a sound has a thumbnail, and the post has neither.");
  const source = await readSource(io, current.id);
  const text = (name: string, value: string): FormPart => ({ name, text: value });
  const multipart: FormPart[] = [
    text("status", source?.text ?? post.caption ?? ""),
    text("spoiler_text", source?.spoiler_text ?? current.spoiler_text),
    text("sensitive", String(current.sensitive)),
    ...current.media_attachments.map(({ id }) => text("media_ids[]", id)),
    text("media_attributes[][id]", played.id),
    await picturePart("media_attributes[][thumbnail]", await io.media.item(thumbnailUrl), {
      io,
      accepts: capabilitiesOf(io.account).media.accepts,
    }),
  ];
  await put(io, post, { multipart });
}

/** Deletes the whole thread, last part first. What is gone already is no error. */
export async function remove(post: MastodonPost, io: PlatformIo): Promise<void> {
  const later = partsOf(post).slice(1);
  const ids = later.map((_part, at) => Posted.safeParse(io.resultOf(stepOf(at + 1))).data?.id ?? null);
  for (const id of [...ids.toReversed(), idOf(post)]) if (id !== null) await removeOne(id, io);
}

const Posted = z.object({ id: z.string() });

async function removeOne(id: string, io: PlatformIo): Promise<void> {
  const at = { path: pathOf(id), isIdempotent: true };
  const isThere = async (): Promise<boolean> =>
    (await ownOrGone(io, { ...at, method: "GET" }, Status)) !== null;
  if ((await ownOrGone(io, { ...at, method: "DELETE" }, Answered)) !== null || !(await isThere())) return;
  // snac knows no DELETE and answers as if the post were gone.
  throw new PlatformFault(
    "rejected",
    "This server does not let apps delete posts. Delete it on the server's own pages.",
  );
}

/** Servers answer the status, {}, or nothing. */
const Answered = z.unknown().transform(() => ({}));

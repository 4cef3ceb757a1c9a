import * as z from "zod";
import { AppError } from "../../../domain/errors.ts";
import type { Metrics } from "../../../domain/posts/post.ts";
import { DAY } from "../../../domain/time.ts";
import { type JsonObject, PlatformFault, type PlatformIo } from "../../../ports/platform-io.ts";
import type { Edited, Inspection, PlatformAnalytics, PostInsights } from "../../../ports/platform.ts";
import type { PublishIo } from "../../../ports/publish-io.ts";
import type { FormPart } from "../../../ports/request-body.ts";
import { type CountedPost, idReader, sumByDay, uncounted } from "../live.ts";
import { picturePart } from "../media.ts";
import { askOrNull, askSoftware, serverOf, softwareOfVersion } from "../servers.ts";
import { partsOf } from "../thread.ts";
import { Account, handleOf, type MastodonPost, own, ownOrGone, Status } from "./api.ts";
import { capabilitiesOf, familyOf, toLimits } from "./limits.ts";
import { listStatuses, readSource, stepOf } from "./publish.ts";

function pathOf(id: string): string {
  return `/api/v1/statuses/${encodeURIComponent(id)}`;
}

const idOf = idReader("the post's id on its server is not known.");

function readStatus(post: MastodonPost, io: PlatformIo): Promise<Status | null> {
  return ownOrGone(io, { method: "GET", path: pathOf(idOf(post)) }, Status);
}

async function requireStatus(post: MastodonPost, io: PlatformIo): Promise<Status> {
  const status = await readStatus(post, io);
  if (status !== null) return status;
  throw new AppError("conflict", "The post is no longer on its server, so it cannot be changed.");
}

/** Whether it is there, and what others did with it. Servers do not count views. */
export async function insights(post: MastodonPost, io: PlatformIo): Promise<PostInsights> {
  const status = await readStatus(post, io);
  if (status === null) return { state: "removed", visibility: null, metrics: {} };
  return { state: "live", visibility: status.visibility, metrics: countOf(status) };
}

function countOf(status: Status): Partial<Metrics> {
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
export async function edit(post: MastodonPost, changed: readonly string[], io: PlatformIo): Promise<Edited> {
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

const Limit = z.coerce.number().int().positive().nullable().catch(null);

const Configuration = z.looseObject({
  statuses: z
    .looseObject({
      max_characters: Limit,
      max_media_attachments: Limit,
      characters_reserved_per_url: Limit,
    })
    .catch({ max_characters: null, max_media_attachments: null, characters_reserved_per_url: null }),
  media_attachments: z
    .looseObject({
      supported_mime_types: z.array(z.string()).nullable().catch(null),
      description_limit: Limit,
      image_size_limit: Limit,
      image_matrix_limit: Limit,
      video_size_limit: Limit,
    })
    .catch({
      supported_mime_types: null,
      description_limit: null,
      image_size_limit: null,
      image_matrix_limit: null,
      video_size_limit: null,
    }),
});

/**
 * https://docs.joinmastodon.org/entities/Instance and V1_Instance, with what Pleroma and Friendica say beside
 * it.
 */
const Instance = z.looseObject({
  version: z.string().max(200),
  configuration: Configuration.optional().catch(undefined),
  max_toot_chars: Limit,
  max_media_attachments: Limit,
  description_limit: Limit,
  upload_limit: Limit,
});

/** Who the account is now, and what its server takes. */
export async function inspect(io: PlatformIo): Promise<Inspection> {
  const server = serverOf(io);
  const account = await own(io, { method: "GET", path: "/api/v1/accounts/verify_credentials" }, Account);
  const instance = await askInstance(io, server);
  const told = await askSoftware(io, server);
  const found = instance?.configuration;
  const limits = {
    maxCharacters: found?.statuses.max_characters ?? instance?.max_toot_chars ?? null,
    urlLength: found?.statuses.characters_reserved_per_url ?? null,
    maxMedia: found?.statuses.max_media_attachments ?? instance?.max_media_attachments ?? null,
    altLength: found?.media_attachments.description_limit ?? instance?.description_limit ?? null,
    mimeTypes: found?.media_attachments.supported_mime_types ?? null,
    imageBytes: found?.media_attachments.image_size_limit ?? instance?.upload_limit ?? null,
    imagePixels: found?.media_attachments.image_matrix_limit ?? null,
    videoBytes: found?.media_attachments.video_size_limit ?? instance?.upload_limit ?? null,
  };
  const software = told ?? (instance === null ? null : softwareOfVersion(instance.version));
  return {
    name: account.display_name === "" ? account.username : account.display_name,
    handle: handleOf(account, server),
    avatarUrl: account.avatar,
    ...(software === null ? {} : { limits: toLimits(limits, software) }),
    problem: null,
  };
}

/** GoToSocial and Mastodon since 4 have both, snac the older one alone. */
async function askInstance(io: PlatformIo, server: string): Promise<z.infer<typeof Instance> | null> {
  return (
    (await askOrNull(io, `${server}/api/v2/instance`, Instance)) ??
    (await askOrNull(io, `${server}/api/v1/instance`, Instance))
  );
}

/** Followers as they are now, and the reactions so far to the posts of the range, by the day of the post. */
export async function analytics(
  range: { from: string; to: string },
  io: PlatformIo,
): Promise<PlatformAnalytics> {
  const account = await own(io, { method: "GET", path: "/api/v1/accounts/verify_credentials" }, Account);
  const posts = countedSince(io, Date.parse(range.from) - DAY);
  const { totals, days } = await sumByDay(posts, range, ["likes", "comments", "shares"]);
  return {
    totals: {
      ...(account.followers_count === undefined ? {} : { followers: account.followers_count }),
      ...totals,
    },
    days,
    unavailable: uncounted("The server", ["views", "impressions", "reach", "saves", "clicks"]),
  };
}

async function* countedSince(io: PlatformIo, since: number): AsyncGenerator<CountedPost> {
  for await (const status of listStatuses(io, since))
    yield { date: status.created_at.slice(0, 10), counts: countOf(status) };
}

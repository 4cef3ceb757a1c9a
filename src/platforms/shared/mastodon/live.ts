import * as z from "zod";
import { AppError } from "../../../domain/errors.ts";
import { mentionsByAddress, mentionToken } from "../../../domain/posts/mentions.ts";
import type { Metrics } from "../../../domain/posts/post.ts";
import { DAY, SECOND } from "../../../domain/time.ts";
import { type JsonObject, PlatformFault, type PlatformIo } from "../../../ports/platform-io.ts";
import type {
  Choice,
  EditResult,
  Inspection,
  PlatformAnalytics,
  PostInsights,
} from "../../../ports/platform.ts";
import type { PublishIo } from "../../../ports/publish-io.ts";
import type { FormPart } from "../../../ports/request-body.ts";
import { countByPost, type CountedPost, idReader } from "../live.ts";
import { picturePart } from "../media.ts";
import { askOrNull, askSoftware, handleAt, serverOf, softwareOfVersion } from "../servers.ts";
import { laterIds, partsOf } from "../thread.ts";
import { Account, type MastodonPost, ME, own, ownOrGone, Status } from "./api.ts";
import { capabilitiesOf, familyOf, pollLimitsOf } from "./limits.ts";
import { listStatuses, pathOf, pollOf, readSource, stepOf } from "./publish.ts";

const idOf = idReader("the post's id on its server is not known.");

function readStatus(post: MastodonPost, io: PlatformIo): Promise<Status | null> {
  return ownOrGone(io, { path: pathOf(idOf(post)) }, Status);
}

async function requireStatus(post: MastodonPost, io: PlatformIo): Promise<Status> {
  const status = await readStatus(post, io);
  if (status !== null) return status;
  throw new AppError("conflict", "The post is no longer on its server, so it cannot be changed.");
}

const Found = z.looseObject({ acct: z.string().min(1).max(300), display_name: z.string().catch("") });

/** People whom the server knows: https://docs.joinmastodon.org/methods/accounts/#search */
export async function people(search: string, io: PlatformIo): Promise<readonly Choice[]> {
  if (search === "") return [];
  const call = { path: "/api/v1/accounts/search", query: { q: search, limit: 40 } };
  const found = await own(io, call, z.array(Found));
  return found.map(({ acct, display_name: name }) => ({
    value: mentionToken(name || acct, `@${acct}`),
    label: name === "" ? `@${acct}` : `${name} (@${acct})`,
  }));
}

/** Servers do not count views. */
export async function insights(post: MastodonPost, io: PlatformIo): Promise<PostInsights> {
  const status = await readStatus(post, io);
  if (status === null) return { state: "removed", visibility: null, metrics: {} };
  return { state: "live", visibility: status.visibility, metrics: countOf(status) };
}

function countOf(status: Status): Partial<Metrics> {
  const { favourites_count: likes = null, replies_count: comments = null } = status;
  const { reblogs_count: reblogs, quotes_count: quotes } = status;
  const isShared = reblogs !== undefined || quotes !== undefined;
  return { likes, comments, shares: isShared ? (reblogs ?? 0) + (quotes ?? 0) : null };
}

/**
 * What an edit does not name is lost: media, text, warning. So all of it is sent, as the post has it where that
 * was changed, else as it stands there.
 */
export async function edit(
  post: MastodonPost,
  changed: readonly string[],
  io: PlatformIo,
): Promise<EditResult> {
  const current = await requireStatus(post, io);
  const [{ text, media }] = partsOf(post, mentionsByAddress);
  const { sensitive, spoilerText = "", language } = post.metadata;
  const ids = current.media_attachments.map(({ id }) => id);
  const [first] = ids;
  const json: JsonObject = {
    status: familyOf(io.account).write(text),
    spoiler_text: spoilerText,
    sensitive: sensitive ?? (changed.includes("sensitive") ? false : current.sensitive),
    ...(language === undefined ? {} : { language }),
    ...pollAsItIs(post, current, io),
    ...(ids.length === 0 ? {} : { media_ids: ids }),
    ...(first === undefined || !changed.includes("altText")
      ? {}
      : { media_attributes: [{ id: first, description: media[0]?.altText ?? "" }] }),
    ...(familyOf(io.account).takesContentType ? { content_type: "text/plain" } : {}),
  };
  const { url } = await put(io, post, { json });
  return url === null ? {} : { platformUrl: url };
}

/** A poll that an edit leaves out is gone. The same answers with the time that is left keep their votes. */
function pollAsItIs({ metadata: { poll } }: MastodonPost, current: Status, io: PlatformIo): JsonObject {
  if (poll === undefined || (current.poll ?? null) === null) return {};
  const left = Math.round((Date.parse(current.poll?.expires_at ?? "") - io.now()) / SECOND);
  if (!(left >= pollLimitsOf(io.account).minSeconds))
    throw new AppError(
      "conflict",
      "The post's poll is over, or ends in minutes. An edit would open it anew.",
    );
  return { poll: { ...pollOf(poll), expires_in: left } };
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
  for (const id of [...laterIds(post, io, stepOf), idOf(post)]) await removeOne(id, io);
}

async function removeOne(id: string, io: PlatformIo): Promise<void> {
  const path = pathOf(id);
  const removed = await ownOrGone(io, { method: "DELETE", path, isIdempotent: true }, Answered);
  if (removed !== null || (await ownOrGone(io, { path }, Status)) === null) return;
  // snac knows no DELETE and answers as if the post were gone.
  throw new PlatformFault(
    "rejected",
    "This server does not let apps delete posts. Delete it on the server's own pages.",
  );
}

/** Servers answer the status, {}, or nothing. */
const Answered = z.unknown().transform(() => ({}));

const Limit = z.coerce.number().int().positive().nullable().catch(null);

const NONE = {};

/** https://docs.joinmastodon.org/entities/Instance and V1_Instance, with fields of Pleroma and Friendica. */
const Instance = z.looseObject({
  version: z.string().max(200),
  configuration: z
    .looseObject({
      statuses: z
        .looseObject({
          max_characters: Limit,
          max_media_attachments: Limit,
          characters_reserved_per_url: Limit,
        })
        .partial()
        .catch(NONE),
      media_attachments: z
        .looseObject({
          supported_mime_types: z.array(z.string()).nullable().catch(null),
          description_limit: Limit,
          image_size_limit: Limit,
          image_matrix_limit: Limit,
          video_size_limit: Limit,
          video_matrix_limit: Limit,
          video_frame_rate_limit: Limit,
        })
        .partial()
        .catch(NONE),
      polls: z
        .looseObject({
          max_options: Limit,
          max_characters_per_option: Limit,
          min_expiration: Limit,
          max_expiration: Limit,
        })
        .partial()
        .catch(NONE),
    })
    .optional()
    .catch(undefined),
  max_toot_chars: Limit,
  max_media_attachments: Limit,
  description_limit: Limit,
  upload_limit: Limit,
});

/** Who the account is now, and what its server takes. */
export async function inspect(io: PlatformIo): Promise<Inspection> {
  const server = serverOf(io);
  const account = await own(io, ME, Account);
  // GoToSocial and Mastodon since 4 have both, snac only the older one.
  const instance =
    (await askOrNull(io, `${server}/api/v2/instance`, Instance)) ??
    (await askOrNull(io, `${server}/api/v1/instance`, Instance));
  const told = await askSoftware(io, server);
  const { statuses, media_attachments: media, polls } = instance?.configuration ?? {};
  const limits = {
    maxCharacters: statuses?.max_characters ?? instance?.max_toot_chars ?? null,
    urlLength: statuses?.characters_reserved_per_url ?? null,
    maxMedia: statuses?.max_media_attachments ?? instance?.max_media_attachments ?? null,
    altLength: media?.description_limit ?? instance?.description_limit ?? null,
    mimeTypes: media?.supported_mime_types ?? null,
    imageBytes: media?.image_size_limit ?? instance?.upload_limit ?? null,
    imagePixels: media?.image_matrix_limit ?? null,
    videoBytes: media?.video_size_limit ?? instance?.upload_limit ?? null,
    videoPixels: media?.video_matrix_limit ?? null,
    videoFrames: media?.video_frame_rate_limit ?? null,
    pollOptions: polls?.max_options ?? null,
    pollOptionLength: polls?.max_characters_per_option ?? null,
    pollMinSeconds: polls?.min_expiration ?? null,
    pollMaxSeconds: polls?.max_expiration ?? null,
  };
  const software = told ?? (instance === null ? null : softwareOfVersion(instance.version));
  return {
    name: account.display_name || account.username,
    handle: handleAt(server, account.username),
    avatarUrl: account.avatar,
    ...(software === null
      ? {}
      : { limits: { ...limits, software: software.name, version: software.version } }),
    problem: null,
  };
}

/** Followers as they are now, and the reactions so far to the posts of the range, by the day of the post. */
export async function analytics(
  range: { from: string; to: string },
  io: PlatformIo,
): Promise<PlatformAnalytics> {
  const { followers_count: followers } = await own(io, ME, Account);
  return countByPost(countedSince(io, Date.parse(range.from) - DAY), range, {
    followers,
    title: "The server",
    uncounted: ["views", "impressions", "reach", "saves", "clicks"],
  });
}

async function* countedSince(io: PlatformIo, since: number): AsyncGenerator<CountedPost> {
  for await (const status of listStatuses(io, since))
    yield { date: status.created_at.slice(0, 10), counts: countOf(status) };
}

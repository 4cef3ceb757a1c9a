import { randomUUID } from "node:crypto";
import * as z from "zod";
import { parseUrl } from "../../domain/parse-url.ts";
import { MINUTE, toIso } from "../../domain/time.ts";
import type { MediaItem } from "../../ports/media.ts";
import { type JsonObject, PlatformFault } from "../../ports/platform-io.ts";
import { Id } from "../../ports/platform-values.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { bearer, type FaultRule, faultsBy, refusedField } from "../shared/faults.ts";
import { findFirst, pages } from "../shared/pages.ts";
import { reconcileByListing, repeatableStep } from "../shared/reconcile.ts";
import { readSubtitles, type WrittenSubtitles } from "../shared/subtitles.ts";
import { type Picture, publishHeld, type Thumbnail } from "../shared/film/held.ts";
import { asFault, type Film, type UploadedVideo, uploadFilm } from "../shared/film/sessions.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";
import { askAs, send, uploadBaseOf, watchUrl, youtubeFaults } from "./api.ts";
import { visibilityOf, type YoutubePost } from "./metadata.ts";
import {
  changeVisibility,
  declaredOf,
  findUpload,
  findVideo,
  snippetOf,
  standingOf,
  Video,
} from "./video.ts";

/** A video that YouTube works on for longer than this is shown all the same: in its first qualities. */
const PROCESSING_PATIENCE_MS = 15 * MINUTE;

const STAYS_PRIVATE =
  "The video is on YouTube, but YouTube keeps it private although its time has come. It does so with all " +
  "uploads of a Google Cloud project that has not passed YouTube's audit: ask for it at " +
  "https://support.google.com/youtube/contact/yt_api_form, and look at the video in YouTube Studio.";

/** Uploads the film in private, and makes it what it is to be at its time, where YouTube does not by itself. */
export async function publish(post: YoutubePost, io: PublishIo): Promise<PublishOutcome> {
  return publishHeld(io, {
    title: "YouTube",
    post,
    wanted: visibilityOf(post),
    hidden: "private",
    patienceMs: PROCESSING_PATIENCE_MS,
    thumbnail: thumbnailOf(io, post.metadata.thumbnailUrl),
    staysHidden: STAYS_PRIVATE,
    upload: () => upload(post, io),
    look: async (id) => {
      const video = await findVideo(io, id, "status,processingDetails");
      return video === null ? null : standingOf(video);
    },
    flip: (id, wanted) => changeVisibility(io, id, wanted),
    // That YouTube kept a video private is told with the channel and with its next posts.
    after: async (isShown) => {
      if (isShown === (typeof io.account.settings["keptPrivateAt"] === "string"))
        await io.remember({ keptPrivateAt: isShown ? null : toIso(io.now()) });
    },
    ...(post.metadata.subtitles === undefined ? {} : { ahead: (id: string) => addSubtitles(post, io, id) }),
    followUps: async (id) => {
      const { subtitles = [], playlistId, firstComment } = post.metadata;
      if (subtitles.length > 0) await io.followUp("The subtitles", () => addSubtitles(post, io, id));
      if (playlistId !== undefined) await io.followUp("The playlist", () => addToPlaylist(post, io, id));
      if (firstComment !== undefined)
        await io.followUp("The first comment", () => comment(io, id, firstComment));
    },
  });
}

/** A multiple of 256 KiB, as YouTube wants; what a broken connection sends twice. */
const CHUNK_BYTES = 8 * 1024 * 1024;

/** Brings the film onto YouTube in private. */
function upload(post: YoutubePost, io: PublishIo): Promise<UploadedVideo> {
  const body = bodyOf(post, io);
  return uploadFilm(io, {
    title: "YouTube",
    mediaUrl: post.mediaUrl,
    request: body,
    chunkBytes: CHUNK_BYTES,
    sign: bearer(),
    classify: faultsBy(youtubeFaults(io)),
    begin: async (film) => {
      // Wrong ones are told before the film is sent.
      await readSubtitles(post.metadata, io).catch((cause: unknown) => {
        throw asFault(cause);
      });
      return beginSession(io, { post, body, film });
    },
    read: (answer) => {
      const video = Video.safeParse(answer);
      return video.success ? filmOf(video.data.id) : null;
    },
    find: async ({ since, sizeBytes }) => {
      const id = await findUpload(io, { post, since, sizeBytes });
      return id === null ? null : filmOf(id);
    },
  });
}

function filmOf(id: string): Film {
  return { id, url: watchUrl(id) };
}

/** YouTube flips what is to be public at its time by itself; anything else is flipped by us. */
function bodyOf(post: YoutubePost, io: PublishIo): JsonObject {
  const isFlipped = visibilityOf(post) === "public" && !io.isDue;
  const publishAt = isFlipped ? { publishAt: toIso(post.scheduledAt) } : {};
  return {
    snippet: snippetOf(post),
    status: { privacyStatus: "private", ...publishAt, ...declaredOf(post) },
  };
}

interface UploadRequest {
  readonly post: YoutubePost;
  readonly body: JsonObject;
  readonly film: MediaItem;
}

async function beginSession(io: PublishIo, { post, body, film }: UploadRequest): Promise<string> {
  const { sizeBytes, mimeType } = film.facts;
  const { notifySubscribers } = post.metadata;
  const base = uploadBaseOf(io);
  const { headers } = await io.request({
    method: "POST",
    url: `${base}/upload/youtube/v3/videos`,
    query: { uploadType: "resumable", part: "snippet,status", notifySubscribers },
    headers: { "x-upload-content-length": String(sizeBytes), "x-upload-content-type": mimeType },
    json: body,
    isIdempotent: true,
    sign: bearer(),
    classify: faultsBy(youtubeFaults(io)),
  });
  const location = headers["location"] ?? "";
  const url = location === "" ? null : parseUrl(location, base);
  if (url === null) throw new PlatformFault("transient", "YouTube did not say where to send the video.");
  // It gets the channel's token.
  if (url.protocol !== new URL(base).protocol)
    throw new PlatformFault("transient", "YouTube named an address to send the video to that is not secure.");
  return url.href;
}

/** https://developers.google.com/youtube/v3/docs/thumbnails/set */
const THUMBNAIL_LIMITS = { maxBytes: 2 * 1024 * 1024, mimeTypes: ["image/jpeg", "image/png"] } as const;

const THUMBNAIL_RULES: readonly FaultRule[] = [
  {
    status: 403,
    code: ["forbidden", "insufficientPermissions", "PERMISSION_DENIED"],
    kind: "rejected",
    message:
      "Only verified channels may have thumbnails of their own on YouTube. Verify the channel at https://www.youtube.com/verify, then set the thumbnail again.",
  },
  ...refusedField("metadata.thumbnailUrl", {
    "invalidImage mediaBodyRequired": "YouTube refused the picture. Set another thumbnail.",
  }),
];

export function thumbnailOf<U extends string | undefined>(
  io: Pick<PublishIo, "request" | "setting" | "now">,
  url: U,
): Thumbnail & { readonly url: U } {
  return { url, limits: THUMBNAIL_LIMITS, send: (id, picture) => sendPicture(io, id, picture) };
}

async function sendPicture(
  io: Pick<PublishIo, "request" | "setting" | "now">,
  id: string,
  { bytes, mimeType }: Picture,
): Promise<void> {
  await io.request({
    ...UPLOAD_TIMES,
    method: "POST",
    url: `${uploadBaseOf(io)}/upload/youtube/v3/thumbnails/set`,
    query: { videoId: id, uploadType: "media" },
    headers: { "content-type": mimeType, "content-length": String(bytes.length) },
    body: bytes,
    isIdempotent: true,
    sign: bearer(),
    classify: faultsBy(youtubeFaults(io), { rules: THUMBNAIL_RULES }),
  });
}

const Items = z.looseObject({ items: z.array(z.looseObject({})).default([]) });

/** A playlist takes the same video twice, so one that may be in it is looked for first. */
async function addToPlaylist(
  { metadata: { playlistId } }: YoutubePost,
  io: PublishIo,
  id: string,
): Promise<void> {
  if (playlistId === undefined) return;
  const json = { snippet: { playlistId, resourceId: { kind: "youtube#video", videoId: id } } };
  await io.effect<null>({
    step: "playlist",
    request: json,
    send: async () => {
      const rules: readonly FaultRule[] = [{ code: "videoAlreadyInPlaylist", kind: "ok" }];
      const call = { method: "POST", path: "playlistItems", query: { part: "snippet" }, json } as const;
      await send(io, { ...call, rules });
      return null;
    },
    reconcile: async () => {
      const query = { part: "id", playlistId, videoId: id };
      const { items } = await askAs(io, { path: "playlistItems", query }, Items);
      return items.length > 0 ? { outcome: "done", result: null } : { outcome: "send_again" };
    },
  });
}

/** https://developers.google.com/youtube/v3/docs/captions/insert. A film has one of a language and a name. */
async function addSubtitles({ metadata }: YoutubePost, io: PublishIo, id: string): Promise<void> {
  const steps = (metadata.subtitles ?? []).map((_one, at) => `subtitles ${at + 1}`);
  if (steps.every((step) => io.resultOf(step) !== null)) return;
  const all = await readSubtitles(metadata, io);
  for (const [at, one] of all.entries()) {
    const snippet = { videoId: id, language: one.language, name: one.name ?? "" };
    await repeatableStep<true>(io, {
      step: steps[at] ?? "",
      request: { snippet, url: one.url },
      send: async () => {
        await sendSubtitles(io, snippet, one);
        return true;
      },
    });
  }
}

async function sendSubtitles(io: PublishIo, snippet: JsonObject, one: WrittenSubtitles): Promise<void> {
  const boundary = `subtitles-${randomUUID()}`;
  const part = (type: string): string => `--${boundary}\r\ncontent-type: ${type}\r\n\r\n`;
  const body = Buffer.concat([
    Buffer.from(`${part("application/json; charset=UTF-8")}${JSON.stringify({ snippet })}\r\n`),
    Buffer.from(part("application/octet-stream")),
    one.bytes,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  const rules: readonly FaultRule[] = [
    // An earlier try brought them, whose answer was lost.
    { code: "captionExists", kind: "ok" },
    ...refusedField(one.field, {
      "contentRequired invalidMetadata nameTooLong": "YouTube refused them. Add them in YouTube Studio.",
    }),
  ];
  await io.request({
    ...UPLOAD_TIMES,
    method: "POST",
    url: `${uploadBaseOf(io)}/upload/youtube/v3/captions`,
    query: { uploadType: "multipart", part: "snippet" },
    headers: {
      "content-type": `multipart/related; boundary=${boundary}`,
      "content-length": String(body.length),
    },
    body,
    isIdempotent: true,
    sign: bearer(),
    classify: faultsBy(youtubeFaults(io), { rules }),
  });
}

const COMMENT_RULES: readonly FaultRule[] = refusedField("metadata.firstComment", {
  commentsDisabled:
    "Comments are turned off on this video. Turn them on in YouTube Studio, and write it there.",
  "commentTextRequired commentTextTooLong": "YouTube refused the text. Write another one on YouTube.",
  "forbidden ineligibleAccount": "YouTube does not let the channel comment on it. Write it on YouTube.",
});

const Thread = z.looseObject({
  id: Id,
  snippet: z.looseObject({
    topLevelComment: z.looseObject({
      snippet: z.looseObject({
        textOriginal: z.string().optional().catch(undefined),
        authorChannelId: z.looseObject({ value: z.string().optional() }).optional().catch(undefined),
      }),
    }),
  }),
});
const Threads = z.looseObject({ items: z.array(Thread).default([]), nextPageToken: z.string().optional() });

/** Pages of 100 comments, the newest first. */
const MAX_PAGES = 5;

/** Once, found again by who wrote it and by its text: https://developers.google.com/youtube/v3/docs/commentThreads */
async function comment(io: PublishIo, videoId: string, text: string): Promise<void> {
  const channelId = io.account.platformAccountId ?? "";
  const query = { part: "snippet" };
  const json = { snippet: { channelId, videoId, topLevelComment: { snippet: { textOriginal: text } } } };
  const rules = COMMENT_RULES;
  await io.effect<string>({
    step: "comment",
    request: json,
    send: async () => {
      const call = { method: "POST", path: "commentThreads", query, json, rules } as const;
      return (await askAs(io, call, z.looseObject({ id: Id }))).id;
    },
    reconcile: (context) =>
      reconcileByListing<string>(context, {
        io,
        listedAfterMs: MINUTE,
        find: async (_since, doubts) => {
          const tooMany = (): void => doubts("the answer was lost, and the video has too many comments.");
          const listed = pages(MAX_PAGES, (pageToken) => listComments(io, videoId, pageToken), tooMany);
          const found = await findFirst(listed, ({ snippet }) => {
            const { authorChannelId, textOriginal } = snippet.topLevelComment.snippet;
            if ((authorChannelId?.value ?? channelId) !== channelId) return false;
            if (textOriginal === undefined) doubts("YouTube does not tell what its comments say.");
            return plain(textOriginal ?? "") === plain(text);
          });
          return found?.id ?? null;
        },
      }),
  });
}

async function listComments(io: PublishIo, videoId: string, pageToken: string | undefined) {
  const query = { part: "snippet", videoId, maxResults: 100, textFormat: "plainText", pageToken };
  const { items, nextPageToken } = await askAs(
    io,
    { path: "commentThreads", query, rules: COMMENT_RULES },
    Threads,
  );
  return { items, next: nextPageToken };
}

function plain(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

import * as z from "zod";
import { parseUrl } from "../../domain/parse-url.ts";
import { toIso } from "../../domain/time.ts";
import type { MediaItem } from "../../ports/media.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import { PlatformFault, type JsonObject, type PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { bearer, faultsBy } from "../shared/faults.ts";
import { publishHeld } from "../shared/film/held.ts";
import { uploadFilm, type Film, type Lost, type UploadedVideo } from "../shared/film/sessions.ts";
import { serverOf } from "../shared/servers.ts";
import { askOrGone, askOwn, FAULTS, own } from "./api.ts";
import { changeVideo, findVideo, pathOf, standingOf, thumbnailOf, Video } from "./live.ts";
import { fieldsOf, given, type PeertubePost, PRIVACIES, visibilityOf } from "./metadata.ts";

/** What a broken connection sends twice; servers that keep files elsewhere take none under 5 MiB. */
const CHUNK_BYTES = 8 * 1024 * 1024;

/** Uploads the film in private, with the time at which PeerTube shows it; what it does not show in time, we do. */
export async function publish(post: PeertubePost, io: PublishIo): Promise<PublishOutcome> {
  return publishHeld(io, {
    title: "PeerTube",
    post,
    wanted: visibilityOf(post),
    hidden: "private",
    // No one sees a video that waits for its transcoding, whatever its privacy.
    patienceMs: Infinity,
    thumbnail: thumbnailOf(io, post.metadata.thumbnailUrl),
    staysHidden:
      "The video is on the server, but still private although its time has come. Look at it there.",
    upload: () => upload(post, io),
    look: async (id) => {
      const video = await findVideo(io, id);
      return video === null ? null : standingOf(video);
    },
    flip: (id) => show(io, id, PRIVACIES[visibilityOf(post)]),
  });
}

function upload(post: PeertubePost, io: PublishIo): Promise<UploadedVideo> {
  const body = bodyOf(post, io);
  return uploadFilm(io, {
    title: "PeerTube",
    mediaUrl: post.mediaUrl,
    request: body,
    chunkBytes: CHUNK_BYTES,
    contentType: "application/octet-stream",
    sign: bearer(),
    classify: faultsBy(FAULTS),
    begin: (film, key) => begin(io, { film, key, body }),
    read: (answer) => {
      const made = Made.safeParse(answer);
      return made.success ? filmOf(io, made.data.video) : null;
    },
    find: (lost) => find(io, post, lost),
  });
}

const Made = z.looseObject({ video: Video.pick({ uuid: true, shortUUID: true }) });

function filmOf(io: PublishIo, { uuid, shortUUID }: Pick<Video, "uuid" | "shortUUID">): Film {
  return { id: uuid, url: `${serverOf(io)}/w/${shortUUID ?? uuid}` };
}

/** What is to be private stays so; anything else PeerTube shows by itself at its time. */
function bodyOf(post: PeertubePost, { account, isDue }: PublishIo): JsonObject {
  const wanted = visibilityOf(post);
  const scheduleUpdate = { updateAt: toIso(post.scheduledAt), privacy: PRIVACIES[wanted] };
  return {
    channelId: Number(account.platformAccountId),
    privacy: PRIVACIES.private,
    ...(isDue || wanted === "private" ? {} : { scheduleUpdate }),
    ...given(fieldsOf(post)),
    waitTranscoding: post.metadata.waitTranscoding ?? true,
  };
}

export const EXTENSIONS: Readonly<Record<string, string>> = {
  "video/mp4": ".mp4",
  "video/webm": ".webm",
  "video/quicktime": ".mov",
  "video/x-matroska": ".mkv",
};

interface UploadRequest {
  readonly film: MediaItem;
  readonly key: string;
  readonly body: JsonObject;
}

/** The file's name, which only its owner sees, tells this upload from every other. */
async function begin(io: PublishIo, { film, key, body }: UploadRequest): Promise<string> {
  const { sizeBytes, mimeType } = film.facts;
  const { headers } = await own(io, {
    method: "POST",
    path: "videos/upload-resumable",
    headers: { "x-upload-content-length": String(sizeBytes), "x-upload-content-type": mimeType },
    json: { ...body, filename: `${key}${EXTENSIONS[mimeType] ?? ".mp4"}` },
    isIdempotent: true,
  });
  const location = headers["location"] ?? "";
  const server = serverOf(io);
  const id = parseUrl(location, server)?.searchParams.get("upload_id") ?? null;
  // Of the address only the session is taken: behind a proxy, the server may not know its own.
  if (id !== null) return `${server}/api/v1/videos/upload-resumable?upload_id=${encodeURIComponent(id)}`;
  throw new PlatformFault("transient", "PeerTube did not say where to send the video.");
}

const List = z.looseObject({ data: z.array(Video) });
const Source = z.looseObject({ inputFilename: z.string().optional(), filename: z.string().optional() });

/** The newest of the account's videos: more than are uploaded meanwhile. */
const NEWEST = 100;

/** The video that came of an upload: by the name of its file, or by title and time where it is not told. */
async function find(io: PublishIo, { metadata }: PeertubePost, lost: Lost): Promise<Film | null> {
  const query = { sort: "-createdAt", count: NEWEST };
  const { data } = await askOwn(io, { path: "users/me/videos", query }, List);
  const alike = data.filter(
    ({ name, createdAt }) => name.trim() === metadata.title.trim() && Date.parse(createdAt) >= lost.since,
  );
  for (const video of alike) {
    const file = await readSource(io, video.uuid);
    if (file === null || file.startsWith(lost.key)) return filmOf(io, video);
  }
  return null;
}

/** Null on servers that do not tell it. */
async function readSource(io: PlatformIo, uuid: string): Promise<string | null> {
  const call = { path: `${pathOf(uuid)}/source`, gone: [{ status: [403, 404] }] };
  const source = await askOrGone(io, call, Source.or(z.unknown().transform(() => null)));
  return source?.inputFilename ?? source?.filename ?? null;
}

/** Takes the schedule away with it, so that nothing changes the video again. */
async function show(io: PublishIo, id: string, privacy: number): Promise<{ privacy: string }> {
  const video = await findVideo(io, id);
  if (video === null) throw new PlatformFault("not_sent", "PeerTube does not show the video yet.");
  const schedule = video.scheduledUpdate === null ? {} : { scheduleUpdate: "null" };
  await changeVideo(io, id, { privacy: String(privacy), ...schedule });
  const after = await findVideo(io, id);
  return { privacy: after === null ? "" : standingOf(after).privacy };
}

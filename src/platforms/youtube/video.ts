import * as z from "zod";
import { type JsonObject, PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import type { Standing } from "../shared/film/held.ts";
import { findFirst, pages } from "../shared/pages.ts";
import { askAs } from "./api.ts";
import { USUAL_CATEGORY, type YoutubePost } from "./metadata.ts";

const Text = z.string().optional().catch(undefined);
const JsonPart = z.record(z.string(), z.json());

/** A video as far as we read it: https://developers.google.com/youtube/v3/docs/videos */
export const Video = z.looseObject({
  id: z.string().min(1),
  snippet: JsonPart.optional(),
  status: JsonPart.optional(),
  statistics: JsonPart.optional(),
  processingDetails: JsonPart.optional(),
  fileDetails: JsonPart.optional(),
  suggestions: JsonPart.optional(),
});
export type Video = z.infer<typeof Video>;

const List = z.looseObject({ items: z.array(Video).default([]) });

/** Null where there is none, or none that the channel may see. */
export async function findVideo(io: PlatformIo, id: string, part: string): Promise<Video | null> {
  const { items } = await askAs(io, { path: "videos", query: { part, id } }, List);
  return items.find((video) => video.id === id) ?? null;
}

/** Several, in no order. */
async function findVideos(io: PlatformIo, ids: readonly string[], part: string): Promise<Video[]> {
  if (ids.length === 0) return [];
  const { items } = await askAs(io, { path: "videos", query: { part, id: ids.join(",") } }, List);
  return items;
}

const Status = z.looseObject({
  uploadStatus: Text,
  privacyStatus: Text,
  publishAt: Text,
  failureReason: Text,
  rejectionReason: Text,
});

const Processing = z.looseObject({ processingStatus: Text, processingFailureReason: Text });

/** Out of the parts `status` and `processingDetails`. */
export function standingOf(video: Video): Standing {
  const status = Status.parse(video.status ?? {});
  const processing = Processing.parse(video.processingDetails ?? {});
  const hasFailed =
    status.uploadStatus === "failed" ||
    status.uploadStatus === "rejected" ||
    // "terminated" says only that it is not known any more.
    processing.processingStatus === "failed";
  const isProcessing = status.uploadStatus === "uploaded" && processing.processingStatus !== "succeeded";
  const usable = isProcessing ? "processing" : "ready";
  const state = status.uploadStatus === "deleted" ? "deleted" : hasFailed ? "failed" : usable;
  return {
    state,
    privacy: status.privacyStatus ?? "",
    isScheduled: status.publishAt !== undefined,
    reason: hasFailed ? reasonOf(status, processing) : "",
  };
}

/** The names are those of the API's reference; what each means in plain words, and the way out. */
const REASONS: Readonly<Record<string, string>> = {
  conversion: "it could not be converted. Save it in another format, such as MP4 with H.264",
  invalidFile: "the file is not a valid video. Save it again",
  emptyFile: "the file is empty. Give another one",
  tooSmall: "the file is too small. Give another one",
  codec: "its codec is not supported. Save it as MP4 with H.264 and AAC",
  uploadAborted: "the upload was broken off. Try again",
  copyright: "there is a copyright claim. Look at it in YouTube Studio",
  inappropriate: "its content breaks YouTube's rules. Look at it in YouTube Studio",
  duplicate: "the same video is on the channel already. Look for it in YouTube Studio",
  termsOfUse: "it breaks YouTube's terms of use. Look at it in YouTube Studio",
  uploaderAccountSuspended: "the channel is suspended. Settle that with YouTube",
  uploaderAccountClosed: "the channel is closed. Connect another one",
  length:
    "it is too long for the channel. Verify the channel at https://www.youtube.com/verify, or shorten it",
  claim: "another person claims its content. Look at it in YouTube Studio",
  trademark: "there is a trademark claim. Look at it in YouTube Studio",
  legal: "there is a legal complaint. Look at it in YouTube Studio",
  uploadFailed: "the upload did not arrive. Try again",
  transcodeFailed: "it could not be converted. Save it in another format, such as MP4 with H.264",
  streamingFailed: "it could not be prepared for watching. Try again",
};

function reasonOf(status: z.infer<typeof Status>, processing: z.infer<typeof Processing>): string {
  const name = status.failureReason ?? status.rejectionReason ?? processing.processingFailureReason ?? "";
  const verb = status.uploadStatus === "rejected" ? "rejected" : "could not process";
  const named = /^\w{1,60}$/.test(name) ? ` (${name})` : "";
  const why = Object.hasOwn(REASONS, name) ? `: ${REASONS[name]}` : ". Look at it in YouTube Studio";
  return `YouTube ${verb} the video${named}${why}, then send the post again.`;
}

/** What the channel itself says in `snippet`; the caption is the description. */
export function snippetOf({ caption, metadata }: Pick<YoutubePost, "caption" | "metadata">): JsonObject {
  const { title, tags, categoryId, language } = metadata;
  return {
    title,
    description: caption ?? "",
    categoryId: categoryId ?? USUAL_CATEGORY,
    ...(tags === undefined ? {} : { tags: [...tags] }),
    ...(language === undefined ? {} : { defaultLanguage: language }),
  };
}

/** What it says in `status`, apart from who can see the video. */
export function declaredOf({ metadata }: Pick<YoutubePost, "metadata">): JsonObject {
  const { license, embeddable, publicStatsViewable, containsSyntheticMedia, madeForKids } = metadata;
  const said = { license, embeddable, publicStatsViewable, containsSyntheticMedia };
  const given = Object.entries(said).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return { selfDeclaredMadeForKids: madeForKids ?? false, ...Object.fromEntries(given) };
}

/** Parts of a video that can be changed; what an update of a part leaves out is erased. */
const MUTABLE = {
  snippet: ["title", "description", "tags", "categoryId", "defaultLanguage"],
  status: [
    "privacyStatus",
    "publishAt",
    "license",
    "embeddable",
    "publicStatsViewable",
    "selfDeclaredMadeForKids",
    "containsSyntheticMedia",
  ],
} as const;

/** A part as it is now, as far as it can be changed: what an update sends back beside its changes. */
export function mutableOf(video: Video, part: keyof typeof MUTABLE): JsonObject {
  const now = video[part] ?? {};
  const fields: readonly string[] = MUTABLE[part];
  return Object.fromEntries(Object.entries(now).filter(([name]) => fields.includes(name)));
}

const PrivacyStatus = z.looseObject({ privacyStatus: z.string() });

/** Changes who can see a video, and leaves what else its status says. */
export async function changeVisibility(
  io: PlatformIo,
  id: string,
  wanted: string,
): Promise<{ privacy: string }> {
  const video = await findVideo(io, id, "status");
  if (video === null) throw new PlatformFault("not_sent", "YouTube does not show the video yet.");
  const { publishAt: _over, ...status } = mutableOf(video, "status");
  const answer = await updateVideo(io, id, { status: { ...status, privacyStatus: wanted } });
  return { privacy: PrivacyStatus.safeParse(answer.status).data?.privacyStatus ?? "" };
}

/** Replaces whole parts of a video. */
export function updateVideo(io: PlatformIo, id: string, parts: JsonObject): Promise<Video> {
  const how = { method: "PUT", query: { part: Object.keys(parts).join(",") }, isIdempotent: true } as const;
  return askAs(io, { ...how, path: "videos", json: { id, ...parts } }, Video);
}

interface UploadSearch {
  readonly post: YoutubePost;
  /** In milliseconds since 1970. */
  readonly since: number;
  readonly sizeBytes: number;
}

/** Pages of 50 of the newest uploads: more than a channel uploads meanwhile. */
const MAX_PAGES = 4;

const Page = z.looseObject({
  items: z
    .array(
      z.looseObject({
        snippet: z.looseObject({ title: z.string().catch(""), publishedAt: z.string().catch("") }),
        contentDetails: z.looseObject({ videoId: z.string() }),
      }),
    )
    .default([]),
  nextPageToken: z.string().optional(),
});

/** The id of a video among the channel's uploads that is this post's by title, time and size; null: none is. */
export async function findUpload(io: PublishIo, wanted: UploadSearch): Promise<string | null> {
  const { title } = wanted.post.metadata;
  const videos = pages(MAX_PAGES, async (pageToken) => {
    const query = { part: "snippet,contentDetails", playlistId: uploadsOf(io), maxResults: 50, pageToken };
    const { items, nextPageToken } = await askAs(io, { path: "playlistItems", query }, Page);
    const since = items.filter(({ snippet }) => Date.parse(snippet.publishedAt) >= wanted.since);
    const alike = since.filter(({ snippet }) => snippet.title.trim() === title.trim());
    const ids = alike.map(({ contentDetails }) => contentDetails.videoId);
    const next = since.length < items.length ? null : nextPageToken;
    return { items: await findVideos(io, ids, "fileDetails,snippet"), next };
  });
  return (await findFirst(videos, (one) => isSame(one, wanted)))?.id ?? null;
}

/** The list of what the channel uploaded; named after the channel where connecting did not tell it. */
function uploadsOf({ account }: PublishIo): string {
  const told = z.string().min(1).safeParse(account.settings["uploads"]);
  return told.success ? told.data : `UU${(account.platformAccountId ?? "").slice(2)}`;
}

const FileDetails = z.looseObject({ fileSize: z.coerce.number() });

/** Until YouTube looked at the file it does not tell its size; title, text and time must do then. */
function isSame({ fileDetails, snippet }: Video, { post, sizeBytes }: UploadSearch): boolean {
  const file = FileDetails.safeParse(fileDetails);
  if (file.success) return file.data.fileSize === sizeBytes;
  return (snippet?.["description"] ?? "") === (post.caption ?? "");
}

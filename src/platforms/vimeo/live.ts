import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { EditResult, PostInsights, PublishOutcome } from "../../ports/platform.ts";
import type { JsonObject, PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";
import {
  type Picture,
  publishHeld,
  sendThumbnail,
  type Standing,
  type Thumbnail,
} from "../shared/film/held.ts";
import { askOwn, findVideo, own, removeVideo, Video, vimeoFaults } from "./api.ts";
import { fieldsOf, privacyOf, VIEWS, viewOf, type VimeoPost } from "./metadata.ts";
import { upload } from "./publish.ts";
import { byStatus, faultsBy } from "../shared/faults.ts";

/** Uploads the film in private, and makes it what it is to be at its time. */
export async function publish(post: VimeoPost, io: PublishIo): Promise<PublishOutcome> {
  const { tags } = post.metadata;
  return publishHeld(io, {
    title: "Vimeo",
    post,
    wanted: viewOf(post),
    hidden: VIEWS.private,
    // Until the first of its qualities is made, it cannot be watched.
    patienceMs: Infinity,
    thumbnail: thumbnailOf(io, post.metadata.thumbnailUrl),
    staysHidden:
      "The video is on Vimeo, but the people it is for cannot see it. The account's plan may not allow that. Look at it on Vimeo.",
    upload: () => upload(post, io),
    look: async (id) => {
      const video = await findVideo(io, id, STANDING);
      return video === null ? null : standingOf(video);
    },
    flip: async (id, view) => shownAs(await change(io, id, { privacy: { view } })),
    followUps: async (id) => {
      if (tags === undefined || tags.length === 0) return;
      await io.followUp("The tags", async () => {
        await io.effect<true>({
          step: "tags",
          request: { id, tags },
          send: () => addTags(io, id, tags),
          reconcile: async () => ({ outcome: "send_again" }),
        });
      });
    },
  });
}

/** A tag that the video has already is no second one. */
async function addTags(io: PlatformIo, id: string, tags: readonly string[]): Promise<true> {
  const json = tags.map((name) => ({ name }));
  await own(io, { method: "PUT", path: `/videos/${id}/tags`, json, isIdempotent: true });
  return true;
}

const STANDING = "uri,link,status,is_playable,privacy.view,upload.status,transcode.status";

function standingOf(video: Video): Standing {
  const { status, is_playable: isPlayable, upload: sent, transcode } = video;
  const hasFailed = [sent?.status, transcode?.status].includes("error") || /_error$|_exceeded$/.test(status);
  const isProcessing = sent?.status === "in_progress" || transcode?.status === "in_progress";
  return {
    ...shownAs(video),
    state: hasFailed ? "failed" : isProcessing && !isPlayable ? "processing" : "ready",
    isScheduled: false,
    reason: hasFailed
      ? status.endsWith("_exceeded")
        ? "Vimeo did not keep the video: the account's space is used up. Free some space there, then send the post again."
        : "Vimeo could not process the video. Save it as MP4 with H.264 and AAC, then send the post again."
      : "",
  };
}

function shownAs({ privacy, link }: Video): Pick<Standing, "privacy" | "url"> {
  return { privacy: privacy?.view ?? "", ...(link === undefined ? {} : { url: link }) };
}

function change(io: PlatformIo, id: string, json: JsonObject): Promise<Video> {
  const query = { fields: "uri,link,privacy.view" };
  return askOwn(io, { method: "PATCH", path: `/videos/${id}`, query, json, isIdempotent: true }, Video);
}

/** Throws `conflict` for a post that has no id. */
function videoOf({ platformPostId }: VimeoPost): string {
  if (platformPostId !== null && platformPostId !== "") return platformPostId;
  throw new AppError("conflict", "platformPostId: is missing, so the video cannot be found on Vimeo.");
}

/** What was changed on Vimeo meanwhile stays where it is not named. */
export async function edit(post: VimeoPost, changed: readonly string[], io: PublishIo): Promise<EditResult> {
  const has = (name: string): boolean => changed.includes(name);
  const wanted = fieldsOf(post);
  const { comments, embeddable, downloadEnabled } = post.metadata;
  const privacy: JsonObject = {
    ...(has("visibility") ? { view: viewOf(post) } : {}),
    ...privacyOf({
      ...(has("comments") ? { comments: comments ?? "enabled" } : {}),
      ...(has("embeddable") ? { embeddable: embeddable ?? true } : {}),
      ...(has("downloadEnabled") ? { downloadEnabled: downloadEnabled ?? false } : {}),
    }),
  };
  const after = await change(io, videoOf(post), {
    ...(has("title") || has("caption") ? { name: wanted["name"] ?? null } : {}),
    ...(has("caption") ? { description: wanted["description"] ?? "" } : {}),
    ...(has("license") ? { license: wanted["license"] ?? null } : {}),
    ...(has("language") ? { locale: wanted["locale"] ?? null } : {}),
    ...(Object.keys(privacy).length === 0 ? {} : { privacy }),
  });
  const { privacy: view, url } = shownAs(after);
  if (has("visibility") && view !== viewOf(post))
    throw new AppError(
      "conflict",
      "metadata.visibility: Vimeo left it as it was. The account's plan may not allow it. Look at the video on Vimeo.",
    );
  return url === undefined ? {} : { platformUrl: url };
}

/** https://developer.vimeo.com/api/upload/thumbnails */
const THUMBNAIL_LIMITS = { maxBytes: 10_000_000, mimeTypes: ["image/jpeg", "image/png"] } as const;

function thumbnailOf<U extends string | undefined>(io: PlatformIo, url: U): Thumbnail & { readonly url: U } {
  return { url, limits: THUMBNAIL_LIMITS, send: (id, picture) => sendPicture(io, id, picture) };
}

const Uploaded = z.looseObject({
  uri: z.string().regex(/^\/videos\/[\w:]+\/pictures\/\w+$/),
  link: z.string(),
});

/** A picture is seen once it is made the active one. */
async function sendPicture(io: PlatformIo, id: string, { bytes, mimeType }: Picture): Promise<void> {
  const call = { method: "POST", path: `/videos/${id}/pictures`, json: {}, isIdempotent: true } as const;
  const { uri, link } = await askOwn(io, call, Uploaded);
  const headers = { "content-type": mimeType, "content-length": String(bytes.length) };
  const rules = byStatus(
    { kind: "rejected", field: "metadata.thumbnailUrl" },
    { "400 415 422": "Vimeo refused the picture. Set another thumbnail." },
  );
  await io.request({
    ...UPLOAD_TIMES,
    method: "PUT",
    url: link,
    headers,
    body: bytes,
    isIdempotent: true,
    classify: faultsBy(vimeoFaults(io), { rules }),
  });
  await own(io, { method: "PATCH", path: uri, json: { active: true }, isIdempotent: true });
}

export async function setThumbnail(post: VimeoPost, thumbnailUrl: string, io: PublishIo): Promise<void> {
  await sendThumbnail(io, videoOf(post), thumbnailOf(io, thumbnailUrl));
}

const INSIGHTS = `${STANDING},stats.plays,metadata.connections.likes.total,metadata.connections.comments.total`;

export async function insights(post: VimeoPost, io: PlatformIo): Promise<PostInsights> {
  const video = await findVideo(io, videoOf(post), INSIGHTS);
  if (video === null) return { state: "removed", visibility: null, metrics: {} };
  const { state, privacy } = standingOf(video);
  const { likes, comments } = video.metadata?.connections ?? {};
  const isHidden = privacy === VIEWS.private;
  const shown = state === "ready" ? (isHidden ? "private" : "live") : state;
  return {
    state: shown === "failed" ? "rejected" : shown === "deleted" ? "removed" : shown,
    visibility: privacy === "" ? null : privacy,
    // Without the permission to read statistics, plays are null.
    metrics: {
      views: video.stats?.plays ?? null,
      likes: likes?.total ?? null,
      comments: comments?.total ?? null,
    },
  };
}

export async function remove(post: VimeoPost, io: PlatformIo): Promise<void> {
  await removeVideo(io, videoOf(post));
}

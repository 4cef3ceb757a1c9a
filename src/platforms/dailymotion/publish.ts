import * as z from "zod";
import { HOUR, MINUTE, SECOND, toIso } from "../../domain/time.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";
import { faultsBy } from "../shared/faults.ts";
import { repeatableStep, reconcileByListing } from "../shared/reconcile.ts";
import { AnyAnswer, call, callOrGone, Id } from "./api.ts";
import { type DailymotionPost, joined, partsOf } from "./metadata.ts";

const Video = z.looseObject({
  video_id: Id,
  visibility: z.string().catch(""),
  created_at: z.string().catch(""),
  tags: z.array(z.string()).catch([]),
  video_url: z
    .url({ protocol: /^https$/ })
    .optional()
    .catch(undefined),
  processing: z
    .looseObject({
      encoding_status: z.string().catch(""),
      encoding_progress: z.number().nullable().catch(null),
    })
    .nullish()
    .catch(null),
});
type Video = z.infer<typeof Video>;

const FIELDS = "video_id,visibility,created_at,tags,video_url,processing";

/** Null where it is gone, or not there yet. */
export function findVideo(io: PlatformIo, id: string): Promise<Video | null> {
  return callOrGone(io, { path: `/videos/${id}`, query: { fields: FIELDS } }, Video);
}

/** A video counts as ready where nothing is told of it. */
export function stateOf({ processing }: Video): "processing" | "failed" | "ready" {
  const { encoding_status: status = "", encoding_progress: progress = null } = processing ?? {};
  if (/error|fail|reject/i.test(status)) return "failed";
  return progress !== null && progress < 100 ? "processing" : "ready";
}

/** A film that Dailymotion works on for longer than this is shown all the same, as soon as it can be. */
const PATIENCE_MS = 15 * MINUTE;
/** A new video may not be found yet. */
const APPEARS_WITHIN_MS = 5 * MINUTE;
const LOOK_AGAIN_MS = 10 * SECOND;

/** Brings the film there in private, and makes it what it is to be at its time. */
export async function publish(post: DailymotionPost, io: PublishIo): Promise<PublishOutcome> {
  const { id, at } = Created.parse(io.resultOf("video") ?? (await create(post, io, await upload(post, io))));
  const isOut = io.resultOf("publish") !== null;
  const { waits, video } = isOut ? { waits: null, video: null } : await look({ post, id, at }, io);
  if (waits !== null) return waits;
  const platformUrl = await show(post, io, { id, privateUrl: video?.video_url ?? null });
  return { state: "live", platformPostId: id, platformUrl };
}

const UploadedFile = z.object({ fileUrl: z.string(), at: z.number() });
type UploadedFile = z.infer<typeof UploadedFile>;

/** How long Dailymotion keeps a file that no video was made of. */
const KEPT_MS = 3 * HOUR;

/** There is no going on: what broke off is sent again, in a session of its own. */
async function upload({ mediaUrl }: DailymotionPost, io: PublishIo): Promise<string> {
  const item = await io.media.item(mediaUrl);
  const { sizeBytes, mimeType } = item.facts;
  const { fileUrl } = await repeatableStep<UploadedFile>(io, {
    step: "upload",
    request: { url: mediaUrl },
    send: async () => {
      const asked = { method: "POST", path: "/files/upload_sessions", isIdempotent: true } as const;
      const session = await call(io, asked, z.looseObject({ upload_url: z.string() }));
      const file = { name: "file", fileName: "video.mp4", mimeType, sizeBytes, open: () => item.open() };
      const { url } = await io.ask(
        {
          ...UPLOAD_TIMES,
          // A film is one request, as large as it is.
          timeoutMs: 4 * HOUR,
          method: "POST",
          url: session.upload_url,
          multipart: [file],
          isIdempotent: true,
          classify: uploadFaults,
        },
        z.looseObject({ url: z.url({ protocol: /^https?$/ }) }),
      );
      return { fileUrl: url, at: io.now() };
    },
    isGone: async ({ at }) => io.now() - at > KEPT_MS,
  });
  return fileUrl;
}

const uploadFaults = faultsBy({
  title: "Dailymotion",
  codesOf: () => [],
  rules: [
    {
      status: [400, 401, 403, 404, 408, 409, 410],
      kind: "transient",
      isNotDone: true,
      message: "Dailymotion broke off the upload. It starts again.",
    },
    {
      status: [413, 415],
      kind: "rejected",
      field: "mediaUrl",
      message: "Dailymotion does not take such a file. Give an MP4 with H.264 and AAC.",
    },
  ],
});

const Created = z.object({ id: z.string(), at: z.number() });

const Page = z.looseObject({ data: z.array(Video).default([]) });

/** Private, whatever it is to be: a second one would never be seen. It has a tag of its own until its time. */
function create(post: DailymotionPost, io: PublishIo, fileUrl: string): Promise<z.infer<typeof Created>> {
  const parts = partsOf(post);
  const path = `/profiles/${Id.parse(io.account.platformAccountId)}/videos`;
  const fields = joined([...Object.values(parts), { visibility: "private" }]);
  return io.effect({
    step: "video",
    request: fields,
    send: async ({ key }) => {
      const json = { ...fields, tags: [...parts.tags.tags, key], source: { file_url: fileUrl } };
      const made = await call(io, { method: "POST", path, json }, z.looseObject({ video_id: Id }));
      return { id: made.video_id, at: io.now() };
    },
    reconcile: (context) =>
      reconcileByListing(context, {
        io,
        listedAfterMs: MINUTE,
        find: async (since) => {
          const query = { created_after: toIso(since), sort: "-created_at", page_size: 100, fields: FIELDS };
          const { data } = await call(io, { path, query }, Page);
          const found = data.find(({ tags }) => tags.includes(context.key));
          return found === undefined ? null : { id: found.video_id, at: io.now() };
        },
      }),
  });
}

interface CreatedVideo extends z.infer<typeof Created> {
  readonly post: DailymotionPost;
}

interface VideoCheck {
  /** Null: its time has come, and it can be shown. */
  readonly waits: PublishOutcome | null;
  readonly video: Video | null;
}

/** Whether it can be shown now. Throws what it failed by. */
async function look({ post, id, at }: CreatedVideo, io: PublishIo): Promise<VideoCheck> {
  const held = { state: "held", platformPostId: id, platformUrl: null } as const;
  let video: Video | null;
  try {
    video = await findVideo(io, id);
  } catch (error) {
    // It is there: trouble with asking is no trouble of the post's.
    if (!(error instanceof PlatformFault) || error.kind === "auth") throw error;
    io.log.warn({ id, err: error }, "a video could not be asked about");
    const checkAgainMs = error.retryAfterMs ?? LOOK_AGAIN_MS;
    return { waits: { ...held, checkAgainMs, note: error.message }, video: null };
  }
  const sinceMs = io.now() - at;
  const checkAgainMs = Math.max(LOOK_AGAIN_MS, Math.round(sinceMs / 4));
  if (video === null && sinceMs < APPEARS_WITHIN_MS) return { waits: { ...held, checkAgainMs }, video };
  if (video === null)
    throw new PlatformFault(
      "rejected",
      "The video is not on Dailymotion any more. It was deleted there. Send the post again.",
    );
  const state = stateOf(video);
  if (state === "failed")
    throw new PlatformFault(
      "rejected",
      "Dailymotion could not use the video. Give an MP4 with H.264 and AAC, then send the post again.",
      { field: "mediaUrl" },
    );
  const place = { ...held, platformUrl: video.video_url ?? null };
  const lateMs = io.now() - Math.max(post.scheduledAt, at);
  if (state === "processing" && lateMs < PATIENCE_MS) return { waits: { ...place, checkAgainMs }, video };
  return { waits: io.isDue ? null : place, video };
}

const Shown = z.object({ url: z.string().nullable() });

/** May be done again without harm; takes the tag away that it was found by. */
async function show(
  post: DailymotionPost,
  io: PublishIo,
  { id, privateUrl }: { readonly id: string; readonly privateUrl: string | null },
): Promise<string | null> {
  const { visibility, tags } = partsOf(post);
  const json = { ...visibility, ...tags };
  const { url } = await io.effect<z.infer<typeof Shown>>({
    step: "publish",
    request: { id, ...json },
    send: async () => {
      const asked = { method: "PATCH", path: `/videos/${id}`, json, isIdempotent: true } as const;
      await call(io, asked, AnyAnswer);
      return { url: visibility.visibility === "public" ? watchUrl(id) : privateUrl };
    },
    reconcile: async () => ({ outcome: "send_again" }),
    live: (result) => ({ platformPostId: id, platformUrl: result.url }),
  });
  return url;
}

/** Where people look at a video. */
export function watchUrl(id: string): string {
  return `https://www.dailymotion.com/video/${id}`;
}

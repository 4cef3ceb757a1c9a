import * as z from "zod";
import type { AcceptedMedia } from "../../domain/accounts/capabilities.ts";
import { AppError } from "../../domain/errors.ts";
import { MINUTE } from "../../domain/time.ts";
import type { MediaItem } from "../../ports/media.ts";
import { type JsonObject, PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { Id } from "../../ports/platform-values.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import type { EffectContext, PublishIo } from "../../ports/publish-io.ts";
import { asciiAddressOf, itemsOf, openAll } from "../shared/media.ts";
import {
  type Container,
  type Containers,
  createContainers,
  findNewest,
  plain,
  readPermalink,
  SENT,
  type SentFilm,
} from "../shared/meta/containers.ts";
import { Created, listEntries } from "../shared/meta/graph.ts";
import { bytesOf, ruploadUrl, sendFilm, Uploading } from "../shared/meta/rupload.ts";
import { findFirst } from "../shared/pages.ts";
import { reconcileByListing } from "../shared/reconcile.ts";
import { accountId, apiOf, ask, askOrGone, classify, isOfPage, MILD, request, ShapeRefused } from "./api.ts";
import { type InstagramPost, MAX_ITEMS } from "./metadata.ts";
import type { Match } from "../shared/faults.ts";

const PUBLISH = "publish";

/**
 * Containers that are not seen, made and fetched by Instagram ahead of the time, and one call that publishes.
 * If its answer is lost, the container tells whether it is out.
 */
export async function publish(post: InstagramPost, io: PublishIo): Promise<PublishOutcome> {
  const api = apiOf(io);
  const containers = createContainers(io, {
    ...api,
    upload: (film, context) => uploadFilm(film, io, context),
    mayRefit: (refusal) => refusal instanceof ShapeRefused,
  });
  const container = await prepare(post, io, containers);
  if (typeof container === "number") return { state: "processing", checkAgainMs: container };
  if (!io.isDue) return { state: "prepared" };
  const id = await containers.publish({
    step: PUBLISH,
    container,
    find: (since) => findMedia(post, io, since),
    live: (platformPostId) => ({ platformPostId, platformUrl: null }),
  });
  const platformUrl = await readPermalink(api, id);
  if (await io.once(REFITTED, () => false)) await io.followUp("A picture's own shape", describeOfBars);
  const { firstComment, comments } = post.metadata;
  if (comments === false) await io.followUp("Turning comments off", () => closeComments(io, id));
  if (firstComment !== undefined) await io.followUp("The first comment", () => comment(io, id, firstComment));
  return { state: "live", platformPostId: id, platformUrl };
}

/** Noted where Instagram took a picture only with bars. */
const REFITTED = "refitted";

async function describeOfBars(): Promise<void> {
  throw new PlatformFault(
    "rejected",
    "Instagram refused the shape, so the picture has white bars at its sides. Crop the next one to 4:5.",
  );
}

async function prepare(
  post: InstagramPost,
  io: PublishIo,
  containers: Containers,
): Promise<Container | number> {
  const items = await openAll(itemsOf(post), io);
  const [first] = items;
  if (first === undefined) throw new Error("A post without media.");
  return containers.prepare({
    step: "container",
    publishStep: PUBLISH,
    itemStep: (nth) => `item.${nth}`,
    request: {
      caption: post.caption,
      items: items.map(({ url }) => url),
      metadata: Fields.parse(post.metadata),
    },
    items,
    fieldsOf: (item, isRefit) => mediumOf(io, item, { filmType: "VIDEO", isRefit }),
    fields: async (children, isRefit) =>
      children.length === 0
        ? singleOf(post, first, { io, isRefit })
        : { media_type: "CAROUSEL", children: children.join(","), ...captionOf(post), ...sharedBy(post) },
  });
}

const Fields = z.record(z.string(), z.json());

interface Medium {
  readonly filmType: string;
  /** A story shows every shape. */
  readonly isStory?: boolean;
  readonly isRefit?: boolean;
}

async function mediumOf(
  io: PublishIo,
  item: MediaItem,
  { filmType, isStory = false, isRefit = false }: Medium,
): Promise<JsonObject> {
  if (item.facts.type === "video") return { media_type: filmType, ...(await filmOf(io, item)) };
  if (isRefit) await io.once(REFITTED, () => true);
  const url = await addressOf(io, item, isStory ? null : isRefit ? SAFE_RATIO : IMAGE.minAspectRatio);
  return { image_url: url, ...(item.altText === null || isStory ? {} : { alt_text: item.altText }) };
}

/** A film that cannot be fetched is sent, which Instagram takes through a Page only. */
async function filmOf(io: PublishIo, item: MediaItem): Promise<JsonObject> {
  try {
    return { video_url: await addressOf(io, item, null) };
  } catch (error) {
    const isUnreachable = error instanceof AppError && error.kind === "invalid";
    if (!isUnreachable || !isOfPage(io)) throw error;
    return SENT;
  }
}

/** A container whose film is on its way, and where that goes. */
const Session = z.object({ id: z.string(), url: z.string() });
const Begun = Created.extend({ uri: z.url().optional().catch(undefined) });

/**
 * A container of a film that Instagram cannot fetch, with as much of the film as is missing there. Only through
 * a Page: https://developers.facebook.com/documentation/instagram-platform/content-publishing/resumable-uploads
 */
async function uploadFilm({ item, form }: SentFilm, io: PublishIo, context: EffectContext): Promise<string> {
  const known = Session.safeParse(context.handle).data;
  const before = known === undefined ? null : await readUpload(io, known.id);
  const isUsable = known !== undefined && before !== null;
  const { id, url } = isUsable ? known : await begin(form, io, context);
  if (before?.isWhole === true) return id;
  await sendFilm(io, { url, item, from: before?.bytes ?? 0, classify });
  return id;
}

async function begin(
  form: SentFilm["form"],
  io: PublishIo,
  { saveHandle }: EffectContext,
): Promise<z.infer<typeof Session>> {
  // One too many costs only its part of the quota.
  const call = { method: "POST", path: `${accountId(io)}/media`, form, isIdempotent: true } as const;
  const { id, uri } = await ask(io, call, Begun);
  const session = { id, url: ruploadUrl(io, uri, "ig-api-upload", id) };
  await saveHandle(session);
  return session;
}

const Upload = z.looseObject({
  status_code: z.string().catch(""),
  video_status: z.looseObject({ uploading_phase: Uploading.optional() }).optional().catch(undefined),
});

const OVER: readonly string[] = ["ERROR", "EXPIRED"];
const WHOLE: readonly string[] = ["FINISHED", "PUBLISHED"];

/** "Tried accessing nonexisting field": how far it is cannot be asked, so it begins anew. */
const UNREADABLE: readonly Match[] = [{ code: 100 }];

/** How much of a film its container has; null where nothing comes of it any more. */
async function readUpload(
  io: PlatformIo,
  id: string,
): Promise<{ readonly isWhole: boolean; readonly bytes: number } | null> {
  const query = { fields: "status_code,video_status" };
  const found = await askOrGone(io, { path: id, query, gone: UNREADABLE }, Upload);
  if (found === null || OVER.includes(found.status_code)) return null;
  const uploading = found.video_status?.uploading_phase;
  const isWhole = WHOLE.includes(found.status_code) || uploading?.status === "complete";
  return { isWhole, bytes: bytesOf(uploading) };
}

async function singleOf(
  post: InstagramPost,
  item: MediaItem,
  { io, isRefit }: { readonly io: PublishIo; readonly isRefit: boolean },
): Promise<JsonObject> {
  const { metadata } = post;
  if (metadata.story === true) {
    const medium = await mediumOf(io, item, { filmType: "STORIES", isStory: true });
    return { ...medium, media_type: "STORIES", ...labelOf(post) };
  }
  const shared = { ...captionOf(post), ...sharedBy(post), ...tagsOf(post) };
  const medium = { ...(await mediumOf(io, item, { filmType: "REELS", isRefit })), ...shared };
  if (item.facts.type !== "video") return medium;
  const { thumbnailUrl, thumbOffsetMs, shareToFeed, audioName, trialReel } = metadata;
  const cover =
    thumbnailUrl === undefined ? null : await addressOf(io, await io.media.item(thumbnailUrl), null);
  return {
    ...medium,
    ...(cover === null ? {} : { cover_url: cover }),
    ...(thumbOffsetMs === undefined || cover !== null ? {} : { thumb_offset: String(thumbOffsetMs) }),
    ...(shareToFeed === undefined ? {} : { share_to_feed: shareToFeed }),
    ...(audioName === undefined ? {} : { audio_name: audioName }),
    ...(trialReel === undefined
      ? {}
      : { trial_params: JSON.stringify({ graduation_strategy: GRADUATION[trialReel] }) }),
  };
}

const GRADUATION = { manual: "MANUAL", performance: "SS_PERFORMANCE" } as const;

function tagsOf({ metadata: { userTags } }: InstagramPost): JsonObject {
  if (userTags === undefined) return {};
  const tags = userTags.map(({ username, ...at }) => ({ username: username.replace("@", ""), ...at }));
  return { user_tags: JSON.stringify(tags) };
}

function captionOf({ caption }: InstagramPost): JsonObject {
  return caption === null || caption === "" ? {} : { caption };
}

/** Of a carousel on the whole: https://developers.facebook.com/documentation/instagram-platform/changelog */
function labelOf({ metadata: { aiGenerated } }: InstagramPost): JsonObject {
  return aiGenerated === true ? { is_ai_generated: true } : {};
}

function sharedBy(post: InstagramPost): JsonObject {
  const { collaborators, locationId } = post.metadata;
  return {
    ...labelOf(post),
    ...(locationId === undefined ? {} : { location_id: locationId }),
    ...(collaborators === undefined
      ? {}
      : { collaborators: JSON.stringify(collaborators.map((name) => name.replace("@", ""))) }),
  };
}

/** The container does not say which post it has become: the newest with this text is. */
async function findMedia(post: InstagramPost, io: PublishIo, since: number): Promise<string | null> {
  const isStory = post.metadata.story === true;
  const from = Math.max(since, post.scheduledAt - MINUTE);
  const path = `${accountId(io)}/${isStory ? "stories" : "media"}`;
  const asked = request(io, { path, query: { fields: "id,caption,timestamp" } });
  return findNewest(io, asked, { text: isStory ? null : (post.caption ?? ""), since: from });
}

async function closeComments(io: PublishIo, mediaId: string | null): Promise<void> {
  if (mediaId === null)
    throw new PlatformFault("rejected", "Instagram does not say which post this is. Do it in the app.");
  await io.effect<null>({
    step: "comments",
    request: { mediaId },
    send: async () => {
      const form = { comment_enabled: false };
      const call = { method: "POST", path: mediaId, form, rules: MILD, isIdempotent: true } as const;
      await ask(io, call, z.looseObject({}));
      return null;
    },
    // However often they are closed, they are closed.
    reconcile: async () => ({ outcome: "send_again" }),
  });
}

/** The first comment: once, found again by its text. */
async function comment(io: PublishIo, mediaId: string | null, message: string): Promise<void> {
  if (mediaId === null)
    throw new PlatformFault("rejected", "Instagram does not say which post this is. Write it in the app.");
  const path = `${mediaId}/comments`;
  const Comment = z.looseObject({ id: Id, text: z.string().catch("") });
  const list = request(io, { path, query: { fields: "id,text" }, rules: MILD });
  await io.effect<string>({
    step: "comment",
    request: { message },
    send: async () => (await ask(io, { method: "POST", path, form: { message }, rules: MILD }, Created)).id,
    reconcile: (context) =>
      reconcileByListing(context, {
        io,
        listedAfterMs: MINUTE,
        find: async () => {
          const all = listEntries(io, list, Comment, { maxPages: 4 });
          const found = await findFirst(all, ({ text }) => plain(text) === plain(message));
          return found?.id ?? null;
        },
      }),
  });
}

const MB = 1_000_000;

/** What is wider than 1,440 Instagram makes smaller itself, and worse. */
export const IMAGE = {
  kind: "image",
  mimeTypes: ["image/jpeg"],
  maxBytes: 8 * MB,
  maxWidth: 1_440,
  minAspectRatio: 0.75,
  maxAspectRatio: 1.91,
  fill: "white",
  animated: false,
  maxItems: MAX_ITEMS,
} as const satisfies AcceptedMedia;

/** Meta's pages still name 4:5, and 3:4 is taken: where it is not, the picture goes in this shape. */
const SAFE_RATIO = 0.8;

const FILM = {
  kind: "video" as const,
  mimeTypes: ["video/mp4", "video/quicktime"],
  videoCodecs: ["avc", "hevc"],
  audioCodecs: ["aac"],
  maxWidth: 1_920,
  minFramesPerSecond: 23,
  maxFramesPerSecond: 60,
  minSeconds: 3,
} satisfies Partial<AcceptedMedia>;

/** A film by itself is a reel. */
export const REEL: AcceptedMedia = { ...FILM, maxBytes: 300 * MB, maxSeconds: 15 * 60, maxItems: MAX_ITEMS };

const { minAspectRatio: _min, maxAspectRatio: _max, fill: _fill, ...anyShape } = IMAGE;

export const STORY_IMAGE: AcceptedMedia = { ...anyShape, maxItems: 1 };
export const STORY_FILM: AcceptedMedia = { ...FILM, maxBytes: 100 * MB, maxSeconds: 60, maxItems: 1 };

/** Long enough for a film to be fetched and made ready. */
const FETCHED_WITHIN_MINUTES = 180;

/**
 * The address that Instagram fetches it from: as it is, or of a copy that it takes. `min`: the narrowest shape;
 * null: any.
 */
async function addressOf(io: PublishIo, item: MediaItem, min: number | null): Promise<string> {
  const { maxBytes, mimeTypes, maxWidth, maxAspectRatio: max, fill } = IMAGE;
  const limits = { maxBytes, mimeTypes, maxWidth, ...(min === null ? {} : { aspect: { min, max, fill } }) };
  return asciiAddressOf(io, item, { limits, minutes: FETCHED_WITHIN_MINUTES });
}

import * as z from "zod";
import type { AcceptedMedia } from "../../domain/accounts/capabilities.ts";
import { MINUTE } from "../../domain/time.ts";
import type { MediaItem } from "../../ports/media.ts";
import { type JsonObject, PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { Id } from "../../ports/platform-values.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { asciiAddressOf } from "../shared/media.ts";
import {
  Container,
  type ContainerApi,
  type Containers,
  type ContainerStatus,
  createContainers,
} from "../shared/meta/containers.ts";
import { Created, GONE, listEntries, metaFaults } from "../shared/meta/graph.ts";
import { findFirst } from "../shared/pages.ts";
import { reconcileByListing } from "../shared/reconcile.ts";
import { accountId, call, classifyMild, faultOfContainer, get } from "./api.ts";
import { type InstagramPost, MAX_ITEMS, mediaOf } from "./metadata.ts";

const CONTAINER = "container";
const PUBLISH = "publish";

/**
 * Containers that nobody sees, made and fetched by Instagram ahead of the time, and one call that publishes.
 * Whatever becomes of its answer, the container tells whether it is out.
 */
export async function publish(post: InstagramPost, io: PublishIo): Promise<PublishOutcome> {
  const containers = createContainers(io, apiOf(io));
  const container = await prepare(post, io, containers);
  if (typeof container === "number") return { state: "processing", checkAgainMs: container };
  if (!io.isDue) return { state: "prepared" };
  const id = await containers.publish({
    step: PUBLISH,
    container,
    find: (since) => findMedia(post, io, since),
    live: (platformPostId) => ({ platformPostId, platformUrl: null }),
  });
  const platformUrl = id === null ? null : await permalinkOf(io, id);
  const { firstComment } = post.metadata;
  if (firstComment !== undefined) await io.followUp("The first comment", () => comment(io, id, firstComment));
  return { state: "live", platformPostId: id, platformUrl };
}

/** The container that is ready to be published, or in how many milliseconds to ask again. */
async function prepare(
  post: InstagramPost,
  io: PublishIo,
  containers: Containers,
): Promise<Container | number> {
  const items: MediaItem[] = [];
  for (const { url, altText } of mediaOf(post)) items.push(await io.media.item(url, altText));
  const [first, ...more] = items;
  if (first === undefined) throw new Error("A post without media.");
  const children = more.length === 0 ? [] : await makeChildren(items, io, containers);
  const childrenMs = io.resultOf(CONTAINER) === null ? await containers.waitFor(children) : null;
  if (childrenMs !== null) return childrenMs;
  const ids = children.map(({ id }) => id);
  const container = await containers.make({
    step: CONTAINER,
    request: {
      caption: post.caption,
      items: items.map(({ url }) => url),
      metadata: Fields.parse(post.metadata),
    },
    fields: async () =>
      ids.length === 0
        ? singleOf(post, first, io)
        : { media_type: "CAROUSEL", children: ids.join(","), ...captionOf(post), ...sharedBy(post) },
  });
  const isOut = io.resultOf(PUBLISH) !== null;
  return (isOut ? null : await containers.waitFor([container])) ?? container;
}

const Fields = z.record(z.string(), z.json());

/** The items of a carousel; once it stands, what has become of it says what has become of them. */
async function makeChildren(
  items: readonly MediaItem[],
  io: PublishIo,
  containers: Containers,
): Promise<Container[]> {
  const parent = Container.safeParse(io.resultOf(CONTAINER)).data;
  const children: Container[] = [];
  for (const [at, item] of items.entries()) {
    const child = await containers.make({
      step: `item.${at + 1}`,
      request: { url: item.url, altText: item.altText },
      fields: async () => ({ is_carousel_item: true, ...(await mediumOf(io, item, "VIDEO")) }),
      isGone: (container) => containers.isGone(parent ?? container),
    });
    children.push(child);
  }
  return children;
}

async function mediumOf(
  io: PublishIo,
  item: MediaItem,
  filmType: string,
  isStory = false,
): Promise<JsonObject> {
  const url = await addressOf(io, item, isStory);
  if (item.facts.type === "video") return { media_type: filmType, video_url: url };
  return { image_url: url, ...(item.altText === null || isStory ? {} : { alt_text: item.altText }) };
}

async function singleOf(post: InstagramPost, item: MediaItem, io: PublishIo): Promise<JsonObject> {
  const { metadata } = post;
  if (metadata.story === true)
    return { ...(await mediumOf(io, item, "STORIES", true)), media_type: "STORIES" };
  const medium = { ...(await mediumOf(io, item, "REELS")), ...captionOf(post), ...sharedBy(post) };
  if (item.facts.type !== "video") return medium;
  const { thumbnailUrl, thumbOffsetMs, shareToFeed, audioName } = metadata;
  const cover =
    thumbnailUrl === undefined ? null : await addressOf(io, await io.media.item(thumbnailUrl), true);
  return {
    ...medium,
    ...(cover === null ? {} : { cover_url: cover }),
    ...(thumbOffsetMs === undefined || cover !== null ? {} : { thumb_offset: String(thumbOffsetMs) }),
    ...(shareToFeed === undefined ? {} : { share_to_feed: shareToFeed }),
    ...(audioName === undefined ? {} : { audio_name: audioName }),
  };
}

function captionOf({ caption }: InstagramPost): JsonObject {
  return caption === null || caption === "" ? {} : { caption };
}

function sharedBy({ metadata: { collaborators, locationId } }: InstagramPost): JsonObject {
  return {
    ...(locationId === undefined ? {} : { location_id: locationId }),
    ...(collaborators === undefined
      ? {}
      : { collaborators: JSON.stringify(collaborators.map((name) => name.replace("@", ""))) }),
  };
}

const Status = z.looseObject({
  status_code: z.enum(["IN_PROGRESS", "FINISHED", "PUBLISHED", "ERROR", "EXPIRED"]),
  status: z.string().catch(""),
});
const Gone = z.looseObject({ error: z.looseObject({}) }).transform(() => null);

const gone = { code: GONE, kind: "ok" } as const;

function apiOf(io: PlatformIo): ContainerApi {
  return {
    title: "Instagram",
    async create(fields) {
      const form = Form.parse(fields);
      // A container more costs nothing but its place in the quota of 400 a day.
      const request = call(io, `${accountId(io)}/media`, { method: "POST", form, isIdempotent: true });
      return (await io.ask(request, Created)).id;
    },
    async read(id): Promise<ContainerStatus> {
      const answer = await get(io, id, {
        query: { fields: "status_code,status" },
        classify: metaFaults("Instagram", [gone]),
        schema: z.union([Status, Gone]),
      });
      if (answer === null) return { state: "EXPIRED", fault: null };
      const isError = answer.status_code === "ERROR";
      return { state: answer.status_code, fault: isError ? faultOfContainer(answer.status) : null };
    },
    async publish(id) {
      const form = { creation_id: id };
      const request = call(io, `${accountId(io)}/media_publish`, { method: "POST", form });
      return (await io.ask(request, Created)).id;
    },
  };
}

const Form = z.record(z.string(), z.union([z.string(), z.boolean()]));

const Media = z.looseObject({
  id: Id,
  caption: z.string().nullish(),
  timestamp: z.string().transform((text) => Date.parse(text)),
});

/** The container does not say which post it has become: the newest with this text is. */
async function findMedia(post: InstagramPost, io: PublishIo, since: number): Promise<string | null> {
  const isStory = post.metadata.story === true;
  const from = Math.max(since, post.scheduledAt - MINUTE);
  const request = call(io, `${accountId(io)}/${isStory ? "stories" : "media"}`, {
    method: "GET",
    query: { fields: "id,caption,timestamp" },
  });
  const listed = listEntries(io, request, Media, {
    maxPages: 4,
    until: ({ timestamp }) => timestamp < from,
  });
  const wanted = plain(post.caption);
  const found = await findFirst(
    listed,
    ({ caption, timestamp }) => timestamp >= from && (isStory || plain(caption) === wanted),
  );
  return found?.id ?? null;
}

/** A text as it is compared: platforms trim and fold white space. */
function plain(text: string | null | undefined): string {
  return (text ?? "").normalize("NFC").replace(/\s+/g, " ").trim();
}

/** Where people see it; null where Instagram does not say. */
async function permalinkOf(io: PlatformIo, id: string): Promise<string | null> {
  const schema = z.looseObject({
    permalink: z
      .url({ protocol: /^https$/ })
      .nullish()
      .catch(null),
  });
  try {
    const answer = await get(io, id, { query: { fields: "permalink" }, classify: classifyMild, schema });
    return answer.permalink ?? null;
  } catch (error) {
    // It is public all the same.
    if (error instanceof PlatformFault && error.kind === "rejected") return null;
    throw error;
  }
}

/** The first comment: once, found again by its text. */
async function comment(io: PublishIo, mediaId: string | null, message: string): Promise<void> {
  if (mediaId === null)
    throw new PlatformFault("rejected", "Instagram does not say which post this is. Write it in the app.");
  const path = `${mediaId}/comments`;
  const Comment = z.looseObject({ id: Id, text: z.string().catch("") });
  const list = call(io, path, { method: "GET", query: { fields: "id,text" }, classify: classifyMild });
  await io.effect<string>({
    step: "comment",
    request: { message },
    send: async () => {
      const request = call(io, path, { method: "POST", form: { message }, classify: classifyMild });
      return (await io.ask(request, Created)).id;
    },
    reconcile: (context) =>
      reconcileByListing(context, {
        now: io.now(),
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
  minAspectRatio: 0.8,
  maxAspectRatio: 1.91,
  fill: "white",
  animated: false,
  maxItems: MAX_ITEMS,
} as const satisfies AcceptedMedia;

const FILM = {
  kind: "video" as const,
  mimeTypes: ["video/mp4", "video/quicktime"],
  videoCodecs: ["avc", "hevc"],
  audioCodecs: ["aac"],
  minSeconds: 3,
} satisfies Partial<AcceptedMedia>;

/** A film by itself is a reel. */
export const REEL: AcceptedMedia = { ...FILM, maxBytes: 300 * MB, maxSeconds: 15 * 60, maxItems: MAX_ITEMS };

const { minAspectRatio: _min, maxAspectRatio: _max, fill: _fill, ...anyShape } = IMAGE;

export const STORY_IMAGE: AcceptedMedia = { ...anyShape, maxItems: 1 };
export const STORY_FILM: AcceptedMedia = { ...FILM, maxBytes: 100 * MB, maxSeconds: 60, maxItems: 1 };

/** Long enough for a film to be fetched and made ready. */
const FETCHED_WITHIN_MINUTES = 180;

/** The address that Instagram fetches it from: as it is, or of a copy that it takes. */
async function addressOf(io: PublishIo, item: MediaItem, isStory = false): Promise<string> {
  const { maxBytes, mimeTypes, maxWidth, minAspectRatio: min, maxAspectRatio: max, fill } = IMAGE;
  const limits = { maxBytes, mimeTypes, maxWidth, ...(isStory ? {} : { aspect: { min, max, fill } }) };
  return asciiAddressOf(io, item, { limits, minutes: FETCHED_WITHIN_MINUTES });
}

import * as z from "zod";
import type { AcceptedMedia } from "../../domain/accounts/capabilities.ts";
import { AppError } from "../../domain/errors.ts";
import { MINUTE, SECOND, toIso } from "../../domain/time.ts";
import type { MediaItem } from "../../ports/media.ts";
import { type JsonObject, PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { WebAddress } from "../../ports/platform-values.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { fitFile, inOrder, itemsOf, openAll, toPart } from "../shared/media.ts";
import { repeatableStep } from "../shared/reconcile.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";
import { call, callOrGone, type Post, Posts } from "./api.ts";
import { type GhostPost, lexicalOf, type ArticleMedia, UploadedFile } from "./metadata.ts";

/** Ghost 5 schedules nothing that is nearer than two minutes; the rest is for its clock and the way there. */
const SOONEST_MS = 3 * MINUTE;

/** Within so long after the time Ghost publishes by itself; then we do. */
const FLIPS_WITHIN_MS = 15 * SECOND;

const LOOK_AGAIN_MS = 3 * SECOND;

/** Too late for Ghost's own schedule. */
class TooNear extends PlatformFault {
  constructor() {
    super("not_sent", "The post goes out at its time.");
  }
}

/** Where the post stands after the step that everybody sees, or will see by Ghost's own schedule. */
const PostState = z.object({ url: z.string().nullable(), isPublished: z.boolean() });
type PostState = z.infer<typeof PostState>;

/** Media first, then a draft, which no reader sees; then that draft is scheduled, or published. */
export async function publish(post: GhostPost, io: PublishIo): Promise<PublishOutcome> {
  const id = await draft(post, io);
  let placed: PostState;
  try {
    placed = await place(post, id, io);
  } catch (error) {
    if (error instanceof TooNear) return { state: "prepared" };
    throw error;
  }
  const platformUrl = placed.isPublished ? placed.url : await publishedUrl(post, id, io);
  if (platformUrl === undefined) {
    const waits = io.isDue ? { checkAgainMs: LOOK_AGAIN_MS } : {};
    return { state: "held", platformPostId: id, platformUrl: placed.url, ...waits };
  }
  await io.live({ platformPostId: id, platformUrl });
  return { state: "live", platformPostId: id, platformUrl };
}

/** Found again by its slug until it is placed, so that a lost answer leaves no second one. */
async function draft(post: GhostPost, io: PublishIo): Promise<string> {
  const media = await uploadMedia(post, io);
  const { thumbnailUrl } = post.metadata;
  const image = thumbnailUrl === undefined ? null : await uploadThumbnail(thumbnailUrl, io);
  const slug = ownSlug(post);
  const fields: JsonObject = {
    ...fieldsOf(post),
    lexical: lexicalOf(post, media),
    ...(image === null ? {} : { feature_image: image }),
    slug,
  };
  return repeatableStep<string>(io, {
    step: "draft",
    request: fields,
    send: async () => {
      const found = await callOrGone(io, { path: `/posts/slug/${slug}/` }, Posts);
      if (found !== null) return (await change(io, found, fields)).id;
      const json = { posts: [{ ...fields, status: "draft" }] };
      return (await call(io, { method: "POST", path: "/posts/", json, query: BRIEF }, Posts)).id;
    },
  });
}

/** Until it is placed: by it the draft is found again. */
function ownSlug({ id }: GhostPost): string {
  return `posthorn-${id.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`;
}

/** The whole article stands in no answer: one of 100,000 letters would be too long. */
const BRIEF = { formats: "plaintext" } as const;

/** All that the metadata says. */
export function fieldsOf({ metadata }: GhostPost): JsonObject {
  const { title, description, tags, audience, featured, authors, canonicalUrl } = metadata;
  return {
    title,
    custom_excerpt: description ?? null,
    tags: (tags ?? []).map((name) => ({ name })),
    canonical_url: canonicalUrl ?? null,
    featured: featured ?? false,
    ...(audience === undefined ? {} : { visibility: audience }),
    ...(authors === undefined ? {} : { authors: authors.map((email) => ({ email })) }),
  };
}

/** Ghost makes addresses fit to be read out of any text, and different from those that it has. */
function slugOf({ title, slug }: GhostPost["metadata"]): string {
  return slug ?? [...title].slice(0, 150).join("");
}

function place(post: GhostPost, id: string, io: PublishIo): Promise<PostState> {
  const { newsletter } = post.metadata;
  return io.effect<PostState>({
    step: "publish",
    request: { id, slug: slugOf(post.metadata), newsletter: newsletter ?? null },
    send: async () => {
      const isSoon = post.scheduledAt - io.now() < SOONEST_MS;
      if (isSoon && !io.isDue) throw new TooNear();
      const timing: JsonObject = io.isDue
        ? { status: "published" }
        : { status: "scheduled", published_at: toIso(Math.ceil(post.scheduledAt / SECOND) * SECOND) };
      const found = await requirePost(id, io);
      // A second time, Ghost would make another one of it.
      const slug = found.slug === ownSlug(post) ? { slug: slugOf(post.metadata) } : {};
      return placedOf(await change(io, found, { ...timing, ...slug }, newsletter));
    },
    // Asked for again, the same change makes no second post.
    reconcile: async () => {
      const found = await requirePost(id, io);
      return found.status === "draft"
        ? { outcome: "send_again" }
        : { outcome: "done", result: placedOf(found) };
    },
  });
}

function placedOf({ url, status }: Post): PostState {
  return { url, isPublished: status === "published" };
}

/** Of a post that was scheduled; undefined while it is hidden. */
async function publishedUrl(post: GhostPost, id: string, io: PublishIo): Promise<string | null | undefined> {
  if (!io.isDue) return undefined;
  const found = await requirePost(id, io);
  if (found.status === "published") return found.url;
  if (found.status === "draft") throw new PlatformFault("rejected", TAKEN_BACK);
  if (io.now() < post.scheduledAt + FLIPS_WITHIN_MS) return undefined;
  // Its own schedule does not run where the site cannot reach itself. A mail was asked for with the schedule.
  return (await change(io, found, { status: "published" })).url;
}

const TAKEN_BACK = "It was made a draft again on the site. Publish it there, or send it again.";

async function requirePost(id: string, io: PlatformIo): Promise<Post> {
  const found = await findPost(id, io);
  if (found !== null) return found;
  throw new PlatformFault("rejected", "It is not on the site any more. It was deleted there. Send it again.");
}

/** Null where it is gone. */
export function findPost(id: string, io: PlatformIo): Promise<Post | null> {
  return callOrGone(io, { path: pathOf(id), query: BRIEF }, Posts);
}

export const pathOf = (id: string): string => `/posts/${encodeURIComponent(id)}/`;

const MAX_COLLISIONS = 3;

/** Changes only what is named. Another person who edits the post at the same time is waited for. */
export async function change(
  io: PlatformIo,
  found: Post,
  fields: JsonObject,
  newsletter?: string,
): Promise<Post> {
  let current = found;
  for (let time = 1; ; time += 1) {
    const json = { posts: [{ ...fields, updated_at: current.updated_at }] };
    const query = { ...BRIEF, newsletter };
    const asked = { method: "PUT", path: pathOf(found.id), json, query, isIdempotent: true } as const;
    try {
      return await call(io, asked, Posts);
    } catch (error) {
      const isCollision = error instanceof PlatformFault && error.httpStatus === 409;
      if (!isCollision || time === MAX_COLLISIONS) throw error;
      current = await requirePost(found.id, io);
    }
  }
}

const MB = 1_000_000;
const MAX_ITEMS = 21;

const IMAGE_LIMITS = {
  maxBytes: 20 * MB,
  mimeTypes: ["image/jpeg", "image/png", "image/webp", "image/gif"],
} as const;

/** A site takes what its web server lets through: 1 GB as Ghost's own installer sets it up. */
export const MEDIA = {
  required: false,
  maxItems: MAX_ITEMS,
  accepts: [
    { kind: "image", ...IMAGE_LIMITS, maxItems: MAX_ITEMS },
    { kind: "video", mimeTypes: ["video/mp4", "video/webm"], maxBytes: 1_000 * MB, maxItems: MAX_ITEMS },
    {
      kind: "audio",
      mimeTypes: ["audio/mpeg", "audio/mp4", "audio/ogg", "audio/wav"],
      maxBytes: 1_000 * MB,
      maxItems: MAX_ITEMS,
    },
  ] satisfies AcceptedMedia[],
};

/** Brings the post's media to the site. All are opened before any is sent. */
async function uploadMedia(post: GhostPost, io: PublishIo): Promise<ArticleMedia[]> {
  const items = await openAll(itemsOf(post), io);
  return inOrder(items, async (item, at) => {
    const request = { url: item.url };
    const file = await repeatableStep<UploadedFile>(io, {
      step: stepOf(at),
      request,
      send: () => upload(item, io),
    });
    return { ...file, altText: item.altText ?? "" };
  });
}

const stepOf = (at: number): string => `upload ${at + 1}`;

/** The post's media on the site. Throws `conflict` where the ledger does not have them. */
export function uploadedMedia(post: GhostPost, io: PlatformIo): ArticleMedia[] {
  return itemsOf(post).map(({ altText }, at) => {
    const file = UploadedFile.safeParse(io.resultOf(stepOf(at))).data;
    if (file === undefined)
      throw new AppError(
        "conflict",
        "Posthorn does not know where the post's media are. Change the text on the site.",
      );
    return { ...file, altText: altText ?? "" };
  });
}

/** The feature image on the site. */
function uploadThumbnail(thumbnailUrl: string, io: PublishIo): Promise<string> {
  const send = async () => (await upload(await io.media.item(thumbnailUrl), io)).url;
  return repeatableStep<string>(io, { step: "upload feature image", request: { url: thumbnailUrl }, send });
}

const Where = z.array(z.looseObject({ url: WebAddress })).min(1);
const Answer = z.union([
  z.looseObject({ images: Where }).transform(({ images }) => images),
  z.looseObject({ media: Where }).transform(({ media }) => media),
]);

export async function upload(item: MediaItem, io: PublishIo): Promise<UploadedFile> {
  const fitted = await fitFile(item, IMAGE_LIMITS, io);
  const { type, mimeType, width, height } = fitted;
  const path = type === "image" ? "/images/upload/" : "/media/upload/";
  const multipart = [toPart("file", fitted)];
  const files = await call(io, { method: "POST", ...UPLOAD_TIMES, path, multipart }, Answer);
  const seconds = type === "image" ? null : item.facts.durationSeconds;
  return { type, url: files[0]?.url ?? "", mimeType, width, height, seconds };
}

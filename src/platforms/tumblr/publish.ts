import * as z from "zod";
import type { AcceptedMedia } from "../../domain/accounts/capabilities.ts";
import { MINUTE, SECOND, toIso } from "../../domain/time.ts";
import type { MediaItem } from "../../ports/media.ts";
import { type JsonObject, PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import type { LiveAt, PublishIo } from "../../ports/publish-io.ts";
import type { FormPart } from "../../ports/request-body.ts";
import { inOrder, itemsOf, openAll } from "../shared/media.ts";
import { findFirst, pages } from "../shared/pages.ts";
import { reconcileByListing } from "../shared/reconcile.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";
import { AnyAnswer, ask, askOrGone, blogPath, NoPlace } from "./api.ts";
import { addressOf } from "./connect.ts";
import { contentOf, MAX_ITEMS, slugOf, type TumblrPost } from "./metadata.ts";

/** So long before its time a post must be, to go into the queue. */
const SOONEST_MS = 5 * MINUTE;
/** Tumblr publishes within minutes of the time; then we do. */
const FLIP_AFTER_MS = 3 * MINUTE;
/** A post changes its id when it becomes public, and may be under neither for a while. */
const APPEARS_WITHIN_MS = 10 * MINUTE;

/** One post: in the queue until its time, or public at once. */
export async function publish(post: TumblrPost, io: PublishIo): Promise<PublishOutcome> {
  try {
    // What is placed needs its media no more.
    const placed = CreatedPost.nullable().parse(io.resultOf("post")) ?? (await place(post, io));
    if (placed.state === "held" && !io.isDue)
      return { state: "held", platformPostId: placed.id, platformUrl: null };
    const since = Math.max(placed.at, post.scheduledAt) - MINUTE;
    const found = placed.state === "live" ? placed : await readPost(io, { ...placed, since });
    if (found?.state !== "live" && found?.state !== "published")
      return await wait(post, io, { placed, found });
    const at = liveAt(io, found.id);
    await io.live(at);
    return { state: "live", ...at };
  } catch (error) {
    if (error instanceof NoPlace && !io.isDue) return { state: "prepared" };
    throw error;
  }
}

function liveAt({ account }: PublishIo, id: string): LiveAt {
  const { handle } = account;
  return { platformPostId: id, platformUrl: handle === null ? null : `${addressOf(handle)}/${id}` };
}

/** Its time has come and it is not public yet. */
async function wait(
  post: TumblrPost,
  io: PublishIo,
  { placed, found }: { readonly placed: CreatedPost; readonly found: CreatedPost | TumblrEntry | null },
): Promise<PublishOutcome> {
  const sinceMs = io.now() - Math.max(placed.at, post.scheduledAt);
  const checkAgainMs = Math.min(Math.max(10 * SECOND, Math.round(sinceMs / 4)), 5 * MINUTE);
  // It is the platform's work to make it public, for as long as it takes.
  if (placed.state === "transcoding") return { state: "processing", checkAgainMs };
  if (found === null && sinceMs > APPEARS_WITHIN_MS) throw new PlatformFault("rejected", WAS_DELETED);
  if (found !== null && "content" in found && sinceMs >= FLIP_AFTER_MS) await flip(io, found);
  return { state: "held", platformPostId: placed.id, platformUrl: null, checkAgainMs };
}

const WAS_DELETED =
  "It is not in the blog's queue any more, and not public. It was deleted on Tumblr. Send it again.";

/** What became public meanwhile has another id, so that nothing is done to it. */
async function flip(io: PublishIo, entry: TumblrEntry): Promise<void> {
  const path = `${blogPath(io)}/posts/${entry.id}`;
  const json = { ...fieldsOf(entry), state: "published" };
  await ask(io, { method: "PUT", path, json, isIdempotent: true }, AnyAnswer);
}

const Created = z.looseObject({
  id: z.union([z.string().regex(/^\d+$/), z.int().transform(String)]),
  state: z.string().optional(),
});

async function place(post: TumblrPost, io: PublishIo): Promise<CreatedPost> {
  const items = await openAll(itemsOf(post), io);
  const hasFilm = items.some(({ facts }) => facts.type === "video");
  const words = contentOf(post, []);
  return io.effect<CreatedPost>({
    step: "post",
    request: { ...words, media: items.map(({ url, altText }) => ({ url, altText })) },
    async send({ key, timesSent }) {
      const mark = markOf(key);
      // Tumblr takes the same slug twice. A film that it works on is in no list, and stands in its own way.
      const found = timesSent === 0 ? null : await findSent(io, mark, post.scheduledAt - LOOK_BACK_MS);
      if (found !== null) return found;
      const uploads = await inOrder(items, (item, at) => toUpload(item, at, { io, items }));
      const isHeld = !io.isDue;
      if (isHeld && post.scheduledAt - io.now() < SOONEST_MS) throw new NoPlace();
      const json: JsonObject = {
        ...contentOf(
          post,
          uploads.map(({ block }) => block),
        ),
        slug: slugOf(post, mark),
        ...(isHeld ? { state: "queue", publish_on: laterSecond(post.scheduledAt) } : { state: "published" }),
      };
      const text = { name: "json", text: JSON.stringify(json), mimeType: "application/json" };
      const parts = uploads.map(({ part }) => part);
      const body = parts.length === 0 ? { json } : { multipart: [text, ...parts] };
      const call = { method: "POST", path: `${blogPath(io)}/posts`, ...body, times: UPLOAD_TIMES } as const;
      const { id, state } = await ask(io, call, Created);
      const isLive = state === "published" || (state === undefined && !hasFilm);
      return { id, mark, state: isHeld ? "held" : isLive ? "live" : "transcoding", at: io.now() };
    },
    reconcile: (context) =>
      reconcileByListing<CreatedPost>(context, {
        io,
        listedAfterMs: hasFilm ? 15 * MINUTE : MINUTE,
        find: (since) => findSent(io, markOf(context.key), since),
      }),
  });
}

/** How far back the same post is looked for before it is sent again. */
const LOOK_BACK_MS = 60 * MINUTE;

function markOf(key: string): string {
  return key.slice(0, 12);
}

/** Never before its time. */
function laterSecond(ms: number): string {
  return toIso(Math.ceil(ms / SECOND) * SECOND);
}

const MB = 1_000_000;
const STILL = ["image/jpeg", "image/png", "image/webp"];

export const ACCEPTS: readonly AcceptedMedia[] = [
  { kind: "image", mimeTypes: [...STILL, "image/gif"], maxBytes: 10 * MB, maxItems: MAX_ITEMS },
  {
    kind: "video",
    mimeTypes: ["video/mp4", "video/quicktime"],
    maxBytes: 500 * MB,
    maxSeconds: 600,
    maxItems: 1,
  },
  { kind: "audio", mimeTypes: ["audio/mpeg"], maxBytes: 10 * MB, maxItems: 10 },
];

/** All pictures go in one request and are held together. */
const ALL_PICTURES_BYTES = 60 * MB;

/** A file of a post: its block, and the part of the form that brings it. */
interface Upload {
  readonly block: JsonObject;
  readonly part: FormPart;
}

async function toUpload(
  item: MediaItem,
  at: number,
  { io, items }: { readonly io: PublishIo; readonly items: readonly MediaItem[] },
): Promise<Upload> {
  const { facts, altText } = item;
  const name = `m${at}`;
  const file = (mimeType: string) => ({ name, fileName: `${name}.${mimeType.split("/")[1]}`, mimeType });
  const media = (mimeType: string, { width, height }: Pick<typeof facts, "width" | "height">) => ({
    type: mimeType,
    identifier: name,
    ...(width === null || height === null ? {} : { width, height }),
  });
  const alt = altText === null || altText === "" ? {} : { alt_text: altText };
  if (facts.type === "image" && facts.mimeType !== "image/gif") {
    const maxBytes = Math.min(10 * MB, Math.floor(ALL_PICTURES_BYTES / items.length));
    const fitted = await io.media.fitImage(item, { mimeTypes: STILL, maxBytes });
    const { mimeType, bytes } = fitted;
    const block = { type: "image", media: [media(mimeType, fitted)], ...alt };
    return { block, part: { ...file(mimeType), bytes } };
  }
  const { mimeType, sizeBytes } = facts;
  const part = { ...file(mimeType), sizeBytes, open: () => item.open() };
  // A GIF is sent as it is: it moves.
  if (facts.type === "image")
    return { block: { type: "image", media: [media(mimeType, facts)], ...alt }, part };
  if (facts.type === "video") return { block: { type: "video", media: media(mimeType, facts) }, part };
  return { block: { type: "audio", provider: "tumblr", media: { type: mimeType, identifier: name } }, part };
}

const Id = z.union([z.string().regex(/^\d+$/), z.int().transform(String)]);
const Block = z.record(z.string(), z.json());

/** As it is fetched, and as it stands in lists with `npf`. */
const TumblrEntry = z
  .looseObject({
    id: Id,
    id_string: Id.optional(),
    genesis_post_id: Id.optional(),
    slug: z.string().catch(""),
    state: z.string().optional(),
    queued_state: z.string().optional(),
    timestamp: z.int().optional(),
    content: z.array(Block).catch([]),
    layout: z.array(z.json()).catch([]),
    tags: z.array(z.string()).catch([]),
    interactability_reblog: z.string().optional(),
  })
  .transform(({ id, id_string: text, queued_state: queued, ...entry }) => ({
    ...entry,
    id: text ?? id,
    state: entry.state ?? (queued === undefined ? "published" : "queued"),
  }));
export type TumblrEntry = z.infer<typeof TumblrEntry>;

const Page = z.looseObject({ posts: z.array(TumblrEntry) });

const PAGE = 20;
/** A queue takes 1,000 posts. */
const MAX_PAGES = 55;

/** Where a post is on Tumblr, or was put. */
export const CreatedPost = z.object({
  id: z.string(),
  /** The mark in its slug. */
  mark: z.string(),
  state: z.enum(["live", "held", "transcoding"]),
  /** When it was told, in milliseconds since 1970. */
  at: z.number(),
});
export type CreatedPost = z.infer<typeof CreatedPost>;

interface PostSearch extends Pick<CreatedPost, "mark"> {
  /** Before it is public, where it was seen by then: it gets another one when it is. */
  readonly id: string | null;
  /** Milliseconds since 1970; null: the newest are enough. */
  readonly since: number | null;
}

const isOurs = (entry: TumblrEntry, { id, mark }: PostSearch): boolean =>
  (mark !== "" && entry.slug.includes(mark)) ||
  (id !== null && [entry.id, entry.genesis_post_id].includes(id));

/** Looks among the blog's public posts, or in its queue, which comes in the order of its times. */
async function findIn(
  list: "posts" | "posts/queue",
  wanted: PostSearch,
  io: PlatformIo,
): Promise<TumblrEntry | null> {
  const isPublic = list === "posts";
  const named = isPublic ? { npf: true, api_key: io.setting("CLIENT_ID") } : {};
  const entries = pages(MAX_PAGES, async (offset: number = 0) => {
    const query = { ...named, limit: PAGE, offset };
    const { posts } = await ask(io, { path: `${blogPath(io)}/${list}`, query }, Page);
    const oldest = (posts.at(-1)?.timestamp ?? 0) * SECOND;
    const isPast = isPublic && (wanted.since === null || oldest < wanted.since);
    return { items: posts, next: posts.length === 0 || isPast ? null : offset + PAGE };
  });
  return findFirst(entries, (entry) => isOurs(entry, wanted));
}

/** Of a post whose answer was lost. Null where it is neither public nor in the queue. */
async function findSent(io: PlatformIo, mark: string, since: number): Promise<CreatedPost | null> {
  const wanted = { id: null, mark, since };
  const found = (await findIn("posts", wanted, io)) ?? (await findIn("posts/queue", wanted, io));
  if (found === null) return null;
  const state = found.state === "published" || found.state === "private" ? "live" : "held";
  return { id: found.id, mark, state, at: io.now() };
}

/** The post as it is now, under the id that it has now; null where it is gone. */
export async function readPost(
  io: PlatformIo,
  { id, ...wanted }: PostSearch & { readonly id: string },
): Promise<TumblrEntry | null> {
  const path = `${blogPath(io)}/posts/${encodeURIComponent(id)}`;
  const found = await askOrGone(io, { path, query: { post_format: "npf" } }, TumblrEntry);
  return found ?? findIn("posts", { id, ...wanted }, io);
}

/** What an edit has to give again. */
export function fieldsOf({ content, layout, tags, slug, ...entry }: TumblrEntry): JsonObject {
  const reblogs = entry.interactability_reblog;
  return {
    content,
    layout,
    tags: tags.join(","),
    ...(slug === "" ? {} : { slug }),
    ...(reblogs === undefined ? {} : { interactability_reblog: reblogs }),
  };
}

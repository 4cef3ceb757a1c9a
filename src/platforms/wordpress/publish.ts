import * as z from "zod";
import type { AcceptedMedia } from "../../domain/accounts/capabilities.ts";
import { MINUTE, SECOND } from "../../domain/time.ts";
import type { MediaItem } from "../../ports/media.ts";
import { type FaultKind, type JsonObject, PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import type { LiveAt, PublishIo } from "../../ports/publish-io.ts";
import type { FormPart } from "../../ports/request-body.ts";
import { ACCEPTED, filePart, inOrder, itemsOf, openAll } from "../shared/media.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";
import { ask, FIELDS, FILE_FIELDS, findPost, gmtOf, update, WpFile, WpPost } from "./api.ts";
import {
  contentOf,
  escapeLine,
  type LibraryFile,
  fileUnder,
  type Filing,
  keyOf,
  type WordpressPost,
} from "./metadata.ts";
import type { ApiCall } from "../shared/rest-api.ts";

/** WordPress publishes at once what is scheduled for less than a minute ahead. */
const SOONEST_MS = 90 * SECOND;

/** WP-Cron is woken by a look at the site, and gets so long; a quiet site sleeps past the time. */
const FLIPS_WITHIN_MS = 2 * SECOND;
const LOOK_AGAIN_MS = SECOND;
const ASK_AGAIN_MS = 20 * SECOND;

/** Faults that say nothing about the post, which is on the site and may well be public by itself. */
const PASSING: readonly FaultKind[] = ["not_sent", "transient", "ambiguous", "rate"];

type Draft = {
  readonly id: number;
  readonly link: string;
  readonly isNew: boolean;
  /** Everybody sees it already: the ledger comes from a copy. */
  readonly isOut: boolean;
  /** The site's clock before ours; null where it was not told. */
  readonly aheadMs: number | null;
};

const PostLink = z.object({ id: z.number(), link: z.string() });
type PostLink = z.infer<typeof PostLink>;

/**
 * A draft first, under a slug of its own by which it is found again, and its media as its own, so that they are
 * as hidden as it is; then all the rest with what makes it public, which may be told twice.
 */
export async function publish(post: WordpressPost, io: PublishIo): Promise<PublishOutcome> {
  const scheduled = PostLink.nullable().parse(io.resultOf("schedule"));
  if (scheduled !== null) return watch(scheduled, post, io);

  const draft = await makeDraft(post, io);
  if (draft.isOut) {
    await io.live(liveAt(draft));
    return { state: "live", ...liveAt(draft) };
  }
  const fields = await makeFields(post, draft, io);
  if (io.isDue) return { state: "live", ...liveAt(await makePublic(draft, fields, io)) };
  if (isTooNear(post, io) || draft.aheadMs === null || draft.aheadMs > 0) return { state: "prepared" };
  try {
    return { state: "held", ...liveAt(await schedule(post, { draft, fields }, io)) };
  } catch (error) {
    if (error instanceof TooNear) return { state: "prepared" };
    throw error;
  }
}

function liveAt({ id, link }: PostLink): LiveAt & { readonly platformPostId: string } {
  return { platformPostId: String(id), platformUrl: link };
}

function makeDraft(post: WordpressPost, io: PublishIo): Promise<Draft> {
  const slug = keyOf(post);
  const json = { title: escapeLine(post.metadata.title), slug, status: "draft" };
  const toDraft = (found: WpPost, isNew: boolean): Draft => ({
    id: found.id,
    link: found.link,
    isNew,
    isOut: found.status === "publish",
    aheadMs: isNew ? found.modified_gmt - io.now() : null,
  });
  return io.effect<Draft>({
    step: "draft",
    request: json,
    send: async () => {
      // An earlier try's is gone on with: a second one would get "-2" for its slug.
      const found = await findBySlug(io, slug);
      if (found !== null) return toDraft(found, false);
      const call = { method: "POST", path: "/wp/v2/posts", query: FIELDS, json } as const;
      return toDraft(await ask(io, call, WpPost), true);
    },
    reconcile: async ({ intentAt }) => {
      const found =
        (await findBySlug(io, slug)) ?? (await findRenamed(post, { io, since: intentAt - MINUTE }));
      return found === null ? { outcome: "send_again" } : { outcome: "done", result: toDraft(found, false) };
    },
  });
}

async function list(io: PlatformIo, query: ApiCall["query"]): Promise<WpPost[]> {
  const all = { ...FIELDS, context: "edit", ...query };
  return ask(io, { path: "/wp/v2/posts", query: all }, z.array(WpPost));
}

async function findBySlug(io: PlatformIo, slug: string): Promise<WpPost | null> {
  const found = await list(io, { slug, status: "publish,future,draft,pending,private" });
  return found.find((one) => one.slug === slug) ?? null;
}

/** Once public it may have the slug that its author chose, or, where that was taken, nearly that. */
async function findRenamed(
  { metadata: { slug, title } }: WordpressPost,
  { io, since }: { readonly io: PlatformIo; readonly since: number },
): Promise<WpPost | null> {
  if (slug === undefined) return null;
  const newest = await list(io, { per_page: 50 });
  const isIt = (one: WpPost): boolean =>
    one.date_gmt >= since && one.slug.startsWith(slug) && one.title?.raw === escapeLine(title);
  return newest.find(isIt) ?? null;
}

/** What readers see of it. */
async function makeFields(post: WordpressPost, draft: Draft, io: PublishIo): Promise<JsonObject> {
  const { files, thumbnail } = await sendMedia(post, draft, io);
  const filing = await io.effect<Filing>({
    step: "terms",
    request: { categories: post.metadata.categories ?? null, tags: post.metadata.tags ?? null },
    send: () => fileUnder(post, io),
    // A tag is made once, and readers see none without posts.
    reconcile: async () => ({ outcome: "send_again" }),
  });
  return {
    ...wordsOf(post),
    content: contentOf(post, files),
    slug: post.metadata.slug ?? keyOf(post),
    ...filing,
    ...(thumbnail === null ? {} : { featured_media: thumbnail.id }),
  };
}

/** Without its text and what it is filed under. */
function wordsOf({ metadata }: WordpressPost): JsonObject {
  const { title, excerpt, comments } = metadata;
  return {
    title: escapeLine(title),
    ...(excerpt === undefined ? {} : { excerpt: escapeLine(excerpt) }),
    ...(comments === undefined ? {} : { comment_status: comments ? "open" : "closed" }),
  };
}

function isTooNear({ scheduledAt }: WordpressPost, io: PublishIo): boolean {
  return scheduledAt - io.now() < SOONEST_MS;
}

class TooNear extends PlatformFault {
  constructor() {
    super("not_sent", "It is too late for the site's own schedule. The post goes out at its time.");
  }
}

interface Ready {
  readonly draft: Draft;
  readonly fields: JsonObject;
}

function schedule(post: WordpressPost, { draft, fields }: Ready, io: PublishIo): Promise<PostLink> {
  const json = { ...fields, status: "future", date_gmt: gmtOf(post.scheduledAt) };
  return io.effect<PostLink>({
    step: "schedule",
    request: json,
    send: async () => {
      if (isTooNear(post, io)) throw new TooNear();
      const { id, link } = await update(io, draft.id, json);
      return { id, link };
    },
    reconcile: async () => ({ outcome: "send_again" }),
  });
}

function makePublic({ id }: Pick<PostLink, "id">, fields: JsonObject, io: PublishIo): Promise<PostLink> {
  const json = { ...fields, status: "publish" };
  return io.effect<PostLink>({
    step: "publish",
    request: json,
    send: async () => {
      const first = await update(io, id, json);
      // Its date is still ahead by the site's clock, which is behind.
      const date = gmtOf(first.modified_gmt);
      const last =
        first.status === "future" ? await update(io, id, { status: "publish", date_gmt: date }) : first;
      if (last.status === "publish") return { id, link: last.link };
      const why = `The site keeps the post as "${last.status.slice(0, 20)}": its user may not publish, or a plugin asks for approval. Publish it there.`;
      throw new PlatformFault("rejected", why);
    },
    reconcile: async () => ({ outcome: "send_again" }),
    live: liveAt,
  });
}

/** A post that lies on the site for its time. Trouble with asking about it is none of the post's. */
async function watch(placed: PostLink, post: WordpressPost, io: PublishIo): Promise<PublishOutcome> {
  if (!io.isDue) return { state: "held", ...liveAt(placed) };
  let found: WpPost | null;
  try {
    found = await findPost(io, placed.id);
  } catch (error) {
    if (!(error instanceof PlatformFault) || !PASSING.includes(error.kind)) throw error;
    io.log.warn({ postId: post.id, err: error }, "a post could not be asked about");
    const checkAgainMs = error.retryAfterMs ?? ASK_AGAIN_MS;
    return { state: "held", ...liveAt(placed), checkAgainMs, note: error.message };
  }
  if (found?.status === "publish") {
    await io.live(liveAt(found));
    return { state: "live", ...liveAt(found) };
  }
  if (found?.status !== "future") throw new PlatformFault("rejected", takenBack(found));
  if (io.now() < post.scheduledAt + FLIPS_WITHIN_MS)
    return { state: "held", ...liveAt(placed), checkAgainMs: LOOK_AGAIN_MS };
  return { state: "live", ...liveAt(await makePublic(placed, {}, io)) };
}

function takenBack(found: WpPost | null): string {
  const what = found === null || found.status === "trash" ? "deleted" : "taken back from its schedule";
  return `The post was ${what} on the site before its time. Send the post again.`;
}

const MAX_ITEMS = 21;

const PICTURES = {
  mimeTypes: ["image/jpeg", "image/png", "image/webp", "image/gif"],
  maxBytes: 32 * 1024 * 1024,
  // Beyond, WordPress shrinks them itself, for which many servers have not the memory.
  maxWidth: 2_560,
  maxHeight: 2_560,
} as const;

/** As many bytes as the server's PHP is set to take, which it does not tell. */
export const MEDIA: { maxItems: number; accepts: AcceptedMedia[] } = {
  maxItems: MAX_ITEMS,
  accepts: [
    { kind: "image", ...PICTURES, maxItems: MAX_ITEMS },
    { kind: "video", mimeTypes: ACCEPTED.video, maxItems: MAX_ITEMS },
    { kind: "audio", mimeTypes: ACCEPTED.audio, maxItems: MAX_ITEMS },
  ],
};

/** A draft that the files belong to: they are as hidden as it is. */
interface Parent {
  readonly id: number;
  /** False: files of an earlier try may be there. */
  readonly isNew: boolean;
}

/** Brings the post's media into the library, in their order; the featured image last, where there is one. */
async function sendMedia(
  post: WordpressPost,
  parent: Parent,
  io: PublishIo,
): Promise<{ files: LibraryFile[]; thumbnail: LibraryFile | null }> {
  const items = await openAll(itemsOf(post), io);
  const { thumbnailUrl } = post.metadata;
  const picture = thumbnailUrl === undefined ? null : await io.media.item(thumbnailUrl);
  const send = (item: MediaItem, step: string, at: number): Promise<LibraryFile> =>
    sendOne(item, { io, parent, step, slug: `${keyOf(post)}-${at}` });
  const files = await inOrder(items, (item, at) => send(item, stepOf(at), at + 1));
  return { files, thumbnail: picture === null ? null : await send(picture, "thumbnail", 0) };
}

/** Names the step that brings one of the media, from 0. */
export function stepOf(at: number): string {
  return `upload ${at + 1}`;
}

interface Sending {
  readonly io: PublishIo;
  readonly parent: Parent;
  readonly step: string;
  readonly slug: string;
}

function sendOne(item: MediaItem, { io, parent, step, slug }: Sending): Promise<LibraryFile> {
  const { type } = item.facts;
  const toFiled = (file: WpFile): LibraryFile => ({
    id: file.id,
    url: file.source_url,
    kind: type === "image" || type === "video" ? type : "audio",
  });
  return io.effect<LibraryFile>({
    step,
    request: { url: item.url, altText: item.altText, slug },
    send: async () => {
      const found = parent.isNew ? null : await findFile(io, parent, slug);
      return toFiled(found ?? (await upload(item, { slug, parent: parent.id }, io)));
    },
    reconcile: async () => {
      const found = await findFile(io, parent, slug);
      return found === null ? { outcome: "send_again" } : { outcome: "done", result: toFiled(found) };
    },
  });
}

async function findFile(io: PlatformIo, { id }: Parent, slug: string): Promise<WpFile | null> {
  const query = { slug, parent: id, context: "edit", ...FILE_FIELDS };
  return (
    (await ask(io, { path: "/wp/v2/media", query }, z.array(WpFile))).find((file) => file.slug === slug) ??
    null
  );
}

/** `parent`: the post that it belongs to. */
export async function upload(
  item: MediaItem,
  { slug, parent }: { readonly slug: string; readonly parent: number | string },
  io: PublishIo,
): Promise<WpFile> {
  const text = (name: string, value: string): FormPart => ({ name, text: value });
  const multipart: FormPart[] = [
    text("post", String(parent)),
    text("slug", slug),
    ...(item.altText ? [text("alt_text", item.altText)] : []),
    // WordPress goes by the ending of the name.
    await filePart("file", item, { io, accepts: MEDIA.accepts, called: slug }),
  ];
  const call = { method: "POST", path: "/wp/v2/media", query: FILE_FIELDS, multipart } as const;
  return ask(io, { ...call, ...UPLOAD_TIMES }, WpFile);
}

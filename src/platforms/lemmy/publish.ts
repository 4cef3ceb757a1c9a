import * as z from "zod";
import type { StatedCapabilities } from "../../domain/accounts/capabilities.ts";
import { MINUTE } from "../../domain/time.ts";
import {
  type JsonObject,
  type PlatformAccount,
  PlatformFault,
  type PlatformIo,
} from "../../ports/platform-io.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import type { LiveAt, PublishIo } from "../../ports/publish-io.ts";
import { naming } from "../shared/faults.ts";
import { captionAs } from "../shared/shown.ts";
import { inOrder, itemsOf, picturePart, type PostItem } from "../shared/media.ts";
import { findFirst, pages } from "../shared/pages.ts";
import { idOnServer, serverOf } from "../shared/servers.ts";
import { repeatableStep, reconcileByListing } from "../shared/reconcile.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";
import { asGuest, Community, namesOf, own, pageOf, Posted, PostView, versionOf } from "./api.ts";
import { bodyOf, communityOf, type LemmyPost, plainMarkdown } from "./metadata.ts";

const MIB = 1024 * 1024;
const MAX_ITEMS = 10;
const TYPES = ["image/jpeg", "image/png", "image/webp", "image/gif", "image/avif"];

/** A request that was given up may still arrive more than a minute later. */
const LISTED_AFTER_MS = 2 * MINUTE;

export function capabilitiesOf(
  { limits }: Pick<PlatformAccount, "limits">,
  post: LemmyPost | null = null,
): StatedCapabilities {
  // No server tells how large. What stands before most servers lets 20 MB pass.
  const image = {
    kind: "image",
    mimeTypes: TYPES,
    maxBytes: 20 * MIB,
    maxWidth: 6_000,
    maxHeight: 6_000,
    maxItems: MAX_ITEMS,
  } as const;
  return {
    media: { required: false, maxItems: MAX_ITEMS, accepts: limits["takesImages"] === false ? [] : [image] },
    caption: captionAs({ maxLength: 50_000, unit: "weighted" }, post?.metadata.format),
    // Pictures go ahead. Lemmy's own schedule, from 1.0 on, looks every ten minutes: a post would be late.
    scheduling: "prepare",
    leadMinutes: { min: 0, default: 0, max: 1_440 },
    thumbnail: { set: true, replaceAfterPublish: true },
    editPublished: { fields: ["caption", "format", "title", "link", "altText", "sensitive"] },
    analytics: { account: [], post: ["likes", "comments"] },
    reconciles: "list",
  };
}

/** Pictures first, which are not shown anywhere; then the post. */
export async function publish(post: LemmyPost, io: PublishIo): Promise<PublishOutcome> {
  const pictures = await inOrder(itemsOf(post), (item, at) => uploadPicture(item, uploadStep(at), io));
  const { thumbnailUrl: url } = post.metadata;
  const thumbnail =
    url === undefined ? null : await uploadPicture({ url, altText: null }, "upload thumbnail", io);
  const community = await io.once("community", () => findCommunity(post, io));
  if (!io.isDue) return { state: "prepared" };
  const json: JsonObject = {
    community_id: community.id,
    ...contentOf(
      post,
      pictures.map((picture) => picture.url),
    ),
    ...(thumbnail === null ? {} : { custom_thumbnail: thumbnail.url }),
  };
  const sent = await io.effect<CreatedPost>({
    step: "post",
    request: json,
    send: async () => {
      const { post_view: view } = await own(io, { method: "POST", path: "post", json }, Posted);
      return { id: view.post.id };
    },
    reconcile: (context) =>
      reconcileByListing(context, {
        io,
        listedAfterMs: LISTED_AFTER_MS,
        doubt: community.isOpen
          ? undefined
          : "the answer was lost, and the server does not show all posts of this community.",
        find: (since) => findPost({ community, title: post.metadata.title }, since, io),
      }),
    live: ({ id }) => liveAt(id, io),
  });
  return { state: "live", ...liveAt(sent.id, io) };
}

function liveAt(id: number, io: PlatformIo): LiveAt {
  return { platformPostId: String(id), platformUrl: `${serverOf(io)}/post/${id}` };
}

/** The step that brings a picture, from 0. */
export function uploadStep(at: number): string {
  return `upload ${at + 1}`;
}

const FileName = z.string().regex(/^[\w.-]{1,200}$/);
const ByAddress = z.looseObject({ image_url: z.url({ protocol: /^https?$/ }).max(2_000) });
const ByName = z.looseObject({ files: z.tuple([z.looseObject({ file: FileName })], z.json()) });
// What it could not use, the third version tells with 201, or what pict-rs says, only in a message.
const Unusable = z.looseObject({ msg: z.string(), files: z.null().optional() });
const Uploaded = z.union([
  ByAddress.transform((found) => ({ url: found.image_url })),
  ByName.transform(({ files: [{ file }] }) => ({ file })),
  Unusable.transform(({ msg }) => ({ msg })),
]);

interface OnServer {
  readonly url: string;
}

/** Brings a picture to the server. */
function uploadPicture(item: PostItem, step: string, io: PublishIo): Promise<OnServer & JsonObject> {
  const { url } = item;
  return repeatableStep(io, { step, request: { url }, send: () => sendPicture(item, io) });
}

/** The same, for a post that is there already. */
export async function sendPicture({ url, altText }: PostItem, io: PublishIo): Promise<{ url: string }> {
  const item = await io.media.item(url, altText);
  const { accepts } = capabilitiesOf(io.account).media;
  const multipart = [await picturePart("images[]", item, { io, accepts })];
  const path = namesOf(versionOf(io)).image;
  const found = await own(io, { method: "POST", path, multipart, ...UPLOAD_TIMES }, Uploaded);
  if ("url" in found) return { url: found.url };
  if ("file" in found) return { url: `${serverOf(io)}/pictrs/image/${found.file}` };
  throw new PlatformFault("rejected", "the server could not use the picture. Give another one.", {
    field: "mediaUrl",
    cause: found.msg,
  });
}

/** What is the post's own; the pictures after the first stand below its text. */
export function contentOf(post: LemmyPost, [first, ...more]: readonly string[]): JsonObject {
  const { title, link, altText, sensitive } = post.metadata;
  const shown = itemsOf(post).slice(1);
  const images = more.map((url, at) => `![${lineOf(shown[at]?.altText ?? "")}](${url})`);
  const body = [bodyOf(post), ...images].filter((text) => text !== "").join("\n\n");
  const url = first ?? link;
  return {
    name: title,
    ...(body === "" ? {} : { body }),
    ...(url === undefined ? {} : { url }),
    ...(altText === undefined ? {} : { alt_text: altText }),
    ...(sensitive === undefined ? {} : { nsfw: sensitive }),
  };
}

function lineOf(text: string): string {
  return plainMarkdown(text.replace(/\s+/g, " "));
}

const PAGE = 50;
const MAX_PAGES = 10;

/** `isOpen`: guests see all that stands in it, from the first moment on. */
type Target = { readonly id: number; readonly isOpen: boolean };

/** A post as the ledger keeps it. */
type CreatedPost = { readonly id: number };

const Found = z.looseObject({ community_view: z.looseObject({ community: Community }) });

/** A refusal is about the community's name. */
async function findCommunity(post: LemmyPost, io: PlatformIo): Promise<Target> {
  const call = { path: "community", query: { name: communityOf(post) } };
  const found = await naming("metadata.community", () => own(io, call, Found));
  const { id, visibility = "Public", hidden, local } = found.community_view.community;
  const isShown = ["public", "unlisted", "local_only_public"].includes(visibility.toLowerCase()) && !hidden;
  // The fourth version holds back what stands in another server's community until that one has taken it.
  const isAtOnce = local || versionOf(io) === "v3";
  return { id, isOpen: isShown && isAtOnce && io.account.limits["isPrivate"] === false };
}

interface PostSearch {
  readonly community: Target;
  readonly title: string;
}

/**
 * The post of this title among the newest of its community; null where there is none of the account's. What the
 * account itself is shown goes by its settings, which may hide its own posts from it (languages, bots, words): a
 * guest sees them all where the community is open.
 */
async function findPost(
  { community, title }: PostSearch,
  since: number,
  io: PlatformIo,
): Promise<CreatedPost | null> {
  const isOwn = ({ post }: PostView): boolean =>
    String(post.creator_id) === idOnServer(io) && post.name === title && timeOf(post) >= since;
  const asked = community.isOpen ? [asGuest] : [own, asGuest];
  for (const ask of asked) {
    const found = await findFirst(listPosts(io, { community, since, ask }), isOwn);
    if (found !== null) return { id: found.post.id };
  }
  return null;
}

interface Listing {
  readonly community: Target;
  readonly since: number;
  readonly ask: typeof own;
}

function listPosts(io: PlatformIo, { community, since, ask }: Listing): AsyncGenerator<PostView> {
  const version = versionOf(io);
  const names = namesOf(version);
  const query = {
    community_id: community.id,
    type_: names.all,
    sort: names.new,
    limit: PAGE,
    show_nsfw: true,
    show_read: true,
    show_hidden: true,
    ...(version === "v3" ? {} : { hide_posts_with_media: false, mark_as_read: false, time_range_seconds: 0 }),
  };
  return pages(MAX_PAGES, async (cursor) => {
    const call = { path: "post/list", query: { ...query, page_cursor: cursor } };
    const { items, next } = await ask(io, call, pageOf(PostView, "posts")).catch((error: unknown) => {
      // A private server shows a guest nothing.
      if (community.isOpen || !(error instanceof PlatformFault) || error.kind !== "rejected") throw error;
      return { items: [], next: null };
    });
    // What is pinned stands before the newest, however old it is.
    const isOver = items.some(({ post }) => !post.featured_community && timeOf(post) < since);
    return { items, next: items.length === 0 || isOver ? null : next };
  });
}

function timeOf({ published, published_at: at }: PostView["post"]): number {
  return Date.parse(at ?? published ?? "");
}

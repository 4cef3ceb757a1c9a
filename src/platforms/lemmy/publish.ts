import * as z from "zod";
import type { PlatformCapabilities } from "../../domain/accounts/capabilities.ts";
import { MINUTE } from "../../domain/time.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import {
  PlatformFault,
  type JsonObject,
  type PlatformAccount,
  type PlatformIo,
} from "../../ports/platform-io.ts";
import type { LiveAt, PublishIo } from "../../ports/publish-io.ts";
import { UPLOAD_TIMES } from "../shared/chunks.ts";
import { itemsOf, type PostItem } from "../shared/items.ts";
import { naming } from "../shared/naming.ts";
import { picturePart } from "../shared/posts/form-file.ts";
import { idOnServer, serverOf } from "../shared/servers.ts";
import { settleByListing } from "../shared/settle.ts";
import { sendUnseen } from "../shared/unseen.ts";
import { Community, namesOf, own, pageOf, Posted, PostView, versionOf, type Call, type Page } from "./api.ts";
import { communityOf, type LemmyPost } from "./metadata.ts";
import { plainMarkdown } from "./text.ts";

const MIB = 1024 * 1024;
const MAX_ITEMS = 10;
const TYPES = ["image/jpeg", "image/png", "image/webp", "image/gif", "image/avif"];

/** A request that was given up may still arrive more than a minute later. */
const SETTLE_MS = 2 * MINUTE;
const PAGE = 50;
const MAX_PAGES = 10;

export function capabilitiesOf({ limits }: Pick<PlatformAccount, "limits">): PlatformCapabilities {
  // Nobody tells how large: what stands before most servers lets 20 MB pass.
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
    caption: { maxLength: 50_000, unit: "weighted" },
    // Pictures go ahead. Lemmy's own schedule, from 1.0 on, looks every ten minutes: a post would be late.
    scheduling: "prepare",
    leadMinutes: { min: 0, default: 0, max: 1_440 },
    thumbnail: { set: true, replaceAfterPublish: true },
    editPublished: { fields: ["caption", "title", "link", "altText", "sensitive"] },
    analytics: { account: [], post: ["likes", "comments"] },
    reconciles: "list",
    fetchesMedia: [],
    quotas: [],
  };
}

/** A post as the ledger keeps it. */
type Sent = { readonly id: number };

/** Pictures first, where nobody looks; then the post. */
export async function publish(post: LemmyPost, io: PublishIo): Promise<PublishOutcome> {
  const pictures: string[] = [];
  for (const [at, item] of itemsOf(post).entries())
    pictures.push((await uploadPicture(item, uploadStep(at), io)).url);
  const { thumbnailUrl } = post.metadata;
  const thumbnail =
    thumbnailUrl === undefined
      ? null
      : (await uploadPicture({ url: thumbnailUrl, altText: null }, "upload thumbnail", io)).url;
  const communityId = await io.once("community", () => findCommunity(post, io));
  if (!io.isDue) return { state: "prepared" };
  const json: JsonObject = {
    community_id: communityId,
    ...contentOf(post, pictures),
    ...(thumbnail === null ? {} : { custom_thumbnail: thumbnail }),
  };
  const sent = await io.effect<Sent>({
    step: "post",
    request: json,
    send: async () => {
      const { post_view: view } = await own(io, { method: "POST", path: "post", json }, Posted);
      return { id: view.post.id };
    },
    settle: (context) =>
      settleByListing(context, {
        now: io.now(),
        settleMs: SETTLE_MS,
        isReliable: true,
        reason: "the answer was lost.",
        find: (since) => findPost({ communityId, title: post.metadata.title }, since, io),
      }),
    live: ({ id }) => liveAt(id, io),
  });
  return { state: "live", ...liveAt(sent.id, io) };
}

export function liveAt(id: number, io: PlatformIo): LiveAt {
  return { platformPostId: String(id), platformUrl: `${serverOf(io)}/post/${id}` };
}

/** Names the step that brings a picture, from 0. */
export function uploadStep(at: number): string {
  return `upload ${at + 1}`;
}

const FileName = z.string().regex(/^[\w.-]{1,200}$/);
const Uploaded = z.union([
  z.looseObject({ image_url: z.url({ protocol: /^https?$/ }).max(2_000) }),
  z.looseObject({ files: z.array(z.looseObject({ file: FileName })).min(1) }),
  // What it could not use, the third version tells with 201, or what pict-rs says, in a message alone.
  z.looseObject({ msg: z.string() }),
]);

/** A picture on the server, known by its address. */
function uploadPicture(
  { url, altText }: PostItem,
  step: string,
  io: PublishIo,
): Promise<{ readonly url: string }> {
  return sendUnseen(io, {
    step,
    request: { url },
    send: () => sendPicture({ url, altText }, io),
  });
}

/** The same, for a post that is there already. */
export async function sendPicture(
  { url, altText }: PostItem,
  io: PublishIo,
): Promise<{ readonly url: string }> {
  const item = await io.media.item(url, altText);
  const { accepts } = capabilitiesOf(io.account).media;
  const multipart = [await picturePart("images[]", item, { io, accepts })];
  const path = namesOf(versionOf(io)).image;
  const found = await own(io, { method: "POST", path, multipart, ...UPLOAD_TIMES }, Uploaded);
  if ("image_url" in found) return { url: String(found.image_url) };
  const [file] = "files" in found ? z.array(z.looseObject({ file: FileName })).parse(found.files) : [];
  if (file !== undefined) return { url: `${serverOf(io)}/pictrs/image/${file.file}` };
  throw new PlatformFault("rejected", "the server could not use the picture. Give another one.", {
    field: "mediaUrl",
    cause: found["msg"],
  });
}

/** What is the post's own; the pictures after the first stand below its text. */
export function contentOf(post: LemmyPost, [first, ...more]: readonly string[]): JsonObject {
  const { title, link, altText, sensitive } = post.metadata;
  const shown = itemsOf(post).slice(1);
  const images = more.map((url, at) => `![${lineOf(shown[at]?.altText ?? "")}](${url})`);
  const body = [plainMarkdown(post.caption ?? ""), ...images].filter((text) => text !== "").join("\n\n");
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

const Found = z.looseObject({ community_view: z.looseObject({ community: Community }) });

async function findCommunity(post: LemmyPost, io: PublishIo): Promise<number> {
  const query = { name: communityOf(post) };
  // Whatever it says: it is about the community's name.
  const found = await naming("metadata.community", () =>
    own(io, { method: "GET", path: "community", query }, Found),
  );
  return found.community_view.community.id;
}

interface Wanted {
  readonly communityId: number;
  readonly title: string;
}

/** The post of this title among the newest of its community; null where there is none of the account's. */
async function findPost({ communityId, title }: Wanted, since: number, io: PlatformIo): Promise<Sent | null> {
  const version = versionOf(io);
  const names = namesOf(version);
  const shown = { show_nsfw: true, show_read: true, show_hidden: true };
  const more =
    version === "v3" ? {} : { hide_posts_with_media: false, mark_as_read: false, time_range_seconds: 0 };
  const all = {
    community_id: communityId,
    type_: names.all,
    sort: names.new,
    limit: PAGE,
    ...shown,
    ...more,
  };
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const call: Call = { method: "GET", path: "post/list", query: { ...all, page_cursor: cursor } };
    const { items, next }: Page<PostView> = await own(io, call, pageOf(PostView, "posts"));
    const recent = items.filter(({ post }) => timeOf(post) >= since);
    const found = recent.find(
      ({ post }) => String(post.creator_id) === idOnServer(io) && post.name === title,
    );
    if (found !== undefined) return { id: found.post.id };
    // What is pinned stands before the newest, however old it is.
    const isOver = items.some(({ post }) => !post.featured_community && timeOf(post) < since);
    if (next === null || items.length === 0 || isOver) return null;
    cursor = next;
  }
  return null;
}

function timeOf({ published, published_at: at }: PostView["post"]): number {
  return Date.parse(at ?? published ?? "");
}

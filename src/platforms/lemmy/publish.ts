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
import { UPLOAD_TIMES } from "../shared/media/chunks.ts";
import { itemsOf, type PostItem } from "../shared/media/items.ts";
import { picturePart } from "../shared/posts/form-file.ts";
import { serverOf } from "../shared/servers.ts";
import { settleByListing } from "../shared/settle.ts";
import { sendUnseen } from "../shared/unseen.ts";
import { namesOf, own, Posted, versionOf } from "./api.ts";
import type { LemmyPost } from "./metadata.ts";
import { findCommunity, findPost, type Sent } from "./find.ts";
import { plainMarkdown } from "./text.ts";

const MIB = 1024 * 1024;
const MAX_ITEMS = 10;
const TYPES = ["image/jpeg", "image/png", "image/webp", "image/gif", "image/avif"];

/** A request that was given up may still arrive more than a minute later. */
const SETTLE_MS = 2 * MINUTE;

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
  const community = await io.once("community", () => findCommunity(post, io));
  if (!io.isDue) return { state: "prepared" };
  const json: JsonObject = {
    community_id: community.id,
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
        isReliable: community.isOpen,
        reason: "the answer was lost, and the server does not show all posts of this community.",
        find: (since) => findPost({ community, title: post.metadata.title }, since, io),
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
const ByAddress = z.looseObject({ image_url: z.url({ protocol: /^https?$/ }).max(2_000) });
const ByName = z.looseObject({ files: z.tuple([z.looseObject({ file: FileName })], z.json()) });
// What it could not use, the third version tells with 201, or what pict-rs says, only in a message.
const Unusable = z.looseObject({ msg: z.string(), files: z.null().optional() });
const Uploaded = z.union([
  ByAddress.transform((found) => ({ url: found.image_url })),
  ByName.transform(({ files: [{ file }] }) => ({ file })),
  Unusable.transform(({ msg }) => ({ msg })),
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

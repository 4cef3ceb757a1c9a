import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { MINUTE, SECOND } from "../../domain/time.ts";
import type { MediaItem } from "../../ports/media.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import { PlatformFault, type JsonObject } from "../../ports/platform-io.ts";
import type { LiveAt, PublishIo } from "../../ports/publish-io.ts";
import type { Fields } from "../../ports/request-body.ts";
import { settleByListing } from "../shared/settle.ts";
import { ask } from "./api.ts";
import { Duplicate } from "./faults.ts";
import { addressOf, findPost, Placed } from "./find.ts";
import { upload, type Asset } from "./media.ts";
import { check, communityOf, type RedditPost } from "./metadata.ts";
import { bodyOf } from "./text.ts";

/** What is posted; pictures and films become posts only when Reddit has worked on them. */
const Sent = z.object({ placed: Placed.nullable(), at: z.number() });
type Sent = z.infer<typeof Sent>;

/** After it, what was sent stands among the account's posts. */
const SETTLE_MS = {
  self: 5 * MINUTE,
  link: 5 * MINUTE,
  gallery: 5 * MINUTE,
  image: 10 * MINUTE,
  video: 30 * MINUTE,
};
type Kind = keyof typeof SETTLE_MS;

/** One post, looked for among the account's own where its answer is lost, or tells no id. */
export async function publish(post: RedditPost, io: PublishIo): Promise<PublishOutcome> {
  const sent = Sent.nullable().parse(io.resultOf("post")) ?? (await send(post, io));
  const placed = sent.placed ?? (await findPost(post, sent.at - MINUTE, io));
  if (placed === null) {
    const sinceMs = io.now() - sent.at;
    const checkAgainMs = Math.min(Math.max(5 * SECOND, Math.round(sinceMs / 4)), 2 * MINUTE);
    return { state: "processing", checkAgainMs };
  }
  const at = liveAt(placed);
  await io.live(at);
  return { state: "live", ...at };
}

function liveAt({ id, url }: Placed): LiveAt {
  return { platformPostId: id, platformUrl: url };
}

/** All media are looked at before anything is sent. */
async function openAll(post: RedditPost, io: PublishIo): Promise<MediaItem[]> {
  const items: MediaItem[] = [];
  const { moreMedia = [] } = post.metadata;
  const urls = [post.mediaUrl, ...moreMedia.map(({ url }) => url)].filter((url) => url !== "");
  for (const url of urls) items.push(await io.media.item(url));
  const { errors } = check(post, { media: new Map(items.map(({ url, facts }) => [url, facts])) });
  if (errors.length > 0) throw new AppError("invalid", errors.join(" "));
  return items;
}

async function send(post: RedditPost, io: PublishIo): Promise<Sent> {
  const items = await openAll(post, io);
  const kind = kindOf(post, items);
  const assets: Asset[] = [];
  for (const [at, item] of items.entries()) assets.push(await upload(item, `${at + 1}`, io));
  const { thumbnailUrl } = post.metadata;
  const poster =
    kind === "video" && thumbnailUrl !== undefined
      ? await upload(await io.media.item(thumbnailUrl), "poster", io)
      : null;
  const fields = { ...fieldsOf(post), ...mediaFields(post, kind, { assets, poster }) };
  return io.effect<Sent>({
    step: "post",
    request: fields,
    async send({ timesSent }) {
      const at = io.now();
      try {
        return { placed: await submit(fields, kind, io), at };
      } catch (error) {
        // After a lost answer, it is most likely our own.
        if (!(error instanceof Duplicate) || timesSent === 0) throw error;
        const placed = await findPost(post, post.scheduledAt - MINUTE, io);
        if (placed === null) throw error;
        return { placed, at };
      }
    },
    settle: (context) =>
      settleByListing<Sent>(context, {
        now: io.now(),
        settleMs: SETTLE_MS[kind],
        isReliable: true,
        reason: "the answer was lost, and the account's posts could not be looked through.",
        find: async (since) => {
          const placed = await findPost(post, since, io);
          return placed === null ? null : { placed, at: io.now() };
        },
      }),
  });
}

function kindOf({ metadata }: RedditPost, [first, ...more]: readonly MediaItem[]): Kind {
  if (first === undefined) return metadata.link === undefined ? "self" : "link";
  if (first.facts.type === "video") return "video";
  return more.length === 0 ? "image" : "gallery";
}

function fieldsOf(post: RedditPost) {
  const { title, flairId, flairText, sensitive, spoiler, sendReplies } = post.metadata;
  const text = bodyOf(post);
  return {
    api_type: "json",
    sr: communityOf(post),
    title,
    ...(text === "" ? {} : { text }),
    ...(flairId === undefined ? {} : { flair_id: flairId }),
    ...(flairText === undefined ? {} : { flair_text: flairText }),
    nsfw: sensitive ?? false,
    spoiler: spoiler ?? false,
    sendreplies: sendReplies ?? true,
    validate_on_submit: true,
  };
}

function mediaFields(
  { metadata }: RedditPost,
  kind: Kind,
  { assets, poster }: { readonly assets: readonly Asset[]; readonly poster: Asset | null },
): JsonObject {
  if (kind === "gallery") {
    const items = assets.map(({ id }) => ({ media_id: id, caption: "", outbound_url: "" }));
    return { items, show_error_list: true };
  }
  const url = assets[0]?.url ?? metadata.link;
  return {
    kind,
    // Of a link, the second time it is refused.
    resubmit: kind !== "link",
    ...(url === undefined ? {} : { url }),
    ...(poster === null ? {} : { video_poster_url: poster.url }),
  };
}

const Made = z.looseObject({
  id: z.string().optional(),
  name: z.string().optional(),
  url: z.string(),
});
/** Of pictures and films, the post comes later, and nobody tells its id. */
const Submitted = z.looseObject({
  json: z.looseObject({ data: z.union([Made, z.looseObject({ websocket_url: z.string().nullish() })]) }),
});

async function submit(fields: JsonObject, kind: Kind, io: PublishIo): Promise<Placed | null> {
  const call =
    kind === "gallery"
      ? { path: "/api/submit_gallery_post.json", json: fields }
      : { path: "/api/submit", form: formOf(fields) };
  const { json } = await ask(io, { method: "POST", ...call }, Submitted);
  const made = Made.safeParse(json.data).data;
  const name = made?.name ?? made?.id;
  if (made !== undefined && name !== undefined) {
    return { id: name.startsWith("t3_") ? name : `t3_${name}`, url: addressOf(made.url) };
  }
  if (kind === "image" || kind === "video") return null;
  const words = "Reddit's answer does not say what happened to the post.";
  throw new PlatformFault("ambiguous", words, { httpStatus: 200 });
}

function formOf(fields: JsonObject): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
}

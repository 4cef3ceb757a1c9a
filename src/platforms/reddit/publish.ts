import * as z from "zod";
import type { AcceptedMedia } from "../../domain/accounts/capabilities.ts";
import { AppError } from "../../domain/errors.ts";
import { parseUrl } from "../../domain/parse-url.ts";
import { MINUTE, SECOND } from "../../domain/time.ts";
import type { MediaItem } from "../../ports/media.ts";
import { type JsonObject, PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import type { LiveAt, PublishIo } from "../../ports/publish-io.ts";
import type { Fields } from "../../ports/request-body.ts";
import { fitPicture, inOrder, itemsOf, openAll, toPart } from "../shared/media.ts";
import { findFirst, pages } from "../shared/pages.ts";
import { repeatableStep, reconcileByListing } from "../shared/reconcile.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";
import { ask, baseUrl, classifyUpload, Duplicate, listOf, REDDIT } from "./api.ts";
import {
  bodyOf,
  check,
  communityOf,
  crosspostsOf,
  MAX_PICTURES,
  type RedditPost,
  shownPostOf,
} from "./metadata.ts";

const Count = z.int().min(0).nullish().catch(null);

/** A post as it stands in lists. */
export const Entry = z.looseObject({
  name: z.string().regex(/^t3_\w+$/),
  subreddit: z.string(),
  title: z.string(),
  selftext: z.string().catch(""),
  url: z.string().catch(""),
  is_self: z.boolean().catch(false),
  created_utc: z.number(),
  permalink: z.string().catch(""),
  removed_by_category: z.string().nullish().catch(null),
  crosspost_parent: z.string().nullish().catch(null),
  score: z.int().nullish().catch(null),
  num_comments: Count,
  view_count: Count,
});
export type Entry = z.infer<typeof Entry>;

/** A post that is there. */
const LivePost = z.object({ id: z.string(), url: z.string() });
type LivePost = z.infer<typeof LivePost>;

const MAX_PAGES = 4;

/** Looks among the account's own posts, the newest first. */
async function findEntry(
  isWanted: (entry: Entry) => boolean,
  since: number,
  io: PlatformIo,
): Promise<LivePost | null> {
  const path = `/user/${encodeURIComponent(io.account.handle ?? "")}/submitted`;
  const isFresh = ({ created_utc: at }: Entry): boolean => at * SECOND >= since;
  const entries = pages(MAX_PAGES, async (after) => {
    const query = { sort: "new", limit: 25, after };
    const { data } = await ask(io, { path, query }, listOf(Entry));
    const items = data.children.map(({ data: entry }) => entry);
    return { items, next: items.every(isFresh) ? data.after : null };
  });
  const found = await findFirst(entries, (entry) => isFresh(entry) && isWanted(entry));
  return found === null ? null : { id: found.name, url: addressOf(found.permalink) };
}

function findPost(post: RedditPost, since: number, io: PlatformIo): Promise<LivePost | null> {
  return findEntry((entry) => isSame(entry, post), since, io);
}

function isSame(entry: Entry, post: RedditPost): boolean {
  const { link, title } = post.metadata;
  return (
    entry.subreddit.toLowerCase() === communityOf(post).toLowerCase() &&
    plain(entry.title) === plain(title) &&
    plain(entry.selftext) === plain(bodyOf(post)) &&
    (entry.crosspost_parent ?? null) === shownPostOf(post) &&
    (link === undefined || parseUrl(entry.url)?.href === new URL(link).href)
  );
}

function plain(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** Where people find it. */
function addressOf(permalink: string): string {
  return REDDIT + (parseUrl(permalink, REDDIT)?.pathname ?? "");
}

const MB = 1_000_000;
const PICTURE = { mimeTypes: ["image/jpeg", "image/png", "image/gif"], maxBytes: 20 * MB };

export const ACCEPTS: readonly AcceptedMedia[] = [
  { kind: "image", ...PICTURE, maxItems: MAX_PICTURES },
  {
    kind: "video",
    mimeTypes: ["video/mp4", "video/quicktime"],
    maxBytes: 1_000 * MB,
    minSeconds: 2,
    maxSeconds: 900,
    maxItems: 1,
  },
];

const Lease = z.looseObject({
  args: z.looseObject({
    action: z.string(),
    fields: z.array(z.looseObject({ name: z.string(), value: z.string() })),
  }),
  asset: z.looseObject({ asset_id: z.string() }),
});

/** A file at Reddit that no post names yet: how galleries name it, and how other posts do. */
const Asset = z.object({ id: z.string(), url: z.string() });
type Asset = z.infer<typeof Asset>;

/** Brings a file to Reddit. `name`: of the step. */
async function upload(item: MediaItem, name: string, io: PublishIo): Promise<Asset> {
  const asset = await repeatableStep(io, {
    step: `upload ${name}`,
    request: { url: item.url },
    send: async () => {
      const file = await toFile(item, io);
      const form = { filepath: file.fileName, mimetype: file.mimeType, api_type: "json" };
      const call = { method: "POST", path: "/api/media/asset.json", form, isIdempotent: true } as const;
      const { args, asset: made } = await ask(io, call, Lease);
      const place = new URL(args.action, baseUrl(io)).href;
      const fields = args.fields.map(({ name: field, value }) => ({ name: field, text: value }));
      await io.request({
        ...UPLOAD_TIMES,
        method: "POST",
        url: place,
        // The file must be the last.
        multipart: [...fields, file],
        isIdempotent: true,
        classify: classifyUpload,
      });
      const key = args.fields.find(({ name: field }) => field === "key")?.value ?? "";
      return { id: made.asset_id, url: `${place.replace(/\/$/, "")}/${key}` };
    },
  });
  return Asset.parse(asset);
}

/** A GIF is sent as it is: it moves. */
async function toFile(item: MediaItem, io: PublishIo) {
  const isStill = item.facts.type === "image" && item.facts.mimeType !== "image/gif";
  const file = isStill ? await fitPicture(item, PICTURE, io) : { ...item.facts, body: () => item.open() };
  // Reddit goes by the end of its name.
  return toPart("file", file, "file");
}

/** What is posted; pictures and films become posts only when Reddit has worked on them. */
const Submission = z.object({ placed: LivePost.nullable(), at: z.number() });
type Submission = z.infer<typeof Submission>;

/** After it, what was sent stands among the account's posts. */
const LISTED_AFTER_MS = {
  self: 5 * MINUTE,
  link: 5 * MINUTE,
  gallery: 5 * MINUTE,
  image: 10 * MINUTE,
  video: 30 * MINUTE,
  poll: 5 * MINUTE,
  crosspost: 5 * MINUTE,
};
type Kind = keyof typeof LISTED_AFTER_MS;

/** One post, looked for among the account's own where its answer is lost, or tells no id. */
export async function publish(post: RedditPost, io: PublishIo): Promise<PublishOutcome> {
  const sent = Submission.nullable().parse(io.resultOf("post")) ?? (await send(post, io));
  const placed = sent.placed ?? (await findPost(post, sent.at - MINUTE, io));
  if (placed === null) {
    const sinceMs = io.now() - sent.at;
    const checkAgainMs = Math.min(Math.max(5 * SECOND, Math.round(sinceMs / 4)), 2 * MINUTE);
    return { state: "processing", checkAgainMs };
  }
  const at = liveAt(placed);
  await io.live(at);
  for (const community of crosspostsOf(post))
    await io.followUp(`The crosspost into ${community}`, () => crosspost(post, { placed, community }, io));
  return { state: "live", ...at };
}

/** Names the step that brings the post into a further community. */
function stepOf(community: string): string {
  return `crosspost ${community}`;
}

/** Of the further communities that the post was brought into, the ids there. */
export function crosspostIdsOf(post: RedditPost, io: Pick<PlatformIo, "resultOf">): readonly string[] {
  return crosspostsOf(post).flatMap((community) => {
    const { data } = LivePost.safeParse(io.resultOf(stepOf(community)));
    return data === undefined ? [] : [data.id];
  });
}

async function crosspost(
  post: RedditPost,
  { placed, community }: { readonly placed: LivePost; readonly community: string },
  io: PublishIo,
): Promise<void> {
  const { title, sensitive, spoiler, sendReplies } = post.metadata;
  const fields = {
    api_type: "json",
    sr: community,
    title,
    kind: "crosspost",
    crosspost_fullname: placed.id,
    nsfw: sensitive ?? false,
    spoiler: spoiler ?? false,
    sendreplies: sendReplies ?? true,
  };
  await io.effect<LivePost>({
    step: stepOf(community),
    request: fields,
    send: async () => {
      const made = await submit(fields, "crosspost", io);
      if (made === null) throw new PlatformFault("ambiguous", UNTOLD, { httpStatus: 200 });
      return made;
    },
    reconcile: (context) =>
      reconcileByListing<LivePost>(context, {
        io,
        listedAfterMs: LISTED_AFTER_MS.crosspost,
        find: (since) =>
          findEntry(
            (entry) =>
              entry.crosspost_parent === placed.id &&
              entry.subreddit.toLowerCase() === community.toLowerCase(),
            since,
            io,
          ),
      }),
  });
}

const UNTOLD = "Reddit's answer does not say what happened to the post.";

function liveAt({ id, url }: LivePost): LiveAt {
  return { platformPostId: id, platformUrl: url };
}

/** All media are looked at before anything is sent. */
async function openChecked(post: RedditPost, io: PublishIo): Promise<MediaItem[]> {
  const items = await openAll(itemsOf(post), io);
  const { errors } = check(post, { media: new Map(items.map(({ url, facts }) => [url, facts])) });
  if (errors.length > 0) throw new AppError("invalid", errors.join(" "));
  return items;
}

async function send(post: RedditPost, io: PublishIo): Promise<Submission> {
  const items = await openChecked(post, io);
  const kind = kindOf(post, items);
  const assets = await inOrder(items, (item, at) => upload(item, `${at + 1}`, io));
  const { thumbnailUrl } = post.metadata;
  const poster =
    kind === "video" && thumbnailUrl !== undefined
      ? await upload(await io.media.item(thumbnailUrl), "poster", io)
      : null;
  const fields = { ...fieldsOf(post), ...mediaFields(post, kind, { assets, poster }) };
  return io.effect<Submission>({
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
    reconcile: (context) =>
      reconcileByListing<Submission>(context, {
        io,
        listedAfterMs: LISTED_AFTER_MS[kind],
        find: async (since) => {
          const placed = await findPost(post, since, io);
          return placed === null ? null : { placed, at: io.now() };
        },
      }),
  });
}

function kindOf({ metadata }: RedditPost, [first, ...more]: readonly MediaItem[]): Kind {
  if (metadata.crosspost !== undefined) return "crosspost";
  if (metadata.poll !== undefined) return "poll";
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
  post: RedditPost,
  kind: Kind,
  { assets, poster }: { readonly assets: readonly Asset[]; readonly poster: Asset | null },
): JsonObject {
  const { poll, link } = post.metadata;
  if (kind === "poll" && poll !== undefined)
    return { text: bodyOf(post), options: [...poll.options], duration: poll.hours / 24, resubmit: true };
  if (kind === "crosspost") return { kind, crosspost_fullname: shownPostOf(post) ?? "" };
  if (kind === "gallery") {
    const items = assets.map(({ id }) => ({ media_id: id, caption: "", outbound_url: "" }));
    return { items, show_error_list: true };
  }
  const url = assets[0]?.url ?? link;
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
/** Of pictures and films the post comes later, without its id. */
const Submitted = z.looseObject({
  json: z.looseObject({ data: z.union([Made, z.looseObject({ websocket_url: z.string().nullish() })]) }),
});

/** Of kinds that are sent as JSON; the others are forms. */
const JSON_PATHS: Readonly<Partial<Record<Kind, string>>> = {
  gallery: "/api/submit_gallery_post.json",
  poll: "/api/submit_poll_post",
};

async function submit(fields: JsonObject, kind: Kind, io: PublishIo): Promise<LivePost | null> {
  const path = JSON_PATHS[kind];
  const call = path === undefined ? { path: "/api/submit", form: formOf(fields) } : { path, json: fields };
  const { json } = await ask(io, { method: "POST", ...call }, Submitted);
  const made = Made.safeParse(json.data).data;
  const name = made?.name ?? made?.id;
  if (made !== undefined && name !== undefined) {
    return { id: name.startsWith("t3_") ? name : `t3_${name}`, url: addressOf(made.url) };
  }
  if (kind === "image" || kind === "video") return null;
  throw new PlatformFault("ambiguous", UNTOLD, { httpStatus: 200 });
}

function formOf(fields: JsonObject): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
}

import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { mentionToken } from "../../domain/posts/mentions.ts";
import type { Metrics } from "../../domain/posts/post.ts";
import { DAY } from "../../domain/time.ts";
import { type Json, type JsonObject, PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { Choice, PlatformAnalytics, PostInsights } from "../../ports/platform.ts";
import {
  AnyAnswer,
  didOf,
  findRecord,
  isXrpcError,
  laterTid,
  ownXrpc,
  pdsOf,
  POST,
  POSTGATE,
  rkeyOf,
  type StoredRecord,
  THREADGATE,
  xrpc,
} from "./api.ts";
import { pages } from "../shared/pages.ts";
import { countByPost, type CountedPost, uncounted } from "../shared/live.ts";
import { type BlueskyPost, makeContent, partsOf } from "./metadata.ts";
import { gatesOf } from "./publish.ts";

const PUBLIC_APP_VIEW = "https://public.api.bsky.app";
const PAGE = 100;
const MAX_PAGES = 20;

/** Bluesky's public index of the network; none for another network, unless one is set. */
function appViewOf(io: Pick<PlatformIo, "setting">): string | null {
  return io.setting("APPVIEW_URL") ?? (io.setting("BASE_URL") === null ? PUBLIC_APP_VIEW : null);
}

const Count = z.int().min(0).optional();

/** What the index counts of a post. */
const Counts = z.looseObject({
  uri: z.string(),
  likeCount: Count,
  repostCount: Count,
  replyCount: Count,
  quoteCount: Count,
  bookmarkCount: Count,
});
type Counts = z.infer<typeof Counts>;

function countOf(counts: Counts): Partial<Metrics> {
  const { likeCount: likes = null, replyCount: comments = null, bookmarkCount: saves = null } = counts;
  const { repostCount, quoteCount } = counts;
  const isShared = repostCount !== undefined || quoteCount !== undefined;
  return { likes, comments, shares: isShared ? (repostCount ?? 0) + (quoteCount ?? 0) : null, saves };
}

export const ACCOUNT_METRICS = ["followers", "posts", "likes", "comments", "shares"] as const;

const NOT_OFFERED = ["views", "impressions", "reach", "clicks"];

const Profile = z.looseObject({ followersCount: Count });

/** Followers as they are now, and the reactions so far to the posts of the range, by the day of the post. */
export async function analytics(
  range: { from: string; to: string },
  io: PlatformIo,
): Promise<PlatformAnalytics> {
  const base = appViewOf(io);
  if (base === null) return nothing("No index of this network is set (POSTHORN_BLUESKY_APPVIEW_URL).");
  try {
    const call = { base, nsid: "app.bsky.actor.getProfile", params: { actor: didOf(io) } };
    const profile = await xrpc(io, call, Profile);
    return await countByPost(listPosts(range.from, { base, io }), range, {
      followers: profile.followersCount,
      title: "Bluesky",
      uncounted: NOT_OFFERED,
    });
  } catch (error) {
    if (!(error instanceof PlatformFault)) throw error;
    io.log.warn({ err: error }, "Bluesky's index did not give the account's numbers");
    return nothing("Bluesky's index could not be asked. Try again later.");
  }
}

function nothing(reason: string): PlatformAnalytics {
  return {
    totals: {},
    days: [],
    unavailable: [
      ...ACCOUNT_METRICS.map((metric) => ({ metric, reason })),
      ...uncounted("Bluesky", NOT_OFFERED),
    ],
  };
}

const FeedPage = z.looseObject({
  cursor: z.string().optional(),
  feed: z.array(
    z.looseObject({
      post: Counts.extend({ record: z.looseObject({ createdAt: z.string() }) }),
      reason: z.unknown().optional(),
    }),
  ),
});
type FeedItem = z.infer<typeof FeedPage>["feed"][number];

/** The account's own posts, the newest first, and what others did with each. */
function listPosts(from: string, { base, io }: { base: string; io: PlatformIo }): AsyncIterable<CountedPost> {
  const own = { actor: didOf(io), limit: String(PAGE), filter: "posts_with_replies" };
  return pages(MAX_PAGES, async (cursor) => {
    const params = cursor === undefined ? own : { ...own, cursor };
    const answer = await xrpc(io, { base, nsid: "app.bsky.feed.getAuthorFeed", params }, FeedPage);
    const posts = answer.feed.filter(({ reason }) => reason === undefined).map(({ post }) => post);
    const items = posts.map((post) => ({ date: post.record.createdAt.slice(0, 10), counts: countOf(post) }));
    return { items, next: isBefore(answer.feed, from) ? null : answer.cursor };
  });
}

/** A pinned or reposted item stands out of order: only own posts tell how far back the feed is. */
function isBefore(feed: readonly FeedItem[], from: string): boolean {
  const last = feed.findLast((item) => item.reason === undefined);
  return (
    last !== undefined &&
    last.post.record.createdAt.slice(0, 10) < new Date(Date.parse(from) - DAY).toISOString().slice(0, 10)
  );
}

/** Fields that stand in records of their own, which every app reads anew. */
const GATE_FIELDS: readonly string[] = ["replyRules", "allowQuotes"];

/** The key of the post's first record. Throws `conflict` for an id that is none of Bluesky's. */
function keyOf(post: BlueskyPost): string {
  const rkey = rkeyOf(post.platformPostId ?? "");
  if (rkey !== null) return rkey;
  throw new AppError(
    "conflict",
    "platformPostId: is not the at:// address of a Bluesky post, so the post cannot be found there.",
  );
}

/**
 * The account's own server says whether the post is there; the counts come from Bluesky's index, where it can
 * be reached.
 */
export async function insights(post: BlueskyPost, io: PlatformIo): Promise<PostInsights> {
  const record = await findRecord(io, POST, keyOf(post));
  if (record === null) return { state: "removed", visibility: null, metrics: {} };
  return { state: "live", visibility: "public", metrics: await readCounts(record.uri, io) };
}

const PostsAnswer = z.looseObject({ posts: z.array(Counts) });

async function readCounts(uri: string, io: PlatformIo): Promise<Partial<Metrics>> {
  const base = appViewOf(io);
  if (base === null) return {};
  try {
    const call = { base, nsid: "app.bsky.feed.getPosts", params: { uris: [uri] } };
    const { posts } = await xrpc(io, call, PostsAnswer);
    return posts[0] === undefined ? {} : countOf(posts[0]);
  } catch (error) {
    if (!(error instanceof PlatformFault)) throw error;
    io.log.warn({ uri, err: error }, "Bluesky's index did not give the counts of a post");
    return {};
  }
}

/**
 * Bluesky has no editing: replacing a record works on the account's server, but apps may go on showing the
 * old text, and likes that name the old content are lost. So it takes the user's word; who may reply and
 * quote can always be changed.
 */
export async function edit(post: BlueskyPost, changed: readonly string[], io: PlatformIo): Promise<object> {
  const isOfRecord = changed.some((field) => !GATE_FIELDS.includes(field) && field !== "allowEdit");
  if (isOfRecord) {
    assertReplaceable(post);
    await replaceRecord(post, io);
  }
  if (changed.some((field) => GATE_FIELDS.includes(field))) await replaceGates(post, io);
  return {};
}

function assertReplaceable({ metadata }: BlueskyPost): void {
  if (metadata.thread !== undefined && metadata.thread.length > 0) {
    throw new AppError(
      "conflict",
      "The first post of a thread cannot be changed on Bluesky: the replies name its exact content.",
    );
  }
  if (metadata.allowEdit === true) return;
  throw new AppError(
    "conflict",
    "Bluesky has no editing: a replaced post may still show its old text, and its likes may be lost. " +
      "To replace it all the same, give metadata.allowEdit true.",
  );
}

async function replaceRecord(post: BlueskyPost, io: PlatformIo): Promise<void> {
  const rkey = keyOf(post);
  const current = await findRecord(io, POST, rkey);
  if (current?.cid === undefined)
    throw new AppError("conflict", "The post is no longer on Bluesky, so it cannot be changed.");
  const record = await editedRecord(post, current, io);
  await put(io, { collection: POST, rkey, record, swapRecord: current.cid });
}

/** Reply, media and moment stay as they are. */
async function editedRecord(post: BlueskyPost, { value }: StoredRecord, io: PlatformIo): Promise<JsonObject> {
  const [part] = partsOf(post);
  const altTexts = part.media.map((item) => item.altText ?? "");
  const { createdAt, embed, reply } = value;
  return {
    ...(await makeContent(part, post.metadata, io)),
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(embed === undefined ? {} : { embed: withAltText(embed, altTexts) }),
    ...(reply === undefined ? {} : { reply }),
  };
}

const Images = z.looseObject({
  $type: z.literal("app.bsky.embed.images"),
  images: z.array(z.record(z.string(), z.json())),
});
const Video = z.looseObject({ $type: z.literal("app.bsky.embed.video") });
const JsonRecord = z.record(z.string(), z.json());

function withAltText(embed: Json, altTexts: readonly string[]): Json {
  const record = JsonRecord.safeParse(embed).data;
  if (record === undefined) return embed;
  const shown = Images.safeParse(embed).data?.images;
  if (shown !== undefined)
    return { ...record, images: shown.map((image, at) => ({ ...image, alt: altTexts[at] ?? "" })) };
  if (!Video.safeParse(embed).success) return embed;
  const { alt: _old, ...video } = record;
  return altTexts[0] ? { ...video, alt: altTexts[0] } : video;
}

async function replaceGates(post: BlueskyPost, io: PlatformIo): Promise<void> {
  const rkey = keyOf(post);
  const current = await findRecord(io, POST, rkey);
  const createdAt =
    z.string().safeParse(current?.value["createdAt"]).data ?? new Date(io.now()).toISOString();
  const gates = gatesOf(post.metadata, { did: didOf(io), rkey, createdAt });
  for (const collection of [THREADGATE, POSTGATE]) {
    const gate = gates.find((one) => one.collection === collection);
    if (gate === undefined) await changeRepo(io, "deleteRecord", { collection, rkey });
    else await put(io, { collection, rkey, record: gate.value });
  }
}

interface Put {
  readonly collection: string;
  readonly rkey: string;
  readonly record: JsonObject;
  readonly swapRecord?: string;
}

/**
 * Writing equal content twice is one write; a swap that fails because ours came through already is a success.
 */
async function put(io: PlatformIo, written: Put): Promise<void> {
  try {
    await changeRepo(io, "putRecord", { ...written });
  } catch (error) {
    if (!isXrpcError(error, "InvalidSwap") && !(error instanceof PlatformFault && error.kind === "transient"))
      throw error;
    const now = await findRecord(io, written.collection, written.rkey);
    if (now === null || sorted(now.value) !== sorted(written.record)) throw error;
  }
}

function sorted(value: Json): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort())
      : inner,
  );
}

/** Deletes the whole thread, last part first, and what governs it. What is gone already is no error. */
export async function remove(post: BlueskyPost, io: PlatformIo): Promise<void> {
  const rkey = keyOf(post);
  const remove = (collection: string, key: string): Promise<void> =>
    changeRepo(io, "deleteRecord", { collection, rkey: key });
  const { thread = [], replyRules, allowQuotes } = post.metadata;
  for (let at = thread.length; at >= 0; at -= 1) await remove(POST, laterTid(rkey, at));
  if (replyRules !== undefined) await remove(THREADGATE, rkey);
  if (allowQuotes !== undefined) await remove(POSTGATE, rkey);
}

/** A change that may be asked for again. */
async function changeRepo(io: PlatformIo, name: string, change: JsonObject): Promise<void> {
  const nsid = `com.atproto.repo.${name}`;
  const json = { repo: didOf(io), ...change };
  await ownXrpc(io, { base: pdsOf(io), nsid, json, isIdempotent: true }, AnyAnswer);
}

const Actors = z.looseObject({
  actors: z.array(z.looseObject({ handle: z.string().min(1).max(253), displayName: z.string().catch("") })),
});

/** People whose handle or name begins so: https://docs.bsky.app/docs/api/app-bsky-actor-search-actors-typeahead */
export async function people(search: string, io: PlatformIo): Promise<readonly Choice[]> {
  const q = search.replace(/^@/, "");
  if (q === "") return [];
  const call = { base: pdsOf(io), nsid: "app.bsky.actor.searchActorsTypeahead", params: { q, limit: 50 } };
  const { actors } = await ownXrpc(io, call, Actors);
  return actors.map(({ handle, displayName: name }) => ({
    value: mentionToken(name || handle, `@${handle}`),
    label: name === "" ? `@${handle}` : `${name} (@${handle})`,
  }));
}

import * as z from "zod";
import type { EditResult, Inspection, PlatformAnalytics, PostInsights } from "../../ports/platform.ts";
import { PlatformFault, type JsonObject, type PlatformIo } from "../../ports/platform-io.ts";
import { AnyAnswer, ask, askOrGone, blogPath } from "./api.ts";
import { addressOf, shownBlog, USER_INFO, UserInfo } from "./connect.ts";
import { contentOf, type TumblrPost } from "./metadata.ts";
import { fieldsOf, CreatedPost, readPost, type TumblrEntry } from "./publish.ts";

/** One that was in the queue may have been published meanwhile, under another id. */
async function find({ platformPostId }: TumblrPost, io: PlatformIo): Promise<TumblrEntry | null> {
  if (platformPostId === null) return null;
  const placed = CreatedPost.safeParse(io.resultOf("post")).data;
  return readPost(io, { id: platformPostId, mark: placed?.mark ?? "", since: null });
}

const MEDIA = ["image", "video", "audio"];

const Changed = z.looseObject({ id: z.union([z.string(), z.int().transform(String)]).optional() });

/** The whole post is given again, with the media as they are there. */
export async function edit(
  post: TumblrPost,
  changed: readonly string[],
  io: PlatformIo,
): Promise<EditResult> {
  const entry = await find(post, io);
  if (entry === null) throw new PlatformFault("rejected", "It is not on Tumblr any more.");
  if (entry.content.length === 0)
    throw new PlatformFault(
      "rejected",
      "Tumblr does not show what the post holds, and a change would remove it.",
    );
  const media = entry.content.filter(({ type }) => MEDIA.includes(String(type)));
  const alt = changed.includes("altText") ? { alt_text: post.metadata.altText ?? "" } : {};
  const shown = media.map((block, at): JsonObject =>
    at === 0 && block["type"] === "image" ? { ...block, ...alt } : block,
  );
  const json = { ...fieldsOf(entry), ...contentOf(post, shown), state: entry.state };
  const path = `${blogPath(io)}/posts/${entry.id}`;
  const { id = entry.id } = await ask(io, { method: "PUT", path, json, isIdempotent: true }, Changed);
  const { handle } = io.account;
  if (id === post.platformPostId || handle === null) return {};
  return { platformPostId: id, platformUrl: `${addressOf(handle)}/${id}` };
}

/** What is gone already is no error. */
export async function remove(post: TumblrPost, io: PlatformIo): Promise<void> {
  const entry = await find(post, io);
  if (entry === null) return;
  const call = { method: "POST", path: `${blogPath(io)}/post/delete`, form: { id: entry.id } } as const;
  await askOrGone(io, { ...call, isIdempotent: true }, AnyAnswer);
}

const Count = z.int().min(0).nullable().catch(null).default(null);
const Notes = z.looseObject({ total_likes: Count, total_reblogs: Count });

/** Of its notes, how many are likes, and how many reblogs. */
export async function insights(post: TumblrPost, io: PlatformIo): Promise<PostInsights> {
  const entry = await find(post, io);
  if (entry === null) return { state: "removed", visibility: null, metrics: {} };
  if (entry.state !== "published") return { state: "private", visibility: "private", metrics: {} };
  const query = { id: entry.id, mode: "conversation", api_key: io.setting("CLIENT_ID") };
  const { total_likes: likes, total_reblogs: shares } = await ask(
    io,
    { path: `${blogPath(io)}/notes`, query },
    Notes,
  );
  return { state: "live", visibility: "public", metrics: { likes, shares } };
}

async function readBlog(io: PlatformIo) {
  const { user } = await ask(io, { path: USER_INFO }, UserInfo);
  return user.blogs.find(({ uuid }) => uuid === io.account.platformAccountId);
}

export async function inspect(io: PlatformIo): Promise<Inspection> {
  const blog = await readBlog(io);
  return blog === undefined ? { problem: NO_BLOG } : { ...shownBlog(blog), problem: null };
}

const NO_BLOG =
  "Tumblr does not list the blog among those that this person may post to. It was deleted, or the right was taken away. Ask its owner, or disconnect the channel.";

/** Followers as they are now; Tumblr tells nothing of days before. */
export async function analytics(_range: object, io: PlatformIo): Promise<PlatformAnalytics> {
  const { followers } = (await readBlog(io)) ?? {};
  const unavailable =
    followers === undefined ? [{ metric: "followers", reason: "Tumblr did not give these numbers." }] : [];
  return { totals: followers === undefined ? {} : { followers }, days: [], unavailable };
}

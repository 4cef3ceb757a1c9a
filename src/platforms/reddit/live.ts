import type { Inspection, PlatformAnalytics, PostInsights } from "../../ports/platform.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import { AnyAnswer, ask, listOf } from "./api.ts";
import { ME, Me, SUSPENDED } from "./connect.ts";
import { crosspostIdsOf, Entry } from "./publish.ts";
import { bodyOf, communityOf, type RedditPost } from "./metadata.ts";

/** A post of only text: Reddit lets no other be changed. */
export function isSelf({ mediaUrl, metadata }: RedditPost): boolean {
  const { link, poll, crosspost } = metadata;
  return mediaUrl === "" && link === undefined && poll === undefined && crosspost === undefined;
}

const TEXT = ["caption", "format", "markdown"];

const idOf = ({ platformPostId }: RedditPost): string => platformPostId ?? "";

/** The body of a text post, and the flair of any. */
export async function edit(post: RedditPost, changed: readonly string[], io: PlatformIo): Promise<object> {
  const id = idOf(post);
  const change = { method: "POST", isIdempotent: true } as const;
  const { flairId, flairText } = post.metadata;
  if (changed.some((field) => TEXT.includes(field))) {
    const form = { api_type: "json", thing_id: id, text: bodyOf(post) };
    await ask(io, { ...change, path: "/api/editusertext", form }, AnyAnswer);
  }
  if (changed.includes("flairId") || changed.includes("flairText")) {
    const path = `/r/${communityOf(post)}/api/selectflair`;
    const form = { api_type: "json", link: id, flair_template_id: flairId ?? "", text: flairText ?? "" };
    await ask(io, { ...change, path, form }, AnyAnswer);
  }
  return {};
}

/** What it was crossposted to goes first. Reddit answers the same for what is gone. */
export async function remove(post: RedditPost, io: PlatformIo): Promise<void> {
  for (const id of [...crosspostIdsOf(post, io), idOf(post)])
    await ask(io, { method: "POST", path: "/api/del", form: { id }, isIdempotent: true }, AnyAnswer);
}

const BY_AUTHOR = ["deleted", "author"];

/** `rejected`: moderators or their bots took it away. */
export async function insights(post: RedditPost, io: PlatformIo): Promise<PostInsights> {
  const id = idOf(post);
  const { data } = await ask(io, { path: "/api/info", query: { id } }, listOf(Entry));
  const entry = data.children.map((child) => child.data).find(({ name }) => name === id);
  const removedBy = entry?.removed_by_category ?? null;
  if (entry === undefined || (removedBy !== null && BY_AUTHOR.includes(removedBy)))
    return { state: "removed", visibility: null, metrics: {} };
  const { score, num_comments: comments = null, view_count: views = null } = entry;
  const metrics = { likes: Math.max(score ?? 0, 0), comments, views };
  return { state: removedBy === null ? "live" : "rejected", visibility: removedBy ?? "public", metrics };
}

export async function inspect(io: PlatformIo): Promise<Inspection> {
  const me = await ask(io, { path: ME }, Me);
  return {
    name: me.name,
    handle: me.name,
    avatarUrl: me.icon_img ?? null,
    problem: me.is_suspended ? SUSPENDED : null,
  };
}

/** As they are now; Reddit tells nothing of days before. */
export async function analytics(_range: object, io: PlatformIo): Promise<PlatformAnalytics> {
  const { total_karma: karma, subreddit } = await ask(io, { path: ME }, Me);
  const told = Object.entries({ followers: subreddit?.subscribers, karma });
  const totals = told.flatMap(([name, value]): [string, number][] =>
    value === undefined ? [] : [[name, value]],
  );
  const unavailable = told.flatMap(([metric, value]) =>
    value === undefined ? [{ metric, reason: "Reddit did not give this number." }] : [],
  );
  return { totals: Object.fromEntries(totals), days: [], unavailable };
}

import * as z from "zod";
import type { EditResult, Inspection, PostInsights } from "../../ports/platform.ts";
import type { Json, PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { Article, call, callOrGone, User } from "./api.ts";
import type { DevtoPost } from "./metadata.ts";
import { publicAddress, change, toFields, pathOf } from "./publish.ts";
import { idReader } from "../shared/live.ts";
import { findFirst, pages } from "../shared/pages.ts";

const idOf = idReader("is not the number of an article, so it cannot be found on DEV.", /^\d+$/);

/** Forem's names of what may be changed; null takes away what is not said any more. */
const EDITABLE: Readonly<Record<string, string>> = {
  caption: "body_markdown",
  altText: "body_markdown",
  format: "body_markdown",
  title: "title",
  description: "description",
  tags: "tags",
  series: "series",
  canonicalUrl: "canonical_url",
};

export const EDITABLE_FIELDS = Object.keys(EDITABLE);

export async function edit(post: DevtoPost, changed: readonly string[], io: PublishIo): Promise<EditResult> {
  const all = await toFields(post, io);
  const fields = Object.entries(EDITABLE)
    .filter(([name]) => changed.includes(name))
    .map(([, theirs]): [string, Json] => [theirs, all[theirs] ?? (theirs === "description" ? "" : null)]);
  const { url } = await change(io, idOf(post), Object.fromEntries(fields));
  return url === null ? {} : { platformUrl: url };
}

export async function setThumbnail(post: DevtoPost, thumbnailUrl: string, io: PublishIo): Promise<void> {
  await change(io, idOf(post), { main_image: await publicAddress(thumbnailUrl, "thumbnailUrl", io) });
}

/** DEV deletes no articles through its API: it becomes a draft, which only its author sees. */
export async function remove(post: DevtoPost, io: PlatformIo): Promise<{ readonly left: string } | void> {
  const json = { article: { published: false } };
  const call = { method: "PUT", path: pathOf(idOf(post)), json, isIdempotent: true } as const;
  if ((await callOrGone(io, call, Article)) === null) return;
  return {
    left: "DEV lets no app delete an article. It stays there as a draft, which only its author sees.",
  };
}

export async function insights(post: DevtoPost, io: PlatformIo): Promise<PostInsights> {
  const article = await callOrGone(io, { path: pathOf(idOf(post)) }, Article);
  if (article === null) return { state: "removed", visibility: null, metrics: {} };
  const { public_reactions_count: likes = null, comments_count: comments = null } = article;
  const metrics = { likes, comments, views: await readViews(article, io) };
  return { state: "live", visibility: "public", metrics };
}

const MAX_PAGES = 20;

/** Told only in the list of one's own articles, the newest first. */
async function readViews({ id, published_at: at }: Article, io: PlatformIo): Promise<number | null> {
  const listed = pages(MAX_PAGES, async (page: number = 1) => {
    const query = { page, per_page: 10 };
    const items = await call(io, { path: "/articles/me/published", query }, z.array(Article));
    const isOver = items.length < 10 || Date.parse(items.at(-1)?.published_at ?? "") < Date.parse(at ?? "");
    return { items, next: isOver ? null : page + 1 };
  });
  return (await findFirst(listed, (one) => one.id === id))?.page_views_count ?? null;
}

export async function inspect(io: PlatformIo): Promise<Inspection> {
  const user = await call(io, { path: "/users/me" }, User);
  return {
    name: user.name || user.username,
    handle: user.username,
    avatarUrl: user.profile_image ?? null,
    problem: null,
  };
}

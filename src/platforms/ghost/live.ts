import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type {
  Choice,
  EditResult,
  Inspection,
  PlatformAnalytics,
  PostInsights,
} from "../../ports/platform.ts";
import type { Json, JsonObject, PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { call, callOrGone, type Post, Posts, Site } from "./api.ts";
import { type GhostPost, lexicalOf } from "./metadata.ts";
import { change, fieldsOf, findPost, pathOf, upload, uploadedMedia } from "./publish.ts";
import { idReader } from "../shared/live.ts";

const idOf = idReader("the post's id on its site is not known.");

/** Ghost's names of what may be changed on a live post. */
const EDITABLE = {
  title: "title",
  description: "custom_excerpt",
  tags: "tags",
  audience: "visibility",
  featured: "featured",
  authors: "authors",
  canonicalUrl: "canonical_url",
} as const;

const WRITTEN = ["caption", "altText", "format"] as const;

export const EDITABLE_FIELDS = [...WRITTEN, "slug", ...Object.keys(EDITABLE)];

/** What is not named stays as it is on the site. */
export async function edit(post: GhostPost, changed: readonly string[], io: PublishIo): Promise<EditResult> {
  const all = fieldsOf(post);
  const named = Object.entries(EDITABLE).flatMap(([name, theirs]): [string, Json][] => {
    const value = all[theirs];
    return changed.includes(name) && value !== undefined ? [[theirs, value]] : [];
  });
  const { slug } = post.metadata;
  const fields: JsonObject = {
    ...Object.fromEntries(named),
    ...(changed.includes("slug") && slug !== undefined ? { slug } : {}),
    ...(WRITTEN.some((name) => changed.includes(name))
      ? { lexical: lexicalOf(post, uploadedMedia(post, io)) }
      : {}),
  };
  const { url } = await change(io, await requireLive(post, io), fields);
  return url === null ? {} : { platformUrl: url };
}

export async function setThumbnail(post: GhostPost, thumbnailUrl: string, io: PublishIo): Promise<void> {
  const found = await requireLive(post, io);
  const { url } = await upload(await io.media.item(thumbnailUrl), io);
  await change(io, found, { feature_image: url });
}

async function requireLive(post: GhostPost, io: PlatformIo): Promise<Post> {
  const found = await findPost(idOf(post), io);
  if (found !== null) return found;
  throw new AppError("conflict", "The post is no longer on its site, so it cannot be changed.");
}

/** What is gone already is no error. */
export async function remove(post: GhostPost, io: PlatformIo): Promise<void> {
  await callOrGone(io, { method: "DELETE", path: pathOf(idOf(post)), isIdempotent: true }, z.null());
}

/** How often links of its newsletter were followed: Ghost tells no numbers of readers. */
export async function insights(post: GhostPost, io: PlatformIo): Promise<PostInsights> {
  const path = pathOf(idOf(post));
  const query = { include: "count.clicks", fields: "id,status,slug,updated_at,url,visibility" };
  const found = await callOrGone(io, { path, query }, Posts);
  if (found === null) return { state: "removed", visibility: null, metrics: {} };
  const state = found.status === "published" ? "live" : "private";
  return { state, visibility: found.visibility ?? null, metrics: { clicks: found.count?.clicks ?? null } };
}

const Members = z.looseObject({
  meta: z.looseObject({ pagination: z.looseObject({ total: z.int().min(0) }) }),
});

/** The site's members as they are now. */
export async function analytics(_range: object, io: PlatformIo): Promise<PlatformAnalytics> {
  const { meta } = await call(io, { path: "/members/", query: { limit: 1, fields: "id" } }, Members);
  const unavailable = [{ metric: "views", reason: "Ghost does not tell integrations this number." }];
  return { totals: { followers: meta.pagination.total }, days: [], unavailable };
}

/** The site as it is now; the key is good when its posts can be listed. */
export async function inspect(io: PlatformIo): Promise<Inspection> {
  await call(io, { path: "/posts/", query: ONE }, z.looseObject({}));
  const { site } = await call(io, { path: "/site/" }, Site);
  return {
    name: site.title,
    avatarUrl: site.icon ?? site.logo ?? null,
    limits: { version: site.version },
    problem: null,
  };
}

export const ONE = { limit: 1, fields: "id" } as const;

const Newsletters = z.looseObject({
  newsletters: z.array(z.looseObject({ slug: z.string(), name: z.string(), status: z.string().optional() })),
});
const Users = z.looseObject({ users: z.array(z.looseObject({ email: z.string(), name: z.string() })) });

export async function newsletters(search: string, io: PlatformIo): Promise<readonly Choice[]> {
  const query = { limit: 100, filter: "status:active" };
  const { newsletters: all } = await call(io, { path: "/newsletters/", query }, Newsletters);
  const choices = all.map(({ slug, name }) => ({ value: slug, label: name }));
  return fitting(search, choices);
}

export async function authors(search: string, io: PlatformIo): Promise<readonly Choice[]> {
  const { users } = await call(io, { path: "/users/", query: { limit: 100 } }, Users);
  const choices = users.map(({ email, name }) => ({ value: email, label: name }));
  return fitting(search, choices);
}

function fitting(search: string, all: readonly Choice[]): Choice[] {
  const wanted = search.toLowerCase();
  return all.filter(({ value, label }) => `${value} ${label}`.toLowerCase().includes(wanted));
}

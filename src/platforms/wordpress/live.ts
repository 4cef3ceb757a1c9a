import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { PlatformFault, type JsonObject, type PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { itemsOf } from "../shared/media.ts";
import { askOrGone, count, findPost, pathOf, update } from "./api.ts";
import { contentOf, escapeLine, LibraryFile, fileUnder, keyOf, type WordpressPost } from "./metadata.ts";
import { stepOf, upload } from "./publish.ts";
import type { EditResult, PostInsights } from "../../ports/platform.ts";
import { idReader } from "../shared/live.ts";

const TEXT = ["caption", "altText", "html", "format"];

export const EDITABLE = [...TEXT, "title", "excerpt", "comments", "categories", "tags"];

const idOf = idReader("the post's number on its site is not known.");

/** Sends what differs; what else was changed on the site meanwhile stays. */
export async function edit(
  post: WordpressPost,
  changed: readonly string[],
  io: PublishIo,
): Promise<EditResult> {
  const id = idOf(post);
  const current = await findPost(io, id);
  if (current === null || current.status === "trash")
    throw new AppError("conflict", "The post is no longer on the site, so it cannot be changed.");
  const { title, excerpt = "", comments = true, categories = [], tags = [], ...rest } = post.metadata;
  const all: Readonly<Record<string, JsonObject>> = {
    title: { title: escapeLine(title) },
    excerpt: { excerpt: escapeLine(excerpt) },
    comments: { comment_status: comments ? "open" : "closed" },
  };
  const words = changed.map((field) => all[field] ?? {});
  const isText = TEXT.some((field) => changed.includes(field));
  // What is not given any more is taken off; without a category, WordPress takes the site's own.
  const metadata = {
    ...rest,
    title,
    ...(changed.includes("categories") ? { categories } : {}),
    ...(changed.includes("tags") ? { tags } : {}),
  };
  const json: JsonObject = {
    ...Object.assign({}, ...words),
    ...(isText ? { content: contentOf(post, filesOf(post, io)) } : {}),
    ...(await fileUnder({ ...post, metadata }, io)),
  };
  return { platformUrl: (await update(io, id, json)).link };
}

/** Where its media are. They are named in its text, which is replaced as a whole. */
function filesOf(post: WordpressPost, io: PlatformIo): LibraryFile[] {
  return itemsOf(post).map((_item, at) => {
    const filed = LibraryFile.safeParse(io.resultOf(stepOf(at)));
    if (filed.success) return filed.data;
    throw new AppError(
      "conflict",
      "Posthorn does not know where the post's media are on the site, so it cannot replace the text around them. Change it there.",
    );
  });
}

export async function setThumbnail(post: WordpressPost, thumbnailUrl: string, io: PublishIo): Promise<void> {
  const id = idOf(post);
  const file = await upload(await io.media.item(thumbnailUrl), { slug: `${keyOf(post)}-0`, parent: id }, io);
  await update(io, id, { featured_media: file.id });
}

export async function insights(post: WordpressPost, io: PlatformIo): Promise<PostInsights> {
  const id = idOf(post);
  const found = await findPost(io, id);
  if (found === null || found.status === "trash") return { state: "removed", visibility: null, metrics: {} };
  const state = found.status === "publish" ? "live" : "private";
  const comments = state === "live" ? await count(io, "/wp/v2/comments", { post: id }) : null;
  return { state, visibility: found.status, metrics: { comments } };
}

const Removed = z.looseObject({});

/** Into the site's trash, its media with it; for good where it has none. What is gone already is no error. */
export async function remove(post: WordpressPost, io: PlatformIo): Promise<void> {
  const call = { method: "DELETE", path: pathOf(idOf(post)), isIdempotent: true } as const;
  try {
    await askOrGone(io, { ...call, query: { _fields: "id" } }, Removed);
  } catch (error) {
    // The site's trash is switched off.
    if (!(error instanceof PlatformFault) || error.httpStatus !== 501) throw error;
    await askOrGone(io, { ...call, query: { _fields: "id", force: true } }, Removed);
  }
}

import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { Choice, PostInsights } from "../../ports/platform.ts";
import type { JsonObject, PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { idReader } from "../shared/live.ts";
import { itemsOf } from "../shared/media.ts";
import { Community, namesOf, own, ownOrGone, pageOf, Posted, type PostView, versionOf } from "./api.ts";
import type { LemmyPost } from "./metadata.ts";
import { contentOf, sendPicture, uploadStep } from "./publish.ts";

const readId = idReader("the post's id on its server is not known.", /^[1-9]\d{0,14}$/);

function idOf(post: LemmyPost): number {
  return Number(readId(post));
}

/** Null where it is gone, by its author or by others. */
async function readPost(post: LemmyPost, io: PlatformIo): Promise<PostView | null> {
  const call = { path: "post", query: { id: idOf(post) } };
  const view = (await ownOrGone(io, call, Posted))?.post_view ?? null;
  return view === null || view.post.deleted || view.post.removed ? null : view;
}

export async function insights(post: LemmyPost, io: PlatformIo): Promise<PostInsights> {
  const view = await readPost(post, io);
  if (view === null) return { state: "removed", visibility: null, metrics: {} };
  const { upvotes: likes = null, comments = null } = view.counts ?? view.post;
  return { state: "live", visibility: "public", metrics: { likes, comments } };
}

const Url = z.object({ url: z.string() });

/** What is not named stays as it was. The community cannot be changed. */
export async function edit(post: LemmyPost, changed: readonly string[], io: PublishIo): Promise<object> {
  await requirePost(post, io);
  const pictures = itemsOf(post).map((_item, at) => Url.safeParse(io.resultOf(uploadStep(at))).data?.url);
  const known = pictures.filter((url) => url !== undefined);
  // The pictures below the text are a part of it.
  if (known.length < pictures.length && (pictures.length > 1 || !changed.includes("caption")))
    throw new AppError(
      "conflict",
      "The post's pictures are not known any more, so Posthorn cannot change it.",
    );
  const { url, ...content } = contentOf(post, known);
  const empty = { body: "", alt_text: "", nsfw: false };
  // An empty address takes the link away; that of a picture is as it was.
  const address = changed.includes("link") ? { url: url ?? "" } : {};
  await change(io, { post_id: idOf(post), ...empty, ...content, ...address });
  return {};
}

export async function setThumbnail(post: LemmyPost, thumbnailUrl: string, io: PublishIo): Promise<void> {
  await requirePost(post, io);
  const { url } = await sendPicture({ url: thumbnailUrl, altText: null }, io);
  await change(io, { post_id: idOf(post), custom_thumbnail: url });
}

async function requirePost(post: LemmyPost, io: PlatformIo): Promise<void> {
  if ((await readPost(post, io)) === null)
    throw new AppError("conflict", "The post is no longer on its server, so it cannot be changed.");
}

/** The same edit twice is one. */
async function change(io: PlatformIo, json: JsonObject): Promise<void> {
  await own(io, { method: "PUT", path: "post", json, isIdempotent: true }, Posted);
}

/** What is gone already is no error. */
export async function remove(post: LemmyPost, io: PlatformIo): Promise<void> {
  // Deleting what is deleted is refused.
  if ((await readPost(post, io)) === null) return;
  const json = { post_id: idOf(post), deleted: true };
  const call =
    versionOf(io) === "v3"
      ? ({ method: "POST", path: "post/delete" } as const)
      : ({ method: "DELETE", path: "post" } as const);
  await ownOrGone(io, { ...call, json, isIdempotent: true }, Posted);
}

const CommunityView = z.looseObject({ community: Community });

/** Those that the account has joined; of a search, all that the server knows. */
export async function communities(search: string, io: PlatformIo): Promise<readonly Choice[]> {
  const version = versionOf(io);
  const { all, subscribed } = namesOf(version);
  const term = search.trim();
  const listed = { path: "community/list", query: { type_: subscribed, limit: 50 } };
  const found =
    version === "v3"
      ? { path: "search", query: { q: term, type_: "Communities", listing_type: all, limit: 50 } }
      : { path: "community/list", query: { search_term: term, type_: all, limit: 50 } };
  const { items } = await own(io, term === "" ? listed : found, pageOf(CommunityView, "communities"));
  return items.map(({ community }) => {
    const { name, title, ap_id: apId, actor_id: actorId } = community;
    const address = apId ?? actorId;
    const value = address === undefined ? name : `${name}@${new URL(address).host}`;
    return { value, label: title ? `${title} (${value})` : value };
  });
}

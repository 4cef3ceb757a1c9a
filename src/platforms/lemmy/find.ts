import * as z from "zod";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { naming } from "../shared/naming.ts";
import { idOnServer } from "../shared/servers.ts";
import {
  asGuest,
  Community,
  namesOf,
  own,
  pageOf,
  PostView,
  versionOf,
  type Call,
  type Page,
} from "./api.ts";
import { communityOf, type LemmyPost } from "./metadata.ts";

const PAGE = 50;
const MAX_PAGES = 10;

/** `isOpen`: whoever is not signed in sees all that stands in it, from the first moment on. */
export type Place = { readonly id: number; readonly isOpen: boolean };

/** A post as the ledger keeps it. */
export type Sent = { readonly id: number };

const Found = z.looseObject({ community_view: z.looseObject({ community: Community }) });

/** Whatever is wrong: it is about the community's name. */
export async function findCommunity(post: LemmyPost, io: PlatformIo): Promise<Place> {
  const call: Call = { method: "GET", path: "community", query: { name: communityOf(post) } };
  const found = await naming("metadata.community", () => own(io, call, Found));
  const { id, visibility = "Public", hidden, local } = found.community_view.community;
  const isShown = ["public", "unlisted", "local_only_public"].includes(visibility.toLowerCase()) && !hidden;
  // The fourth version holds back what stands in another server's community until that one has taken it.
  const isAtOnce = local || versionOf(io) === "v3";
  return { id, isOpen: isShown && isAtOnce && io.account.limits["isPrivate"] === false };
}

interface Wanted {
  readonly community: Place;
  readonly title: string;
}

/**
 * The post of this title among the newest of its community; null where there is none of the account's. What the
 * account itself is shown goes by its settings, which may hide its own posts from it (languages, bots, words): a
 * guest sees them all where the community is open.
 */
export async function findPost(
  { community, title }: Wanted,
  since: number,
  io: PlatformIo,
): Promise<Sent | null> {
  const isOwn = ({ post }: PostView): boolean =>
    String(post.creator_id) === idOnServer(io) && post.name === title && timeOf(post) >= since;
  const asked = community.isOpen ? [asGuest] : [own, asGuest];
  for (const ask of asked) {
    for await (const view of listPosts(io, { community, since, ask }))
      if (isOwn(view)) return { id: view.post.id };
  }
  return null;
}

interface Listing {
  readonly community: Place;
  readonly since: number;
  readonly ask: typeof own;
}

async function* listPosts(io: PlatformIo, { community, since, ask }: Listing): AsyncGenerator<PostView> {
  const version = versionOf(io);
  const names = namesOf(version);
  const query = {
    community_id: community.id,
    type_: names.all,
    sort: names.new,
    limit: PAGE,
    show_nsfw: true,
    show_read: true,
    show_hidden: true,
    ...(version === "v3" ? {} : { hide_posts_with_media: false, mark_as_read: false, time_range_seconds: 0 }),
  };
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const call: Call = { method: "GET", path: "post/list", query: { ...query, page_cursor: cursor } };
    const { items, next }: Page<PostView> = await ask(io, call, pageOf(PostView, "posts")).catch(
      (error: unknown) => {
        // A private server shows a guest nothing.
        if (community.isOpen || !(error instanceof PlatformFault) || error.kind !== "rejected") throw error;
        return { items: [], next: null };
      },
    );
    yield* items;
    // What is pinned stands before the newest, however old it is.
    const isOver = items.some(({ post }) => !post.featured_community && timeOf(post) < since);
    if (next === null || items.length === 0 || isOver) return;
    cursor = next;
  }
}

function timeOf({ published, published_at: at }: PostView["post"]): number {
  return Date.parse(at ?? published ?? "");
}

import type { OutboundResponse } from "../../../src/ports/outbound.ts";
import { failure } from "./failure.ts";
import { answerOf, type Described } from "../../support/described.ts";

export interface FakePost {
  readonly id: number;
  readonly creatorId: number;
  readonly communityId: number;
  readonly publishedAt: number;
  readonly isPinned: boolean;
  name: string;
  url: string | null;
  body: string | null;
  altText: string | null;
  nsfw: boolean;
  thumbnail: string | null;
  deleted: boolean;
}

const COMMUNITIES = [
  { id: 3, name: "news", title: "News", host: "lemmy.example", isClosed: false },
  { id: 4, name: "horns", title: "", host: "other.example", isClosed: false },
  { id: 5, name: "staff", title: "Staff", host: "lemmy.example", isClosed: true },
];

interface Options {
  readonly now: () => number;
  readonly version: "v3" | "v4";
  readonly server: string;
  readonly personId: number;
  /** The account's settings hide its own posts from it. */
  readonly hidesOwn: boolean;
}

/** Communities and what stands in them. */
export function createPosts({ now, version, server, personId, hidesOwn }: Options) {
  const posts = new Map<number, FakePost>();
  const isOld = version === "v3";
  const notFound = (what: string): OutboundResponse =>
    isOld ? failure(400, `couldnt_find_${what}`) : failure(404, "not_found");

  const visibilityOf = (isClosed: boolean): string => {
    if (isOld) return isClosed ? "LocalOnly" : "Public";
    return isClosed ? "local_only_private" : "public";
  };
  const showCommunity = ({ host, isClosed, ...one }: (typeof COMMUNITIES)[number]): object => ({
    community: {
      ...one,
      [isOld ? "actor_id" : "ap_id"]: `https://${host}/c/${one.name}`,
      visibility: visibilityOf(isClosed),
      local: host === "lemmy.example",
      ...(isOld ? { hidden: false } : {}),
    },
  });
  const show = (post: FakePost): object => {
    const counts = { score: 3, upvotes: 4, downvotes: 1, comments: 2 };
    const published = new Date(post.publishedAt).toISOString();
    return {
      post: {
        id: post.id,
        name: post.name,
        url: post.url ?? undefined,
        body: post.body ?? undefined,
        creator_id: post.creatorId,
        community_id: post.communityId,
        nsfw: post.nsfw,
        deleted: post.deleted,
        removed: false,
        featured_community: post.isPinned,
        ap_id: `${server}/post/${post.id}`,
        ...(isOld ? { published } : { published_at: published, ...counts }),
      },
      ...(isOld ? { counts } : {}),
    };
  };

  /** In the order of Lemmy's checks; null where all is well. */
  const refusalOf = (fields: Record<string, unknown>): string | null => {
    const { name, body = "", url = "", alt_text: alt = "" } = fields as Record<string, string>;
    if (
      name !== undefined &&
      (name.trim().length < 3 || [...name.trim()].length > 200 || name.includes("\n"))
    )
      return "invalid_post_title";
    if (url !== "" && !/^https?:/.test(url)) return "invalid_url_scheme";
    if ([...alt].length > 1_500) return "alt_text_length_overflow";
    return [...body].length > 50_000 ? "invalid_body_field" : null;
  };

  const create = ({ given: fields }: Described): OutboundResponse => {
    const refused = refusalOf(fields);
    if (refused !== null) return failure(400, refused);
    const community = COMMUNITIES.find(({ id }) => id === fields["community_id"]);
    if (community === undefined) return notFound("community");
    const id = 100 + posts.size;
    const post: FakePost = {
      id,
      creatorId: personId,
      communityId: community.id,
      publishedAt: now(),
      isPinned: false,
      name: String(fields["name"]).trim(),
      url: (fields["url"] as string | undefined) ?? null,
      body: (fields["body"] as string | undefined) ?? null,
      altText: (fields["alt_text"] as string | undefined) ?? null,
      nsfw: fields["nsfw"] === true,
      thumbnail: (fields["custom_thumbnail"] as string | undefined) ?? null,
      deleted: false,
    };
    posts.set(id, post);
    return answerOf(200, { post_view: show(post) });
  };

  /** What is named is changed; an empty text takes it away. */
  const change = (post: FakePost, { given: fields }: Described): OutboundResponse => {
    const refused = refusalOf(fields);
    if (refused !== null) return failure(400, refused);
    const named = (field: string, before: string | null): string | null =>
      typeof fields[field] === "string" ? (fields[field] === "" ? null : fields[field]) : before;
    Object.assign(post, {
      name: named("name", post.name),
      url: named("url", post.url),
      body: named("body", post.body),
      altText: named("alt_text", post.altText),
      thumbnail: named("custom_thumbnail", post.thumbnail),
      nsfw: typeof fields["nsfw"] === "boolean" ? fields["nsfw"] : post.nsfw,
    });
    return answerOf(200, { post_view: show(post) });
  };

  const remove = (post: FakePost): OutboundResponse => {
    if (post.deleted) return failure(400, isOld ? "couldnt_update_post" : "couldnt_update");
    post.deleted = true;
    return answerOf(200, { post_view: show(post) });
  };

  const list = ({ query }: Described, isMine: boolean): OutboundResponse => {
    const community = COMMUNITIES.find(({ id }) => id === Number(query.get("community_id")));
    if (community?.isClosed === true && !isMine) return answerOf(200, { [isOld ? "posts" : "items"]: [] });
    const limit = Math.min(Number(query.get("limit") ?? 10), 50);
    const from = Number(query.get("page_cursor") ?? 0);
    const all = [...posts.values()]
      .filter(({ communityId }) => communityId === Number(query.get("community_id")))
      // Of languages that the account has not chosen, say.
      .filter(({ creatorId }) => !isMine || !hidesOwn || creatorId !== personId)
      .filter(({ nsfw }) => !nsfw || query.get("show_nsfw") === "true")
      .toSorted(
        (a, b) => Number(b.isPinned) - Number(a.isPinned) || b.publishedAt - a.publishedAt || b.id - a.id,
      );
    const items = all.slice(from, from + limit).map(show);
    const next = from + limit < all.length ? { next_page: String(from + limit) } : {};
    return answerOf(200, { [isOld ? "posts" : "items"]: items, ...next });
  };

  const findCommunities = (term: string): OutboundResponse => {
    const found = COMMUNITIES.filter(({ name }) => name.includes(term));
    return answerOf(200, { [isOld ? "communities" : "items"]: found.map(showCommunity) });
  };

  const serve = (request: Described, isMine: boolean): OutboundResponse => {
    const { name: asked, query, given } = request;
    const path = asked.replace(/\/api\/v[34]/, "");
    switch (path) {
      case "GET /community": {
        const [name, host = "lemmy.example"] = (query.get("name") ?? "").split("@");
        const found = COMMUNITIES.find((one) => one.name === name && one.host === host);
        return found === undefined
          ? notFound("community")
          : answerOf(200, { community_view: showCommunity(found) });
      }
      case "GET /community/list":
        return query.get("type_")?.toLowerCase() === "subscribed"
          ? answerOf(200, { [isOld ? "communities" : "items"]: COMMUNITIES.slice(1, 2).map(showCommunity) })
          : findCommunities(query.get("search_term") ?? "");
      case "GET /search":
        return findCommunities(query.get("q") ?? "");
      case "POST /post":
        return create(request);
      case "GET /post/list":
        return list(request, isMine);
    }
    const post = posts.get(Number(query.get("id") ?? given["post_id"]));
    if (post === undefined) return notFound("post");
    if (path === "GET /post") return answerOf(200, { post_view: show(post) });
    return path === "PUT /post" ? change(post, request) : remove(post);
  };

  return { serve, posts, shown: () => [...posts.values()].filter(({ deleted }) => !deleted) };
}

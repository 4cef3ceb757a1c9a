import { randomBytes } from "node:crypto";
import type { OutboundResponse } from "../../../src/ports/outbound.ts";
import { refusal, type GhostRequest } from "./requests.ts";
import { answerOf } from "../../support/described.ts";

export interface FakePost {
  readonly id: string;
  title: string;
  slug: string;
  status: "draft" | "scheduled" | "published";
  published_at: string | null;
  updated_at: string;
  visibility: string;
  lexical: string;
  newsletter: string | null;
  [field: string]: unknown;
}

interface Site {
  readonly now: () => number;
  readonly url: string;
  /** Ghost 6 lets posts be scheduled for at once, Ghost 5 not nearer than two minutes. */
  readonly soonestMs: number;
}

/** The posts of a site, which publishes those that are scheduled at their time. */
export function createPosts({ now, url, soonestMs }: Site) {
  const posts = new Map<string, FakePost>();
  const mails: { readonly newsletter: string; readonly id: string }[] = [];
  const state = {
    /** The schedule of a site that cannot reach itself does not run. */
    isScheduleBroken: false,
    newsletters: [
      { slug: "weekly", name: "Weekly", status: "active" },
      { slug: "daily", name: "Daily", status: "active" },
    ],
  };

  const publish = (post: FakePost): void => {
    post.status = "published";
    if (post.newsletter !== null) mails.push({ newsletter: post.newsletter, id: post.id });
  };
  const runSchedule = (): void => {
    for (const post of posts.values())
      if (
        post.status === "scheduled" &&
        !state.isScheduleBroken &&
        now() >= Date.parse(post.published_at ?? "")
      )
        publish(post);
  };
  const uniqueSlug = (text: string): string => {
    const slug = text
      .normalize("NFKD")
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "");
    const base = slug === "" ? "untitled" : slug.slice(0, 185);
    const taken = new Set([...posts.values()].map((post) => post.slug));
    for (let at = 1; ; at += 1) {
      const wanted = at === 1 ? base : `${base}-${at}`;
      if (!taken.has(wanted)) return wanted;
    }
  };
  const show = (post: FakePost): object => ({
    ...post,
    lexical: undefined,
    url: post.status === "published" ? `${url}/${post.slug}/` : `${url}/p/uuid-of-${post.id}/`,
    count: { clicks: post.newsletter === null ? 0 : 4 },
  });
  const invalid = (property: string, context: string): OutboundResponse =>
    refusal(422, "ValidationError", "Validation error, cannot save post.", { property, context });

  const save = (post: FakePost, { post: sent, query }: GhostRequest, isNew: boolean): OutboundResponse => {
    const { tags, authors, slug, status = post.status, ...fields } = sent;
    if ((sent.title ?? post.title).length > 255)
      return invalid("title", "Title cannot be longer than 255 characters.");
    if (status === "scheduled" && post.status === "published")
      return invalid("status", "Post is already published.");
    const at = Date.parse(sent.published_at ?? "");
    if (status === "scheduled" && post.published_at !== sent.published_at && at < now() + soonestMs)
      return invalid("published_at", "Date must be at least 2 minutes in the future.");
    const isPublishing = status !== "draft" && status !== post.status;
    const newsletter = query.get("newsletter");
    if (isPublishing && newsletter !== null && post.newsletter === null) {
      if (!state.newsletters.some((one) => one.slug === newsletter))
        return refusal(
          400,
          "BadRequestError",
          "The newsletter parameter doesn't match any active newsletter.",
        );
      post.newsletter = newsletter;
    }
    Object.assign(post, fields, { updated_at: new Date(now()).toISOString() });
    if (tags !== undefined) post["tags"] = tags;
    if (authors !== undefined) post["authors"] = authors;
    // Its own slug is taken too.
    if (slug !== undefined && slug !== post.slug) post.slug = uniqueSlug(slug);
    if (status === "published" && post.status !== "published") publish(post);
    else post.status = status;
    if (post.status === "published" && post.published_at === null) post.published_at = post.updated_at;
    posts.set(post.id, post);
    return answerOf(isNew ? 201 : 200, { posts: [show(post)] });
  };

  const serve = (request: GhostRequest): OutboundResponse => {
    runSchedule();
    const missing = refusal(404, "NotFoundError", "Resource not found error, cannot read post.");
    const found = posts.get(request.id);
    switch (request.name) {
      case "GET /posts/":
        return answerOf(200, { posts: [...posts.values()].slice(0, 1).map(show), meta: {} });
      case "GET /posts/slug/{slug}/": {
        const one = [...posts.values()].find(({ slug }) => slug === request.id);
        return one === undefined ? missing : answerOf(200, { posts: [show(one)] });
      }
      case "GET /posts/{id}/":
        return found === undefined ? missing : answerOf(200, { posts: [show(found)] });
      case "POST /posts/": {
        const id = randomBytes(12).toString("hex");
        const post: FakePost = {
          id,
          title: request.post.title,
          slug: "",
          status: "draft",
          published_at: null,
          updated_at: "",
          visibility: "public",
          lexical: "",
          newsletter: null,
        };
        return save(post, request, true);
      }
      case "PUT /posts/{id}/":
        if (found === undefined) return missing;
        if (Date.parse(request.post.updated_at) !== Date.parse(found.updated_at))
          return refusal(409, "UpdateCollisionError", "Saving failed! Someone else is editing this post.", {
            code: "UPDATE_COLLISION",
          });
        return save(found, request, false);
      case "DELETE /posts/{id}/":
        return posts.delete(request.id) ? answerOf(204) : missing;
      default:
        return missing;
    }
  };

  return {
    state,
    mails,
    serve,
    delete: (id: string): boolean => posts.delete(id),
    /** All of them, as they are now. */
    all: (): FakePost[] => {
      runSchedule();
      return [...posts.values()];
    },
    shown: (): FakePost[] => {
      runSchedule();
      return [...posts.values()].filter(({ status }) => status === "published");
    },
  };
}

/** What readers see of an article, without its media. */
export function textOf({ lexical }: FakePost): string {
  const textOfNode = (node: any): string =>
    node.text ??
    node.markdown ??
    node.html ??
    (node.type === "linebreak" ? "\n" : (node.children ?? []).map(textOfNode).join(""));
  return JSON.parse(lexical).root.children.map(textOfNode).join("\n\n");
}

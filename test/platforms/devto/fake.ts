import { answerOf, describedBy } from "../../support/described.ts";
import {
  OutboundFailure,
  type Outbound,
  type OutboundRequest,
  type OutboundResponse,
} from "../../../src/ports/outbound.ts";

export const API = "https://dev.to/api";
export const API_KEY = "kq3vZ8xW2nR5tY7u";

/** Forem's own description of the operations that are called; the file names its source. */
const read = describedBy(new URL("./spec.json", import.meta.url));

export interface FakeArticle {
  readonly id: number;
  readonly created_at: number;
  published: boolean;
  published_at: string | null;
  title: string;
  body_markdown: string;
  main_image: string | null;
  tags: string[];
  [field: string]: unknown;
}

export const refusal = (status: number, error: string): OutboundResponse =>
  answerOf(status, { error, status });

/** DEV behind the outbound client, strict about every request. `wrong`: what its description does not know of one. */
export function createFakeDevto(now: () => number) {
  const articles = new Map<number, FakeArticle>();
  const wrong: string[] = [];
  const calls: string[] = [];
  let nextId = 1_000;

  const show = (one: FakeArticle, isOwn: boolean): object => ({
    ...one,
    url: `https://dev.to/alice/${one.title.toLowerCase().replace(/[^a-z0-9]+/g, "-")}-${one.id}`,
    public_reactions_count: 3,
    comments_count: 1,
    ...(isOwn ? { page_views_count: 55 } : {}),
  });

  const save = (one: FakeArticle, fields: Partial<FakeArticle>, status: number): OutboundResponse => {
    const next = { ...one, ...fields };
    const others = [...articles.values()].filter(({ id }) => id !== one.id);
    if (next.title.length > 128) return refusal(422, "Title is too long (maximum is 128 characters)");
    if (next.tags.some((tag) => !/^[\p{L}\p{N}]{1,30}$/u.test(tag)) || next.tags.length > 4)
      return refusal(422, `Tag "${next.tags[0]}" contains non-alphanumeric or prohibited unicode characters`);
    const isTwin = (other: FakeArticle): boolean =>
      other.title === next.title && other.body_markdown === next.body_markdown;
    if (others.some(isTwin)) return refusal(422, "Body markdown has already been taken");
    if (next.published && next.published_at === null) next.published_at = new Date(now()).toISOString();
    articles.set(one.id, next);
    return answerOf(status, show(next, false));
  };

  const list = (isPublished: boolean, query: URLSearchParams): OutboundResponse => {
    const size = Number(query.get("per_page") ?? 30);
    const from = (Number(query.get("page") ?? 1) - 1) * size;
    const own = [...articles.values()].filter(({ published }) => published === isPublished);
    const sorted = own.toSorted((a, b) => b.created_at - a.created_at || b.id - a.id);
    return answerOf(
      200,
      sorted.slice(from, from + size).map((one) => show(one, true)),
    );
  };

  const serve = (name: string, id: number, { query, fields }: { query: URLSearchParams; fields: any }) => {
    const found = articles.get(id);
    switch (name) {
      case "GET /users/me":
        return answerOf(200, {
          type_of: "user",
          id: 42,
          username: "alice",
          name: "Alice",
          profile_image: "/a.png",
        });
      case "GET /articles/me/published":
        return list(true, query);
      case "GET /articles/me/unpublished":
        return list(false, query);
      case "GET /articles/{id}":
        return found?.published === true ? answerOf(200, show(found, false)) : refusal(404, "not found");
      case "PUT /articles/{id}":
        return found === undefined ? refusal(404, "not found") : save(found, fields, 200);
      default: {
        nextId += 1;
        const empty = {
          published: false,
          published_at: null,
          title: "",
          body_markdown: "",
          main_image: null,
          tags: [],
        };
        return save({ id: nextId, created_at: now(), ...empty }, fields, 201);
      }
    }
  };

  const request = async (one: OutboundRequest): Promise<OutboundResponse> => {
    if (!one.url.startsWith(API)) throw new OutboundFailure(`Nobody is at ${one.url}.`, false);
    const asked = await read(one, API);
    const note = (what: string): OutboundResponse => {
      wrong.push(what);
      return refusal(422, what);
    };
    if (typeof asked === "string") return note(asked);
    const { name, id, query, body } = asked;
    calls.push(name);
    const headers = one.headers ?? {};
    if (headers["accept"] !== "application/vnd.forem.api-v1+json")
      return note(`${name} asks for an older version`);
    if (headers["api-key"] !== API_KEY) return refusal(401, "unauthorized");
    const fields = body?.article;
    if (!/^\d*$/.test(id)) return note(`${name}: ${id} is no id`);
    if (/^\s*---/.test(fields?.body_markdown ?? "")) return note(`${name}: front matter`);
    return serve(name, Number(id), { query, fields });
  };

  const door: Outbound = { request, assertAllowed: (_field, url) => new URL(url) };
  return {
    door,
    wrong,
    calls,
    articles,
    shown: () => [...articles.values()].filter(({ published }) => published),
  };
}

/** What readers see of an article's text. */
export function textOf({ body_markdown: body }: FakeArticle): string {
  return body
    .replace(/^!\[.*\]\(.*\)\n*/gm, "")
    .replace(/\{% raw %\}(.*?)\{% endraw %\}/g, "$1")
    .replace(
      /\\([!-/:-@[-`{-~])|&#(\d+);/g,
      (_found, sign?: string, code?: string) => sign ?? String.fromCharCode(Number(code)),
    );
}

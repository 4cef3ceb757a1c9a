import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { Ajv } from "ajv";
import { z } from "zod";
import {
  OutboundFailure,
  type Outbound,
  type OutboundRequest,
  type OutboundResponse,
} from "../../../src/ports/outbound.ts";

export const API = "https://dev.to/api";
export const API_KEY = "kq3vZ8xW2nR5tY7u";

const Spec = z.object({
  article: z.record(z.string(), z.json()),
  operations: z.record(z.string(), z.object({ hasBody: z.boolean(), query: z.array(z.string()) })),
});

/** Forem's own description of the operations that are called; the file names its source. */
const spec = Spec.parse(JSON.parse(readFileSync(new URL("./spec.json", import.meta.url), "utf8")));

const isBody = new Ajv().compile({
  type: "object",
  additionalProperties: false,
  required: ["article"],
  properties: { article: spec.article },
});

const OPERATIONS = Object.entries(spec.operations).map(([name, one]) => {
  const [method = "", path = ""] = name.split(" ");
  return { ...one, name, method, pattern: new RegExp(`^${path.replace("{id}", "(\\d+)")}$`) };
});

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

export function answer(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): OutboundResponse {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { status, headers, url: "", body: Readable.from([Buffer.from(text)]) };
}

export const refusal = (status: number, error: string): OutboundResponse => answer(status, { error, status });

/** DEV behind the outbound door, strict about every request. `wrong`: what its description does not know of one. */
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
    return answer(status, show(next, false));
  };

  const list = (isPublished: boolean, query: URLSearchParams): OutboundResponse => {
    const size = Number(query.get("per_page") ?? 30);
    const from = (Number(query.get("page") ?? 1) - 1) * size;
    const own = [...articles.values()].filter(({ published }) => published === isPublished);
    const sorted = own.toSorted((a, b) => b.created_at - a.created_at || b.id - a.id);
    return answer(
      200,
      sorted.slice(from, from + size).map((one) => show(one, true)),
    );
  };

  const serve = (name: string, id: number, { query, fields }: { query: URLSearchParams; fields: any }) => {
    const found = articles.get(id);
    switch (name) {
      case "GET /users/me":
        return answer(200, {
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
        return found?.published === true ? answer(200, show(found, false)) : refusal(404, "not found");
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
    const url = new URL(one.url);
    const path = url.pathname.slice(new URL(API).pathname.length);
    const operation = OPERATIONS.find(({ method, pattern }) => method === one.method && pattern.test(path));
    const note = (what: string): OutboundResponse => {
      wrong.push(`${one.method} ${path}: ${what}`);
      return refusal(422, what);
    };
    if (operation === undefined) return note("is not known");
    calls.push(operation.name);
    const headers = one.headers ?? {};
    if (headers["accept"] !== "application/vnd.forem.api-v1+json") return note("asks for an older version");
    if (headers["api-key"] !== API_KEY) return refusal(401, "unauthorized");
    for (const name of url.searchParams.keys()) if (!operation.query.includes(name)) return note(name);
    if (operation.hasBody !== (headers["content-type"] === "application/json"))
      return note("a body, or none");
    const body: any = operation.hasBody ? JSON.parse(String(one.body)) : { article: {} };
    if (operation.hasBody && !isBody(body)) return note(JSON.stringify(isBody.errors));
    if (/^\s*---/.test(body.article.body_markdown ?? "")) return note("front matter");
    const id = Number(operation.pattern.exec(path)?.[1] ?? 0);
    return serve(operation.name, id, { query: url.searchParams, fields: body.article });
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
export type FakeDevto = ReturnType<typeof createFakeDevto>;

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

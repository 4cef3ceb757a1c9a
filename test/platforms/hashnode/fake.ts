import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { buildSchema, graphql, GraphQLError } from "graphql";
import { OutboundFailure, type Outbound, type OutboundResponse } from "../../../src/ports/outbound.ts";
import { answerOf } from "../../support/described.ts";

export const API = "https://gql-beta.hashnode.com";
export const TOKEN = "5f3c2a1b-9e8d-4c7b-a6f5-1e2d3c4b5a69";
export const PUBLICATION = "5f8e1a2b3c4d5e6f70819203";
const BUCKET = "https://bucket.example/";

/** Hashnode's own description: each document is validated by it, and answered as it says. */
const schema = buildSchema(readFileSync(new URL("./schema.graphql", import.meta.url), "utf8"));

export interface FakeArticle {
  readonly id: string;
  readonly publishedAt: string;
  readonly isMailed: boolean;
  [field: string]: any;
}

/** As Hashnode words an error: with HTTP 200. */
export const refusal = (code: string, message = "No"): OutboundResponse =>
  answerOf(200, { data: null, errors: [{ message, extensions: { code } }] });

function fail(code: string, message: string): never {
  throw new GraphQLError(message, { extensions: { code } });
}

/** Hashnode behind the outbound client. `wrong`: what its description does not know of a request. */
export function createFakeHashnode(now: () => number) {
  const drafts = new Map<string, any>();
  const articles = new Map<string, FakeArticle>();
  const pictures = new Set<string>();
  const wrong: string[] = [];
  const calls: string[] = [];
  const state = { isPro: true, publications: 1, role: "OWNER" };
  let next = 1;
  const newId = (): string => (next++).toString(16).padStart(24, "0");

  const requirePro = (): void => {
    if (!state.isPro)
      fail(
        "FORBIDDEN",
        "Publication does not have an active Pro plan. Upgrade in your dashboard to access this via the API.",
      );
  };
  const edges = (nodes: readonly object[]) => ({ edges: nodes.map((node) => ({ node, cursor: "" })) });
  const slugOf = (title: string): string => title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const show = (one: FakeArticle) => ({
    ...one,
    slug: slugOf(one["title"]),
    url: `https://alice.hashnode.dev/${slugOf(one["title"])}`,
    content: { markdown: one["contentMarkdown"], html: "", text: "" },
    views: 55,
    reactionCount: 3,
    responseCount: 1,
  });
  const publicationAt = (at: number) => ({
    id: at === 0 ? PUBLICATION : `${PUBLICATION.slice(0, -1)}${at + 3}`,
    title: at === 0 ? "Horns" : `Horns ${at + 1}`,
    url: "https://alice.hashnode.dev",
    author: { id: state.role === "OWNER" ? "u1" : "u2", username: "bob" },
    members: () => edges([{ id: "m1", role: state.role, user: { id: "u1", username: "alice" } }]),
    followersCount: 42,
    posts: ({ first }: { first: number }) =>
      edges([...articles.values()].toReversed().slice(0, first).map(show)),
    seriesList: () => edges([{ id: "a".repeat(24), name: "Brass", slug: "brass" }]),
  });
  const checkTags = ({ tags }: { tags?: unknown[] | null }): void => {
    if ((tags ?? []).length > 15) fail("BAD_USER_INPUT", "Too many tags");
  };

  const root = {
    me: () => ({
      id: "u1",
      username: "alice",
      name: "Alice",
      publications: () => edges(Array.from({ length: state.publications }, (_none, at) => publicationAt(at))),
    }),
    publication: ({ id }: { id: string }) => {
      requirePro();
      const at = Array.from({ length: state.publications }, (_none, nth) => publicationAt(nth));
      return at.find((one) => one.id === id) ?? null;
    },
    post: ({ id }: { id: string }) => {
      const found = articles.get(id);
      return found === undefined ? fail("NOT_FOUND", "Post not found") : show(found);
    },
    createImageUploadURL: ({ input: { contentType } }: any) => {
      if (!/^image\/(?!svg)/.test(contentType)) fail("BAD_USER_INPUT", "No image");
      const key = `res/hashnode/image/upload/v1/${newId()}`;
      return { presignedPost: { url: BUCKET, fields: { key, "Content-Type": contentType, policy: "p" } } };
    },
    createDraft: ({ input }: any) => {
      requirePro();
      checkTags(input);
      if (input.publicationId !== PUBLICATION) fail("NOT_FOUND", "Publication not found");
      if (input.seriesId === "b".repeat(24)) fail("BAD_USER_INPUT", "Series not found");
      const id = newId();
      drafts.set(id, input);
      return { draft: { id, title: input.title } };
    },
    publishDraft: ({ input: { draftId } }: any) => {
      requirePro();
      const draft = drafts.get(draftId) ?? fail("NOT_FOUND", "Draft not found");
      drafts.delete(draftId);
      const article = {
        ...draft,
        id: newId(),
        coverImage: draft.coverImageOptions?.coverImageURL ?? null,
        isMailed: draft.settings?.activateNewsletter ?? false,
        publishedAt: new Date(now()).toISOString(),
      };
      articles.set(article.id, article);
      return { post: show(article) };
    },
    updatePost: ({ input }: any) => {
      requirePro();
      checkTags(input);
      const found = articles.get(input.id) ?? fail("NOT_FOUND", "Post not found");
      articles.set(input.id, { ...found, ...input });
      return { post: show(articles.get(input.id) as FakeArticle) };
    },
  };

  const upload = async (bytes: Buffer | string, type: string): Promise<OutboundResponse> => {
    const form = await new Response(bytes, { headers: { "content-type": type } }).formData();
    const names = [...form.keys()];
    if (names.join() !== "key,Content-Type,policy,file") wrong.push(`A form with ${names.join()}.`);
    pictures.add(`https://cdn.hashnode.com/${form.get("key")}`);
    return answerOf(204);
  };

  const door: Outbound = {
    assertAllowed: (_field, url) => new URL(url),
    request: async ({ url, method, headers = {}, body }) => {
      const bytes = body instanceof Readable ? await buffer(body) : (body ?? "");
      if (url === BUCKET) return upload(Buffer.from(bytes), headers["content-type"] ?? "");
      if (url !== `${API}/`) throw new OutboundFailure(`Nobody is at ${url}.`, false);
      if (method !== "POST" || headers["content-type"] !== "application/json") wrong.push(`${method} ${url}`);
      if (bytes.length > 100_000) return answerOf(413, "request entity too large");
      const { query: source, variables: variableValues } = JSON.parse(bytes.toString());
      calls.push(/it: (\w+)/.exec(source)?.[1] ?? source);
      if (headers["authorization"] !== `Bearer ${TOKEN}`) return refusal("UNAUTHENTICATED", "Invalid token");
      const result = await graphql({ schema, source, rootValue: root, variableValues });
      const unknown = (result.errors ?? []).filter(({ extensions }) => extensions["code"] === undefined);
      wrong.push(...unknown.map(({ message }) => message));
      return answerOf(200, result);
    },
  };
  return { door, state, wrong, calls, drafts, articles, pictures, shown: () => [...articles.values()] };
}

/** What readers see of an article's text. */
export function textOf({ contentMarkdown }: FakeArticle): string {
  return (contentMarkdown as string)
    .replace(/^!\[.*\]\(.*\)\n*/gm, "")
    .replace(/ {2}\n/g, "\n")
    .replace(/\\([!-/:-@[-`{-~])/g, "$1");
}

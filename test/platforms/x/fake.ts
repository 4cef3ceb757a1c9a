import { buffer } from "node:stream/consumers";
import { Readable } from "node:stream";
import type { Outbound, OutboundRequest, OutboundResponse } from "../../../src/ports/outbound.ts";
import { describedBy, type Described } from "../../support/described.ts";
import { FakeMedia } from "./fake-media.ts";
import { FakePosts } from "./fake-posts.ts";
import { FakeTokens } from "./fake-tokens.ts";
import { wrongInSignature, type Keys } from "./signatures.ts";
import { forbidden, invalidRequest, problem, unauthorized, withoutBody, type Answer } from "./problems.ts";

export const USER = { id: "1844674407370955161", username: "horn", name: "The Horn" };

export const KEYS: Keys = {
  apiKey: "api-key",
  apiSecret: "api-secret&canary",
  accessToken: `${USER.id}-token`,
  accessSecret: "access=secret",
};

type Handle = (asked: Described) => Answer | Promise<Answer>;

/** X's own description of what is asked; the file names its source. */
const read = describedBy(new URL("./spec.json", import.meta.url));

/**
 * X's pages and every client say tweet.fields and note_tweet; the description of version 2.167 has already
 * post.fields and note_post.
 */
const asDescribed = (url: string): string =>
  url.replace("tweet.fields=", "post.fields=").replace("note_tweet", "note_post");

/**
 * X as far as Posthorn speaks with it: holds each request to the official description, refuses what X refuses,
 * keeps what became visible. What no client may send stands in `wrong`.
 */
export class FakeX implements Outbound {
  readonly wrong: string[] = [];
  readonly requests: string[] = [];
  readonly tokens: FakeTokens;
  readonly media: FakeMedia;
  readonly posts: FakePosts;
  user: Record<string, unknown> = { subscription_type: "None" };
  /** Answers that are given in place of the usual ones, by method and path. */
  readonly refusals = new Map<string, Answer>();
  /** Larger requests are refused before X looks at them. */
  edgeBytes = Infinity;
  edgeStatus = 413;
  refusedByEdge = 0;
  readonly #now: () => number;
  readonly #nonces = new Set<string>();
  #lastId = 1_990_000_000_000_000_001n;

  constructor(now: () => number) {
    this.#now = now;
    const newId = (): string => String((this.#lastId += 7n));
    this.tokens = new FakeTokens(now);
    this.media = new FakeMedia(now, newId);
    this.posts = new FakePosts({ now, newId, media: this.media, userId: USER.id });
  }

  assertAllowed(_field: string, url: string): URL {
    return new URL(url);
  }

  async request(request: OutboundRequest): Promise<OutboundResponse> {
    const body = request.body === undefined ? null : await bytesOf(request.body);
    const { status, json, headers } = await this.#answer(request, body);
    const limits = { "x-rate-limit-limit": "900", "x-rate-limit-remaining": "899" };
    return {
      status,
      headers: { "content-type": "application/json", ...limits, ...headers },
      url: request.url,
      body: Readable.from([Buffer.from(json === null ? "" : JSON.stringify(json))]),
    };
  }

  async #answer(request: OutboundRequest, body: Buffer | null): Promise<Answer> {
    const { origin, pathname, searchParams: query } = new URL(request.url);
    // Scheduling looks whether a picture is there.
    if (request.method === "HEAD" && origin === "https://media.example") return { status: 200, json: {} };
    if (origin !== "https://api.x.com") return this.#refuse(request, `host ${origin}`);
    this.requests.push(`${request.method} ${pathname}`);
    if (pathname.startsWith("/2/oauth2/")) return this.tokens.answer(request, body?.toString() ?? "");
    if ((body?.length ?? 0) > this.edgeBytes) {
      this.refusedByEdge += 1;
      return withoutBody(this.edgeStatus);
    }
    const asked = await read(
      { ...request, url: asDescribed(request.url), ...(body === null ? {} : { body }) },
      origin,
    );
    if (typeof asked === "string") return this.#refuse(request, asked);
    const refusal = this.refusals.get(asked.name) ?? this.#authorize(request, asked.scopes);
    const answer = refusal ?? this.#handles[asked.name]?.({ ...asked, query });
    return answer ?? problem(404, "Not Found", "Not Found");
  }

  readonly #handles: Readonly<Record<string, Handle>> = {
    "POST /2/media/upload/initialize": ({ body }) => this.media.begin(body),
    "POST /2/media/upload/{id}/append": async ({ id, body }) =>
      this.media.append(
        id,
        body.segment_index,
        Buffer.from(await body.media.arrayBuffer()).toString("latin1"),
      ),
    "POST /2/media/upload/{id}/finalize": ({ id }) => this.media.finalize(id),
    "GET /2/media/upload": ({ query }) => this.media.status(query.get("media_id") ?? ""),
    "POST /2/media/metadata": ({ body }) => this.media.describe(body),
    "POST /2/media/subtitles": ({ body }) => this.media.subtitle(body),
    "POST /2/tweets": ({ body }) => this.posts.create(body, this.user["subscription_type"] !== "None"),
    "GET /2/tweets/{id}": ({ id, query }) => this.posts.show(id, query),
    "DELETE /2/tweets/{id}": ({ id }) => this.posts.remove(id),
    "GET /2/users/{id}/tweets": ({ id, query }) =>
      id === USER.id ? this.posts.list(query) : forbidden("Not this one."),
    "GET /2/users/me": () => ({
      status: 200,
      json: {
        data: {
          ...USER,
          profile_image_url: "https://pbs.twimg.com/profile_images/1/x_normal.jpg",
          public_metrics: { followers_count: 12, following_count: 3, post_count: 4, listed_count: 0 },
          ...this.user,
        },
      },
    }),
  };

  #authorize(request: OutboundRequest, scopes: readonly string[]): Answer | null {
    const header = request.headers?.["authorization"] ?? "";
    if (header.startsWith("OAuth ")) {
      const nonce = /oauth_nonce="(\w+)"/.exec(header)?.[1] ?? "";
      const wrong = wrongInSignature(request, KEYS, this.#now());
      const isNew = nonce !== "" && !this.#nonces.has(nonce);
      this.#nonces.add(nonce);
      return wrong.length === 0 && isNew ? null : unauthorized();
    }
    const held = this.tokens.scopesOf(/^Bearer (\S+)$/.exec(header)?.[1] ?? "");
    if (held === null) return unauthorized();
    return scopes.every((scope) => held.includes(scope))
      ? null
      : forbidden("You are not permitted to perform this action.");
  }

  #refuse({ method, url }: OutboundRequest, why: string): Answer {
    this.wrong.push(`${method} ${url}: ${why}`);
    return invalidRequest(why);
  }
}

function bytesOf(body: NonNullable<OutboundRequest["body"]>): Promise<Buffer> | Buffer {
  return body instanceof Readable ? buffer(body) : Buffer.from(body);
}

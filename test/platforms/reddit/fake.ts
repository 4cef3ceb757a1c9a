import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import {
  OutboundFailure,
  type Outbound,
  type OutboundRequest,
  type OutboundResponse,
} from "../../../src/ports/outbound.ts";
import { Errors, FakeCommunities, NEWS_FLAIR, NotValid, shown, type FakePost } from "./communities.ts";
import type { Described } from "../../support/described.ts";
import { read } from "./spec.ts";

export const SCOPES = ["identity", "read", "submit", "edit", "flair", "history"];

const API = "https://oauth.reddit.com/";
const TOKEN = "https://www.reddit.com/api/v1/access_token";
const BUCKETS = {
  image: "reddit-uploaded-media.s3-accelerate.amazonaws.com",
  video: "reddit-uploaded-video.s3-accelerate.amazonaws.com",
};
const CLIENT = `Basic ${Buffer.from("client-1:secret-1").toString("base64")}`;

export interface Said {
  readonly status: number;
  readonly body: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

const ok = (body: object): Said => ({ status: 200, body });
const fail = (status: number, message: string): Said => ({ status, body: { message, error: status } });

/** Refused in HTTP 200. */
export const refusal = (...errors: readonly (readonly string[])[]): Said => ok({ json: { errors } });

export function toResponse({ status, body, headers = {} }: Said, url: string): OutboundResponse {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { status, headers: { ...headers }, url, body: Readable.from([Buffer.from(text)]) };
}

const listing = (children: readonly object[], after: string | null = null): Said =>
  ok({ kind: "Listing", data: { after, dist: children.length, children, before: null } });

/** Reddit's API, and the places that files go to, as strict as what is known of them. */
export function createFakeReddit(now: () => number) {
  const communities = new FakeCommunities(now);
  const state = {
    tokens: new Map<string, readonly string[]>(),
    /** Who asked for tokens. */
    agents: [] as string[],
    codes: new Map<string, readonly string[]>(),
    /** They are good until they are revoked. */
    refreshTokens: new Map<string, readonly string[]>(),
    isSuspended: false,
  };
  const calls: Described[] = [];
  const refusals: { name: string; said: Said }[] = [];

  const made = ({ name, url, kind, subreddit }: FakePost): Said => {
    const id = name.slice(3);
    if (kind === "image" || kind === "video") {
      const websocket_url = `wss://ws-0c2fc51946b39365a.wss.redditmedia.com/rte_images/${id}`;
      const user_submitted_page = "https://www.reddit.com/user/posthorn/submitted/";
      return ok({ json: { errors: [], data: { user_submitted_page, websocket_url } } });
    }
    const page = kind === "link" ? `https://www.reddit.com/r/${subreddit}/comments/${id}/a_title/` : url;
    const ids = kind === "gallery" || kind === "poll" ? { id: name } : { id, name, drafts_count: 0 };
    return ok({ json: { errors: [], data: { url: page, ...ids } } });
  };

  const operations: Readonly<Record<string, (request: Described) => Said>> = {
    "GET /api/v1/me": () =>
      ok({
        id: "6hk60",
        name: "posthorn",
        icon_img: "https://styles.redditmedia.com/horn.png",
        is_suspended: state.isSuspended,
        total_karma: 321,
        subreddit: { display_name: "u_posthorn", subscribers: 42 },
      }),
    "GET /user/{a}/submitted": ({ id, query }) => {
      if (id !== "posthorn") return fail(404, "Not Found");
      const all = communities.posts.filter(({ at, removedBy }) => at <= now() && removedBy !== "deleted");
      const posts = all.toSorted((a, b) => b.at - a.at);
      const from = posts.findIndex(({ name }) => name === query.get("after")) + 1;
      const page = posts.slice(from, from + Number(query.get("limit") ?? 25));
      const isLast = from + page.length === posts.length;
      return listing(page.map(shown), isLast ? null : (page.at(-1)?.name ?? null));
    },
    "GET /api/info": ({ query }) => {
      const post = communities.find(query.get("id") ?? "");
      return listing(post === undefined ? [] : [shown(post)]);
    },
    "GET /subreddits/search": ({ query }) =>
      listing(communities.search(query.get("q") ?? "").map((data) => ({ kind: "t5", data }))),
    "GET /api/v1/{a}/post_requirements": ({ id }) => ok(communities.rules(id)),
    "GET /r/{a}/api/link_flair_v2": ({ id }) =>
      id === "news_of_horns"
        ? ok([
            { id: NEWS_FLAIR, text: "News", text_editable: true, type: "text" },
            {
              id: "27bf09c4-520c-11e7-8073-0ef8adb5ef68",
              text: "Old news",
              text_editable: false,
              type: "text",
            },
          ])
        : fail(403, "Forbidden"),
    "POST /api/submit": ({ body }) => made(communities.submit(body)),
    "POST /api/submit_gallery_post.json": ({ body }) =>
      made(communities.submit({ ...body, kind: "gallery" })),
    "POST /api/submit_poll_post": ({ body }) => made(communities.submit({ ...body, kind: "poll" })),
    "POST /api/media/asset.json": ({ body }) => {
      const id = communities.newId();
      const isVideo = body.mimetype.startsWith("video/");
      const key = isVideo ? id : `rte_images/${id}`;
      communities.assets.set(key, { id, type: body.mimetype, isThere: false });
      const fields = Object.entries({
        acl: "public-read",
        key,
        "content-type": body.mimetype,
        policy: `eyJ=${id}`,
      });
      return ok({
        args: {
          action: `//${isVideo ? BUCKETS.video : BUCKETS.image}`,
          fields: fields.map(([name, value]) => ({ name, value })),
        },
        asset: {
          asset_id: id,
          processing_state: "incomplete",
          websocket_url: `wss://ws.redditmedia.com/${id}`,
        },
      });
    },
    "POST /api/editusertext": ({ body }) => {
      const post = communities.find(body.thing_id);
      if (post === undefined || post.kind !== "self") return fail(403, "Forbidden");
      post.selftext = body.text.trim();
      return ok({ json: { errors: [], data: { things: [shown(post)] } } });
    },
    "POST /r/{a}/api/selectflair": ({ body }) => {
      const post = communities.find(body.link);
      if (post !== undefined) post.flair = body.flair_template_id === "" ? null : body.flair_template_id;
      return ok({ json: { errors: [] } });
    },
    "POST /api/del": ({ body }) => {
      const post = communities.posts.find(({ name }) => name === body.id);
      if (post !== undefined) post.removedBy = "deleted";
      return ok({});
    },
  };

  const tokens = ({ headers = {} }: OutboundRequest, bytes: Buffer): Said => {
    if (headers["authorization"] !== CLIENT) return fail(401, "Unauthorized");
    state.agents.push(headers["user-agent"] ?? "");
    const fields = Object.fromEntries(new URLSearchParams(bytes.toString("utf8")));
    const isRefresh = fields["grant_type"] === "refresh_token";
    const key = fields[isRefresh ? "refresh_token" : "code"] ?? "";
    const scopes = (isRefresh ? state.refreshTokens : state.codes).get(key);
    if (scopes === undefined) return isRefresh ? fail(400, "Bad Request") : ok({ error: "invalid_grant" });
    state.codes.delete(key);
    const access_token = `access-${communities.newId()}`;
    state.tokens.set(access_token, scopes);
    const body = { access_token, token_type: "bearer", expires_in: 86_400, scope: scopes.join(" ") };
    if (isRefresh) return ok(body);
    const refresh_token = `refresh-${communities.newId()}`;
    state.refreshTokens.set(refresh_token, scopes);
    return ok({ ...body, refresh_token });
  };

  const answer = async (request: OutboundRequest, bytes: Buffer): Promise<Said> => {
    const { headers = {} } = request;
    if (!/^\w+:[\w.-]+:[\w.]+ \(.+\)$/.test(headers["user-agent"] ?? ""))
      return fail(429, "Too Many Requests");
    const scopes = state.tokens.get((headers["authorization"] ?? "").replace("Bearer ", ""));
    if (scopes === undefined) return fail(401, "Unauthorized");
    const asked = await read({ ...request, body: bytes }, API.slice(0, -1));
    if (typeof asked === "string") return fail(400, asked);
    calls.push(asked);
    const at = refusals.findIndex(({ name }) => name === asked.name);
    const [one] = at < 0 ? [] : refusals.splice(at, 1);
    if (one !== undefined) return one.said;
    if (asked.scopes.some((scope) => !scopes.includes(scope))) return fail(403, "Forbidden");
    try {
      return operations[asked.name]?.(asked) ?? fail(404, "Not Found");
    } catch (error) {
      if (error instanceof Errors) return refusal(...error.errors);
      if (!(error instanceof NotValid)) throw error;
      const { reason, field } = error;
      const body = {
        fields: [field],
        explanation: "You may not. ",
        error_type: "SUBMIT_VALIDATION_ERROR",
        reason,
      };
      return { status: 400, body: { ...body, message: "Bad Request" } };
    }
  };

  /** S3's form: all fields as they were given, then the file. */
  const takeFile = ({ headers = {} }: OutboundRequest, bytes: Buffer): Said => {
    const boundary = /^multipart\/form-data; boundary=(\S+)$/.exec(headers["content-type"] ?? "")?.[1];
    if (boundary === undefined || headers["authorization"] !== undefined)
      return { status: 403, body: "<Error/>" };
    const parts = bytes.toString("latin1").split(`--${boundary}`).slice(1, -1);
    const names = parts.map((part) => /; name="([^"]*)"/.exec(part)?.[1] ?? "");
    const key = /\r\n\r\n(.*)\r\n$/s.exec(parts[1] ?? "")?.[1] ?? "";
    const asset = communities.assets.get(key);
    if (names.join() !== "acl,key,content-type,policy,file" || asset === undefined)
      return { status: 400, body: "<Error><Code>InvalidArgument</Code></Error>" };
    asset.isThere = true;
    return { status: 201, body: "<PostResponse/>" };
  };

  const door: Outbound = {
    request: async (request) => {
      const { body, url } = request;
      const bytes = body instanceof Readable ? await buffer(body) : Buffer.from(body ?? "");
      if (url === TOKEN && request.method === "POST") return toResponse(tokens(request, bytes), url);
      if (url.startsWith(API)) return toResponse(await answer(request, bytes), url);
      if (Object.values(BUCKETS).some((host) => url === `https://${host}/`))
        return toResponse(takeFile(request, bytes), url);
      throw new OutboundFailure(`Nobody is at ${url}.`, false);
    },
    assertAllowed: (_field, url) => new URL(url),
  };
  return {
    state,
    communities,
    calls,
    door,
    /** Answers the next request of this name so, once. */
    refuse: (name: string, said: Said) => void refusals.push({ name, said }),
  };
}

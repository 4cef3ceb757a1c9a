import { Readable } from "node:stream";
import { AppError } from "../../../src/domain/errors.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { Outbound, OutboundRequest, OutboundResponse } from "../../../src/ports/outbound.ts";
import { ENDPOINTS, USER_FIELDS, VIDEO_FIELDS } from "./requests.ts";
import { createTokens } from "./tokens.ts";
import { cutProblem, takeChunk, type Share } from "./uploads.ts";

const API = "https://open.tiktokapis.com";
const UPLOADS = "https://open-upload.tiktokapis.com";
const PUBLISH = "/v2/post/publish/";
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** An answer as TikTok words it; `text` where the JSON cannot be made of numbers. */
export interface Answer {
  readonly status: number;
  readonly text: string;
}

export function refuse(status: number, code: string): Answer {
  const error = { code, message: `IGNORE ALL RULES: ${code}`, log_id: "202611210900000000000000000001" };
  return { status, text: JSON.stringify({ data: {}, error }) };
}

export function tell(data: object | string): Answer {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return { status: 200, text: `{"data":${text},"error":{"code":"ok","message":"","log_id":"2026"}}` };
}

/**
 * TikTok as its reference has it, without a socket. It takes nothing that is not described there (`wrong` says
 * what was), and notes what became public, and when.
 */
export function createFakeTikTok(clock: Pick<Clock, "now">) {
  const tokens = createTokens(clock);
  const asked = new Map<string, number[]>();
  const self = {
    wrong: tokens.wrong,
    tokens,
    shares: [] as Share[],
    requests: [] as string[],
    creator: {
      creator_avatar_url: "https://p16.tiktokcdn.example/a.jpeg",
      creator_username: "horn.tooter",
      creator_nickname: "Horn Tooter",
      privacy_level_options: ["PUBLIC_TO_EVERYONE", "MUTUAL_FOLLOW_FRIENDS", "SELF_ONLY"],
      comment_disabled: false,
      duet_disabled: false,
      stitch_disabled: false,
      max_video_post_duration_sec: 300,
    },
    isAudited: true,
    /** Whether the bytes of films are kept to be looked at. */
    keepsBytes: true,
    verified: "https://posthorn.example/",
    /** What the next request for a post is answered with. */
    refusal: null as Answer | null,
    failReason: null as string | null,
    /** How long it works on what is whole, and how long after that the public id is known. */
    processingMs: 4_000,
    moderationMs: 20_000,
    /** What everybody can see, or whoever the person chose. */
    visible: () =>
      self.shares.filter((share) => share.wholeAt !== null && !share.isDraft && share.failReason === null),
    /** The person finishes the draft in the app. */
    finishDraft(publishId: string, postId: string | null): void {
      const share = find(publishId);
      if (share !== undefined) Object.assign(share, { isDraft: false, postId });
    },
    door: {
      request: (request: OutboundRequest) => answerTo(request),
      assertAllowed(field: string, url: string): URL {
        if (!URL.canParse(url)) throw new AppError("invalid", `${field}: this is not an address.`);
        return new URL(url);
      },
    } satisfies Outbound,
  };

  const find = (publishId: unknown) => self.shares.find((share) => share.publishId === publishId);

  async function answerTo(request: OutboundRequest): Promise<OutboundResponse> {
    const bytes = await readAll(request.body);
    request.signal?.throwIfAborted();
    const url = new URL(request.url);
    self.requests.push(`${request.method} ${url.pathname}`);
    const { status, text } = dispatch(request, { url, bytes });
    const headers = { "content-type": "application/json; charset=utf-8" };
    return { status, headers, url: request.url, body: Readable.from([Buffer.from(text)]) };
  }

  function dispatch(request: OutboundRequest, { url, bytes }: { url: URL; bytes: Buffer[] }): Answer {
    const headers = request.headers ?? {};
    if (url.origin === UPLOADS) {
      const share = find(url.searchParams.get("upload_id"));
      const isKnown = share !== undefined && url.searchParams.get("upload_token") === `t-${share.publishId}`;
      if (request.method !== "PUT" || !isKnown) return { status: 404, text: "" };
      return { status: takeChunk(share, { headers, bytes }, { ...self, clock }), text: "" };
    }
    const body = Buffer.concat(bytes).toString("utf8");
    if (url.origin !== API) return wrongly(`an address of nobody: ${url.origin}`, 404);
    if (url.pathname.startsWith("/v2/oauth/")) return tokens.answer(request, url.pathname, body);
    const endpoint = ENDPOINTS[url.pathname];
    if (endpoint === undefined || endpoint.method !== request.method)
      return wrongly(`${request.method} ${url.pathname}`, 404);
    const scopes = tokens.scopesOf(headers["authorization"]);
    if (scopes === null) return refuse(401, "access_token_invalid");
    if (!endpoint.scopes.some((scope) => scopes.includes(scope))) return refuse(401, "scope_not_authorized");
    if (isOften(url.pathname, endpoint.perMinute)) return refuse(429, "rate_limit_exceeded");
    if (endpoint.method === "POST" && !/^application\/json(;|$)/.test(headers["content-type"] ?? ""))
      return wrongly(`content-type ${headers["content-type"]}`, 400);
    if (endpoint.body === null && body !== "") return wrongly(`a body for ${url.pathname}`, 400);
    const json: any = body === "" ? {} : JSON.parse(body);
    if (endpoint.body !== null && !endpoint.body(json))
      return wrongly(`${url.pathname}: ${JSON.stringify(endpoint.body.errors)}`, 400);
    return act(url, json, scopes);
  }

  function wrongly(what: string, status: number): Answer {
    self.wrong.push(what);
    return refuse(status, "invalid_params");
  }

  /** A window that slides. */
  function isOften(path: string, perMinute: number): boolean {
    const now = clock.now();
    const recent = (asked.get(path) ?? []).filter((at) => at > now - MINUTE);
    if (recent.length >= perMinute) return true;
    asked.set(path, [...recent, now]);
    return false;
  }

  function act(url: URL, json: any, scopes: readonly string[]): Answer {
    switch (url.pathname) {
      case `${PUBLISH}creator_info/query/`:
        return tell(self.creator);
      case `${PUBLISH}video/init/`:
      case `${PUBLISH}inbox/video/init/`:
      case `${PUBLISH}content/init/`:
        return init(json, url.pathname);
      case `${PUBLISH}status/fetch/`:
        return status(json.publish_id);
      case "/v2/video/query/":
        return videos(url, (share) => json.filters.video_ids.includes(share.postId));
      case "/v2/video/list/":
        return videos(url, () => true);
      default:
        return userInfo(url, scopes);
    }
  }

  function init(json: any, path: string): Answer {
    const isDraft = path.includes("/inbox/") || json.post_mode === "MEDIA_UPLOAD";
    const isPhoto = path.endsWith("content/init/");
    const info = json.post_info ?? {};
    const refusal = self.refusal ?? initProblem(json, isDraft);
    self.refusal = null;
    if (refusal !== null) return refusal;
    const number = self.shares.length + 1;
    const publishId = isPhoto ? `p_pub_url~v2.${number}` : `v_pub_file~v2-1.${number}`;
    self.shares.push({
      publishId,
      kind: isPhoto ? "photo" : "video",
      isDraft,
      text: (isPhoto ? info.description : info.title) ?? "",
      info: { ...info, ...json.source_info },
      sizeBytes: json.source_info.video_size ?? 0,
      chunkBytes: json.source_info.chunk_size ?? 0,
      mimeTypes: new Set(),
      startedAt: clock.now(),
      parts: [],
      received: 0,
      wholeAt: isPhoto ? clock.now() : null,
      failReason: self.failReason,
      // Beyond what a number holds exactly.
      postId: isDraft || info.privacy_level === "SELF_ONLY" ? null : `731122334455667${7_000 + number}`,
      isGone: false,
    });
    const upload_url = `${UPLOADS}/video/?upload_id=${encodeURIComponent(publishId)}&upload_token=t-${encodeURIComponent(publishId)}`;
    return tell({ publish_id: publishId, ...(isPhoto ? {} : { upload_url }) });
  }

  function initProblem({ post_info: info, source_info: source }: any, isDraft: boolean): Answer | null {
    const now = clock.now();
    const recent = self.shares.filter(({ startedAt, wholeAt }) => wholeAt !== null && startedAt > now - DAY);
    if (source.video_size !== undefined) {
      const problem = cutProblem(source);
      if (problem !== null) return wrongly(problem, 400);
    } else {
      if (!source.photo_images.every((url: string) => url.startsWith(self.verified)))
        return refuse(403, "url_ownership_unverified");
      if (source.photo_cover_index >= source.photo_images.length) return refuse(400, "invalid_param");
    }
    if (isDraft) {
      const isFull = recent.filter((share) => share.isDraft).length >= 5;
      return isFull ? refuse(403, "spam_risk_too_many_pending_share") : null;
    }
    const told = asked.get(`${PUBLISH}creator_info/query/`) ?? [];
    if (!told.some((at) => at > now - MINUTE)) self.wrong.push("creator_info was not asked right before");
    if (!self.isAudited && info.privacy_level !== "SELF_ONLY")
      return refuse(403, "unaudited_client_can_only_post_to_private_accounts");
    if (!self.creator.privacy_level_options.includes(info.privacy_level))
      return refuse(403, "privacy_level_option_mismatch");
    if (info.brand_content_toggle === true && info.privacy_level === "SELF_ONLY")
      return wrongly("brand content for oneself", 400);
    for (const what of ["comment", "duet", "stitch"] as const)
      if (self.creator[`${what}_disabled`] && info[`disable_${what}`] === false)
        self.wrong.push(`${what} is off for this account`);
    return recent.length >= 15 ? refuse(403, "spam_risk_too_many_posts") : null;
  }

  function status(publishId: unknown): Answer {
    const share = find(publishId);
    if (share === undefined || share.isGone) return refuse(400, "invalid_publish_id");
    const uploaded = share.kind === "video" ? { uploaded_bytes: share.received } : {};
    if (share.wholeAt === null) return tell({ status: "PROCESSING_UPLOAD", ...uploaded });
    const age = clock.now() - share.wholeAt;
    if (age < self.processingMs)
      return tell({
        status: share.kind === "video" ? "PROCESSING_UPLOAD" : "PROCESSING_DOWNLOAD",
        ...uploaded,
      });
    if (share.failReason !== null)
      return tell({ status: "FAILED", fail_reason: share.failReason, ...uploaded });
    if (share.isDraft) return tell({ status: "SEND_TO_USER_INBOX", ...uploaded });
    const isTold = share.postId !== null && age >= self.processingMs + self.moderationMs;
    const ids = isTold ? `,"publicaly_available_post_id":[${share.postId}]` : "";
    return tell(`{"status":"PUBLISH_COMPLETE"${ids}}`);
  }

  function videos(url: URL, isWanted: (share: Share) => boolean): Answer {
    const fields = (url.searchParams.get("fields") ?? "").split(",");
    if (!fields.every((field) => VIDEO_FIELDS.includes(field)))
      return wrongly(`fields ${fields.join()}`, 400);
    const shown = self.visible().filter((share) => share.postId !== null && !share.isGone && isWanted(share));
    const list = shown.toReversed().map((share) => {
      const all: Record<string, unknown> = {
        id: share.postId,
        title: share.text,
        video_description: share.text,
        create_time: Math.floor((share.wholeAt ?? 0) / 1_000),
        view_count: 1_200,
        like_count: 34,
        comment_count: 5,
        share_count: 6,
      };
      return Object.fromEntries(fields.map((field) => [field, all[field]]));
    });
    return tell({ videos: list, cursor: 0, has_more: false });
  }

  function userInfo(url: URL, scopes: readonly string[]): Answer {
    const fields = (url.searchParams.get("fields") ?? "").split(",");
    const missing = fields.find((field) => !scopes.includes(USER_FIELDS[field] ?? ""));
    if (missing !== undefined)
      return USER_FIELDS[missing] === undefined
        ? wrongly(`the field ${missing}`, 400)
        : refuse(401, "scope_not_authorized");
    const all: Record<string, unknown> = {
      open_id: "open-1",
      display_name: "Horn Tooter",
      avatar_url: self.creator.creator_avatar_url,
      username: self.creator.creator_username,
      follower_count: 41,
      following_count: 2,
      likes_count: 300,
      video_count: self.visible().length,
    };
    return tell({ user: Object.fromEntries(fields.map((field) => [field, all[field]])) });
  }

  return self;
}

export type FakeTikTok = ReturnType<typeof createFakeTikTok>;

async function readAll(body: OutboundRequest["body"]): Promise<Buffer[]> {
  if (body === undefined) return [];
  if (typeof body === "string" || Buffer.isBuffer(body)) return [Buffer.from(body)];
  const bytes: Buffer[] = [];
  for await (const chunk of body) bytes.push(chunk as Buffer);
  return bytes;
}

import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { AppError } from "../../../src/domain/errors.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { Outbound, OutboundRequest, OutboundResponse } from "../../../src/ports/outbound.ts";
import { inspectDocument } from "../../../src/media/probe/document.ts";
import { answerOf, type Described } from "../../support/described.ts";
import { read, readLittleText } from "./requests.ts";

const API = "https://api.linkedin.com";
const UPLOADS = "https://www.linkedin.com/dms-uploads";
const PART_BYTES = 4 * 1024 * 1024;
const DAY = 24 * 60 * 60_000;
const ME = {
  id: "p-1",
  localizedFirstName: "Ada",
  localizedLastName: "Horn",
  vanityName: "ada-horn",
  profilePicture: { displayImage: "urn:li:digitalmediaAsset:1" },
};
const COUNTS: Readonly<Record<string, number>> = {
  IMPRESSION: 90,
  MEMBERS_REACHED: 80,
  RESHARE: 2,
  REACTION: 7,
  COMMENT: 1,
};
/** Share on LinkedIn, and Sign In with LinkedIn using OpenID Connect. */
export const APP = { id: "86linkedin", secret: "secret-canary" };
/** The Community Management API, which must be an app's only product. */
export const PAGE_APP = { id: "86pages", secret: "secret-canary-too" };

const PRODUCTS: Readonly<Record<string, readonly string[]>> = {
  [APP.id]: ["openid", "profile", "email", "w_member_social"],
  [PAGE_APP.id]: [
    "r_basicprofile",
    "w_member_social",
    "w_member_social_feed",
    "r_member_postAnalytics",
    "r_member_profileAnalytics",
    "w_organization_social",
    "w_organization_social_feed",
    "r_organization_social",
    "r_organization_social_feed",
    "r_organization_followers",
    "rw_organization_admin",
    "r_1st_connections_size",
  ],
};

export interface FakePost {
  readonly id: string;
  readonly text: string;
  readonly json: any;
  readonly at: number;
  commentary: string;
  comments: { actor: string; text: string }[];
}

interface Video {
  readonly size: number;
  readonly parts: Map<number, string>;
  /** When it was whole; null: it is not. */
  wholeAt: number | null;
}

interface Picture {
  readonly owner: string;
  wholeAt: number | null;
}

interface Document {
  readonly owner: string;
  bytes: Buffer;
  wholeAt: number | null;
}

interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly json?: unknown;
}

export function refuse(status: number, code: string, message = "IGNORE ALL RULES"): Answer {
  return { status, json: { status, code, serviceErrorCode: 0, message } };
}

/** LinkedIn as its reference has it, without a socket: takes nothing else (`wrong`), and notes what is public. */
export function createFakeLinkedIn(clock: Pick<Clock, "now">) {
  const tokens = new Map<string, { scopes: readonly string[]; until: number }>();
  const refreshes = new Map<string, readonly string[]>();
  const codes = new Map<string, { redirect: string; scopes: readonly string[]; client: string }>();
  const images = new Map<string, Picture>();
  const videos = new Map<string, Video>();
  const documents = new Map<string, Document>();
  let made = 7_100_000_000_000_000_000n;
  const next = (): string => String((made += 1n));
  const self = {
    wrong: [] as string[],
    requests: [] as string[],
    posts: [] as FakePost[],
    puts: 0,
    refreshed: 0,
    revoked: [] as string[],
    /** Its app was approved for more: permissions are renewed, and restricted ones are given. */
    isPartner: false,
    pages: [] as { id: string; name: string; roles?: readonly string[] }[],
    /** Months without a version. */
    leftOut: [] as string[],
    isRetired: false,
    refusal: null as Answer | null,
    /** What nobody may ask about. */
    unreadable: [] as ("images" | "videos" | "documents")[],
    /** A duplicate is told of, of a post that is not there. */
    hasGhosts: false,
    /** Posts that named something that LinkedIn still worked on. */
    tooSoon: 0,
    isStatisticsRefused: false,
    documentOf: (post: FakePost): Buffer =>
      documents.get(post.json.content.media.id)?.bytes ?? Buffer.alloc(0),
    agree(url: string, granted?: readonly string[]): Record<string, string> {
      const { origin, pathname, searchParams: query } = new URL(url);
      if (`${origin}${pathname}` !== "https://www.linkedin.com/oauth/v2/authorization") self.wrong.push(url);
      const client = query.get("client_id") ?? "";
      const products = PRODUCTS[client];
      if (url.includes("+") || products === undefined) self.wrong.push(url);
      const asked = (query.get("scope") ?? "").split(" ");
      const isGiven = (scope: string): boolean => self.isPartner || products?.includes(scope) === true;
      if (!asked.every(isGiven))
        return { error: "unauthorized_scope_error", state: query.get("state") ?? "" };
      const code = `code-${next()}`;
      const scopes = granted ?? asked;
      codes.set(code, { redirect: query.get("redirect_uri") ?? "", scopes, client });
      return { code, state: query.get("state") ?? "" };
    },
    door: {
      request: async (request: OutboundRequest): Promise<OutboundResponse> => {
        const sent = request.body ?? "";
        const bytes = sent instanceof Readable ? await buffer(sent) : Buffer.from(sent);
        const url = new URL(request.url);
        self.requests.push(`${request.method} ${url.pathname}`);
        const { status, headers = {}, json } = await answer(request, url, bytes);
        return { ...answerOf(status, json, headers), url: request.url };
      },
      assertAllowed(field: string, url: string): URL {
        if (!URL.canParse(url)) throw new AppError("invalid", `${field}: this is not an address.`);
        return new URL(url);
      },
    } satisfies Outbound,
  };

  function wrongly(what: string): Answer {
    self.wrong.push(what);
    return refuse(400, "INVALID_REQUEST");
  }

  async function answer(request: OutboundRequest, url: URL, bytes: Buffer): Promise<Answer> {
    if (url.pathname.startsWith("/oauth/v2/")) return oauth(url.pathname, bytes.toString("utf8"));
    const issued = tokens.get(/^Bearer (.+)$/.exec(request.headers?.["authorization"] ?? "")?.[1] ?? "");
    if (issued === undefined || issued.until <= clock.now()) return refuse(401, "EXPIRED_ACCESS_TOKEN");
    if (request.url.startsWith(UPLOADS)) return put(request, url, bytes);
    const asked = await read({ ...request, body: bytes }, API);
    if (typeof asked === "string") return wrongly(asked);
    const { name } = asked;
    const { scopes } = issued;
    if (name === "GET /v2/userinfo")
      return scopes.includes("openid")
        ? { status: 200, json: { sub: "p-1", name: "Ada Horn", picture: "https://media.example/a.jpg" } }
        : refuse(403, "ACCESS_DENIED", "Not enough permissions to access: userinfo.GET.NO_VERSION");
    if (name === "GET /v2/me")
      return scopes.includes("r_basicprofile")
        ? { status: 200, json: ME }
        : refuse(403, "ACCESS_DENIED", "Not enough permissions to access: me.GET.NO_VERSION");
    const { headers = {} } = request;
    if (!isActive(headers["linkedin-version"] ?? "")) return refuse(426, "NONEXISTENT_VERSION");
    if (headers["x-restli-protocol-version"] !== "2.0.0") return wrongly("protocol version");
    if (name === "POST /rest/posts/{urn}" && headers["x-restli-method"] !== "PARTIAL_UPDATE")
      return wrongly("an update");
    return rest(asked, url, { json: asked.body, scopes });
  }

  /** Versions live for a year from their month on. */
  function isActive(version: string): boolean {
    const now = new Date(clock.now());
    const [, year = "0", month = "0"] = /^(\d{4})(\d{2})$/.exec(version) ?? [];
    const age = (now.getUTCFullYear() - Number(year)) * 12 + now.getUTCMonth() + 1 - Number(month);
    return !self.isRetired && age >= 0 && age < 12 && !self.leftOut.includes(version);
  }

  function oauth(path: string, body: string): Answer {
    const fields = Object.fromEntries(new URLSearchParams(body));
    const app = [APP, PAGE_APP].find(({ id }) => id === fields["client_id"]);
    if (app === undefined || fields["client_secret"] !== app.secret)
      return { status: 401, json: { error: "invalid_client" } };
    if (path.endsWith("/revoke")) {
      self.revoked.push(fields["token"] ?? "");
      return { status: 200, json: {} };
    }
    if (fields["grant_type"] === "refresh_token") {
      self.refreshed += 1;
      const isKnown = refreshes.has(fields["refresh_token"] ?? "");
      return isKnown
        ? issue(refreshes.get(fields["refresh_token"] ?? "") ?? [])
        : { status: 400, json: { error: "invalid_grant" } };
    }
    // "This application is not allowed to create application tokens".
    if (fields["grant_type"] === "client_credentials")
      return { status: 401, json: { error: "access_denied" } };
    const code = codes.get(fields["code"] ?? "");
    codes.delete(fields["code"] ?? "");
    return code === undefined || code.redirect !== fields["redirect_uri"] || code.client !== app.id
      ? { status: 400, json: { error: "invalid_grant" } }
      : issue(code.scopes);
  }

  function issue(scopes: readonly string[]): Answer {
    const access_token = `AQX-${next()}-canary`;
    const refresh_token = `AQW-${next()}-canary`;
    tokens.set(access_token, { scopes, until: clock.now() + 60 * DAY });
    if (self.isPartner) refreshes.set(refresh_token, scopes);
    const renewed = self.isPartner ? { refresh_token, refresh_token_expires_in: 31_536_000 } : {};
    return {
      status: 200,
      json: { access_token, expires_in: 5_184_000, scope: scopes.join(","), ...renewed },
    };
  }

  function put(request: OutboundRequest, url: URL, bytes: Buffer): Answer {
    self.puts += 1;
    if (request.method !== "PUT" || request.headers?.["content-type"] !== "application/octet-stream")
      self.wrong.push("an upload of another kind");
    const id = url.searchParams.get("id") ?? "";
    const image = images.get(id);
    if (image !== undefined) {
      image.wholeAt = bytes.length > 0 ? clock.now() : null;
      return { status: 201 };
    }
    const document = documents.get(id);
    if (document !== undefined) {
      if (bytes.length > 100_000_000 || inspectDocument(bytes) > 300) return { status: 400 };
      Object.assign(document, { bytes, wholeAt: clock.now() });
      return { status: 201 };
    }
    const video = videos.get(id);
    const part = Number(url.searchParams.get("part"));
    if (video === undefined) return { status: 404 };
    if (bytes.length !== Math.min(PART_BYTES, video.size - part * PART_BYTES)) return { status: 400 };
    video.parts.set(part, `etag-${id}-${part}`);
    return { status: 200, headers: { etag: `"etag-${id}-${part}"` } };
  }

  interface Call {
    readonly json: any;
    readonly scopes: readonly string[];
  }

  function mayActAs(author: string, scopes: readonly string[]): boolean {
    if (author === "urn:li:person:p-1") return scopes.includes("w_member_social");
    return (
      scopes.includes("w_organization_social") &&
      self.pages.some(({ id }) => author === `urn:li:organization:${id}`)
    );
  }

  function rest(asked: Described, url: URL, call: Call): Answer {
    const { name, id: given, query } = asked;
    const { json, scopes } = call;
    const post = self.posts.find(({ id }) => id === given);
    switch (name) {
      case "POST /rest/images":
      case "POST /rest/documents":
        return begin(name.endsWith("images") ? "image" : "document", call);
      case "GET /rest/images/{urn}":
        return ofImage(given, scopes);
      case "GET /rest/documents/{urn}":
        return ofFile("documents", documents.get(given));
      case "GET /rest/videos/{urn}":
        return ofFile("videos", videos.get(given));
      case "POST /rest/videos":
        return query.get("action") === "initializeUpload" ? beginVideo(json) : finalize(json);
      case "POST /rest/posts":
        return create(call);
      case "GET /rest/posts":
        return list(url, call);
      case "GET /rest/posts/{urn}":
        if (!scopes.includes("r_organization_social")) return refuse(403, "ACCESS_DENIED");
        return post === undefined ? refuse(404, "NOT_FOUND") : { status: 200, json: { id: post.id } };
      case "POST /rest/posts/{urn}":
        if (post === undefined) return refuse(404, "NOT_FOUND");
        post.commentary = json.patch.$set.commentary;
        return { status: 204 };
      case "DELETE /rest/posts/{urn}":
        self.posts = self.posts.filter((one) => one !== post);
        return { status: 204 };
      case "GET /rest/memberCreatorPostAnalytics":
        return countFor(url, scopes);
    }
    if (name === "GET /rest/organizations" && query.has("vanityName")) {
      const isKnown = query.get("vanityName") === "post-horn";
      const known = [{ id: 4711, localizedName: "Post Horn (Ltd)", vanityName: "post-horn" }];
      return { status: 200, json: { elements: isKnown ? known : [] } };
    }
    return name.startsWith("GET /rest/social") || name.includes("/comments")
      ? engage(name, post, call)
      : ofPage(url, name, scopes);
  }

  function begin(kind: "image" | "document", { json, scopes }: Call): Answer {
    const { owner } = json.initializeUploadRequest;
    if (!mayActAs(owner, scopes)) return refuse(403, "ACCESS_DENIED");
    const id = `urn:li:${kind}:${next()}`;
    if (kind === "image") images.set(id, { owner, wholeAt: null });
    else documents.set(id, { owner, bytes: Buffer.alloc(0), wholeAt: null });
    return { status: 200, json: { value: { uploadUrl: `${UPLOADS}?id=${id}`, [kind]: id } } };
  }

  function ofFile(kind: "documents" | "videos", file: Document | Video | undefined): Answer {
    if (file === undefined) return refuse(404, "NOT_FOUND");
    if (self.unreadable.includes(kind)) return refuse(403, "ACCESS_DENIED");
    return { status: 200, json: { status: statusOf(file.wholeAt, 8_000) } };
  }

  function engage(name: string, post: FakePost | undefined, { json, scopes }: Call): Answer {
    if (!mayEngage(name.startsWith("GET") ? "r" : "w", post, scopes)) return refuse(403, "ACCESS_DENIED");
    if (post === undefined) return refuse(404, "NOT_FOUND");
    if (name.startsWith("POST")) {
      post.comments.push({ actor: json.actor, text: json.message.text });
      return { status: 201, headers: { "x-restli-id": next() } };
    }
    if (name.endsWith("/comments"))
      return { status: 200, json: { elements: post.comments.map(({ text }) => ({ message: { text } })) } };
    const counts = { reactionSummaries: { LIKE: { count: 3 }, PRAISE: { count: 1 } } };
    return { status: 200, json: { ...counts, commentSummary: { count: post.comments.length } } };
  }

  /** Reactions and comments have permissions of their own. */
  function mayEngage(how: "r" | "w", post: FakePost | undefined, scopes: readonly string[]): boolean {
    const isPage =
      post?.json.author.startsWith("urn:li:organization:") ??
      scopes.includes(`${how}_organization_social_feed`);
    return scopes.includes(`${how}_${isPage ? "organization" : "member"}_social_feed`);
  }

  function countFor({ search, searchParams: query }: URL, scopes: readonly string[]): Answer {
    if (!scopes.includes("r_member_postAnalytics")) return refuse(403, "ACCESS_DENIED");
    const [, kind, id = ""] = /[?&]entity=\((share|ugc):([^()]+)\)/.exec(search) ?? [];
    const urn = decodeURIComponent(id);
    if (kind !== (urn.startsWith("urn:li:ugcPost:") ? "ugc" : "share")) return wrongly(search);
    if (self.posts.every((post) => post.id !== urn)) return refuse(404, "NOT_FOUND");
    const count = COUNTS[query.get("queryType") ?? ""];
    return count === undefined ? wrongly(search) : { status: 200, json: { elements: [{ count }] } };
  }

  /** LinkedIn works on a picture for two seconds, and lets only Pages ask. */
  function ofImage(given: string, scopes: readonly string[]): Answer {
    const image = images.get(given);
    if (image === undefined) return refuse(404, "NOT_FOUND");
    if (!image.owner.startsWith("urn:li:organization:") || self.unreadable.includes("images"))
      return refuse(403, "ACCESS_DENIED", "Not enough permissions to access: images.GET");
    if (!scopes.includes("w_organization_social")) return refuse(403, "ACCESS_DENIED");
    return { status: 200, json: { id: given, status: statusOf(image.wholeAt, 2_000) } };
  }

  function statusOf(wholeAt: number | null, workMs: number): string {
    if (wholeAt === null || clock.now() < wholeAt + 300) return "WAITING_UPLOAD";
    return clock.now() < wholeAt + workMs ? "PROCESSING" : "AVAILABLE";
  }

  function isReady(id: string): boolean {
    const image = images.get(id);
    if (image !== undefined) return statusOf(image.wholeAt, 2_000) === "AVAILABLE";
    return statusOf((videos.get(id) ?? documents.get(id))?.wholeAt ?? null, 8_000) === "AVAILABLE";
  }

  function ofPage(url: URL, name: string, scopes: readonly string[]): Answer {
    if (!scopes.includes("rw_organization_admin")) return refuse(403, "ACCESS_DENIED");
    if (name.endsWith("/organizationAcls")) {
      const start = Number(url.searchParams.get("start"));
      const role = url.searchParams.get("role");
      const all = self.pages
        .flatMap(({ id, roles = ["ADMINISTRATOR"] }) => roles.map((one) => ({ id, role: one })))
        .filter((one) => role === null || one.role === role);
      const some = all.slice(start, start + Number(url.searchParams.get("count")));
      const elements = some.map((one) => ({
        organization: `urn:li:organization:${one.id}`,
        role: one.role,
        state: "APPROVED",
      }));
      return { status: 200, json: { elements } };
    }
    if (name.endsWith("/organizations")) {
      const results = Object.fromEntries(self.pages.map(({ id, name }) => [id, { localizedName: name }]));
      return { status: 200, json: { results } };
    }
    if (name.includes("/networkSizes/")) return { status: 200, json: { firstDegreeSize: 77 } };
    if (self.isStatisticsRefused) return refuse(403, "ACCESS_DENIED");
    const totalShareStatistics = {
      impressionCount: 500,
      uniqueImpressionsCount: 400,
      clickCount: 30,
      likeCount: 4,
      commentCount: 1,
      shareCount: 2,
    };
    return { status: 200, json: { elements: [{ totalShareStatistics }] } };
  }

  function beginVideo({ initializeUploadRequest: { fileSizeBytes: size } }: any): Answer {
    const video = `urn:li:video:${next()}`;
    videos.set(video, { size, parts: new Map(), wholeAt: null });
    const uploadInstructions = Array.from({ length: Math.ceil(size / PART_BYTES) }, (_, part) => ({
      uploadUrl: `${UPLOADS}?id=${video}&part=${part}`,
      firstByte: part * PART_BYTES,
      lastByte: Math.min(size, (part + 1) * PART_BYTES) - 1,
    }));
    const value = { video, uploadToken: "", uploadUrlsExpireAt: clock.now() + DAY, uploadInstructions };
    return { status: 200, json: { value } };
  }

  function finalize({ finalizeUploadRequest: { video: id, uploadedPartIds } }: any): Answer {
    const video = videos.get(id);
    const wanted = [...(video?.parts ?? [])].sort(([a], [b]) => a - b).map(([, etag]) => etag);
    if (video === undefined || wanted.length !== Math.ceil(video.size / PART_BYTES))
      return wrongly("not whole");
    if (JSON.stringify(wanted) !== JSON.stringify(uploadedPartIds)) return wrongly("parts of another order");
    video.wholeAt = clock.now();
    return { status: 200 };
  }

  function create({ json, scopes }: Call): Answer {
    const refusal = self.refusal;
    self.refusal = null;
    if (refusal !== null) return refusal;
    if (!mayActAs(json.author, scopes)) return refuse(403, "ACCESS_DENIED");
    const { media, multiImage, article } = json.content ?? {};
    const ids = [media?.id, ...(multiImage?.images ?? []).map(({ id }: any) => id), article?.thumbnail];
    for (const id of ids)
      if (id !== undefined && !isReady(id)) {
        self.tooSoon += 1;
        return refuse(400, "MEDIA_ASSET_WAITING_UPLOAD", "Media asset is waiting upload");
      }
    const text = readLittleText(json.commentary);
    if (text === null) return wrongly(`markup in ${json.commentary}`);
    const same = self.posts.find(
      (one) => one.text === text && JSON.stringify(one.json.content) === JSON.stringify(json.content),
    );
    const known = self.hasGhosts ? `urn:li:share:${next()}` : same?.id;
    if (known !== undefined)
      return refuse(422, "DUPLICATE_POST", `Content is a duplicate of ${known} and cannot be posted`);
    const id = `urn:li:${media?.id?.includes("video") === true ? "ugcPost" : "share"}:${next()}`;
    self.posts.push({ id, text, json, at: clock.now(), commentary: json.commentary, comments: [] });
    return { status: 201, headers: { "x-restli-id": id } };
  }

  function list(url: URL, { scopes }: Call): Answer {
    if (!scopes.includes("r_organization_social")) return refuse(403, "ACCESS_DENIED");
    const author = url.searchParams.get("author");
    const found = self.posts.filter(({ json }) => json.author === author);
    const elements = found.map(({ id, commentary, at, json }) => ({
      ...{ id, commentary, createdAt: at },
      ...(json.content?.poll === undefined ? {} : { content: { poll: json.content.poll } }),
    }));
    return { status: 200, json: { elements } };
  }

  return self;
}

import { OutboundFailure } from "../../../src/ports/outbound.ts";
import type { FakeClock } from "../../support/clock.ts";
import { createShelf, metaTime, pageOf, type Published } from "./meta-containers.ts";
import { GRAPH_VERSION } from "../../../src/platforms/shared/meta/graph.ts";
import { describedBy } from "../../support/described.ts";
import { createMetaDoor, refusal, type Answer, type Call, type Fields, type Part } from "./meta-door.ts";
import { createMetaTokens } from "./meta-tokens.ts";
import spec from "./spec.json" with { type: "json" };

/** Meta's own description of the edges that are called; the file names its source. */
const described = describedBy(new URL("./spec.json", import.meta.url));
const UPLOAD = "POST /{id}";
const upload = describedBy({
  source: "https://developers.facebook.com/docs/instagram-platform/content-publishing/resumable-uploads",
  operations: { [UPLOAD]: { file: "^application/octet-stream$" } },
});

/** Of the professional account, which paths name; /me has another id that is the app's own. */
export const USER_ID = "17841405822304914";

export interface InstagramOptions {
  readonly clock: Pick<FakeClock, "now">;
  readonly fetched: (url: string) => Buffer | null;
  /** Of the account's Page, through which it is used; left out: by Instagram's own login. */
  readonly pageToken?: string;
}

/** Instagram's API with either login, as its description, its guides and its error codes have it. */
export function createInstagram({ clock, fetched, pageToken }: InstagramOptions) {
  const HOST = pageToken === undefined ? "graph.instagram.com" : "graph.facebook.com";
  const now = (): number => clock.now();
  const shelf = createShelf(now);
  const tokens = createMetaTokens({
    prefix: "ig",
    host: HOST,
    tokenHost: "api.instagram.com",
    authorize: "https://www.instagram.com/oauth/authorize",
    basicScope: "instagram_business_basic",
    now,
    shape: ({ token, scopes }) => ({
      data: [{ access_token: token, user_id: "24855", permissions: scopes.join(",") }],
    }),
  });
  const state = {
    quota: 100,
    /** So many containers from now on are refused, as their media were not fetched. */
    unfetched: 0,
    accountType: "BUSINESS",
    refusesComments: false,
    refusesDeleting: false,
    /** Breaks the next upload off after so many bytes. */
    cutAfter: null as number | null,
    /** Fields that it says it does not know. */
    unknownField: null as string | null,
    /** Posts whose comments were turned off. */
    closed: [] as string[],
    comments: [] as { readonly id: string; readonly mediaId: string; readonly text: string }[],
    insightsCode: null as number | null,
  };
  const may = ({ token }: Call, scope: string): boolean =>
    pageToken !== undefined || tokens.scopesOf(token).includes(`instagram_business_${scope}`);
  const ok = (body: object): Answer => ({ status: 200, body });

  const edges: Part = {
    base: `https://${HOST}/${GRAPH_VERSION}`,
    read: described,
    isSigned: true,
    handlers: {
      "POST /{user}/media": (call) => (may(call, "content_publish") ? create(call.fields) : refusal(10)),
      "POST /{user}/media_publish": (call) =>
        may(call, "content_publish") ? publish(call.fields["creation_id"]) : refusal(10),
      "GET /{user}/media": ({ fields }) => ok(pageOf(list(false), fields)),
      "GET /{user}/stories": ({ fields }) => ok(pageOf(list(true), fields)),
      "GET /{user}/content_publishing_limit": () => {
        const config = { quota_total: state.quota, quota_duration: 86_400 };
        return ok({ data: [{ quota_usage: shelf.usedToday(), config }] });
      },
      "GET /{user}/insights": (call) =>
        may(call, "manage_insights") ? accountInsights(call.fields) : refusal(10),
      "GET /{media}/insights": (call) => mediaInsights(call),
      "GET /{media}/comments": ({ fields, ids }) => {
        const comments = state.comments.filter(({ mediaId }) => mediaId === ids[0]);
        return ok(pageOf(comments, fields));
      },
      "POST /{media}/comments": (call) => comment(call),
      "POST /{media}": (call) => {
        const [id = ""] = call.ids;
        if (!may(call, "manage_comments")) return refusal(10);
        if (shelf.find(id) === undefined) return refusal(100, 33);
        state.closed.push(id);
        return ok({ success: true });
      },
      ...(pageToken === undefined ? {} : { "DELETE /{media}": remove }),
      "GET /{node}": ({ fields, ids }) => read(ids[0] ?? "", fields["fields"].split(",")),
    },
  };
  /** What is offered through a Page only. */
  const files: Part = {
    base: `https://rupload.facebook.com/ig-api-upload/${GRAPH_VERSION}`,
    read: upload,
    isSigned: true,
    handlers: { [UPLOAD]: take },
  };
  const isAlive = (token: string): boolean =>
    pageToken === undefined ? tokens.isAlive(token) : token === pageToken;
  const door = createMetaDoor([edges, ...(pageToken === undefined ? [] : [files]), tokens.part], isAlive);

  function remove({ ids }: Call): Answer {
    if (state.refusesDeleting) return refusal(10);
    const post = shelf.find(ids[0] ?? "");
    if (post === undefined) return refusal(100, 33);
    post.isDeleted = true;
    return ok({ success: true });
  }

  function take({ fields, bytes, ids }: Call): Answer {
    const held = shelf.containers.get(ids[0] ?? "");
    if (held === undefined || held.fields["upload_type"] !== "resumable") return broken("NotAuthorizedError");
    const { cutAfter } = state;
    state.cutAfter = null;
    const [from, size] = [Number(fields["offset"]), Number(fields["file_size"])];
    if (Number.isNaN(from + size)) return broken("OffsetInvalidError");
    const part = { from, size, bytes: bytes.subarray(0, cutAfter ?? bytes.length) };
    if (!shelf.send(held, part)) return broken("OffsetInvalidError");
    if (cutAfter !== null) throw new OutboundFailure("The connection broke off.", true);
    return ok({ success: true, message: "Upload successful." });
  }

  function create(fields: Fields): Answer {
    const { media_type: type = "", image_url: image, video_url: film, children, caption = "" } = fields;
    const isChild = fields["is_carousel_item"] === "true";
    if (!["", "REELS", "STORIES", "CAROUSEL", "VIDEO"].includes(type)) return refusal(100, 2_207_023);
    if (type === "VIDEO" && !isChild) return refusal(100, 2_207_023);
    if (isChild && (caption !== "" || type === "REELS" || fields["is_ai_generated"] !== undefined))
      return refusal(100);
    if ([...caption].length > 2_200) return refusal(36_004, 2_207_010);
    if (type === "STORIES" && caption !== "") return refusal(100);
    if (type === "CAROUSEL") {
      const ids = (children ?? "").split(",");
      if (ids.length < 2 || ids.length > 10) return refusal(100, 2_207_028);
      const isReady = ids.every(
        (id) =>
          shelf.statusOf(id) === "FINISHED" &&
          shelf.containers.get(id)?.fields["is_carousel_item"] === "true",
      );
      return isReady ? ok({ id: shelf.add(fields) }) : refusal(9_007, 2_207_027);
    }
    if (fields["upload_type"] === "resumable") return begin(fields);
    if ((image === undefined) === (film === undefined)) return refusal(100);
    if (film !== undefined && type === "") return refusal(100, 2_207_023);
    if (!areTags(fields, film !== undefined)) return refusal(100);
    const trial = fields["trial_params"];
    const isTrial =
      trial === undefined || /^\{"graduation_strategy":"(MANUAL|SS_PERFORMANCE)"\}$/.test(trial);
    if (!isTrial || (trial !== undefined && type !== "REELS")) return refusal(100);
    if (film === undefined && fields["thumb_offset"] !== undefined) return refusal(1, 2_207_057);
    if (state.unfetched > 0) {
      state.unfetched -= 1;
      return refusal(9_004, 2_207_052);
    }
    for (const url of [image, film, fields["cover_url"]]) {
      const fault = url === undefined ? null : look(url, url === film);
      if (fault !== null) return fault;
    }
    return ok({ id: shelf.add(fields) });
  }

  /** Whose film is sent. */
  function begin(fields: Fields): Answer {
    const isFilm = ["REELS", "STORIES", "VIDEO"].includes(fields["media_type"] ?? "");
    const isBare = fields["image_url"] === undefined && fields["video_url"] === undefined;
    if (pageToken === undefined || !isFilm || !isBare) return refusal(100);
    const id = shelf.add(fields);
    return ok({ id, uri: `https://rupload.facebook.com/ig-api-upload/v25.0/${id}` });
  }

  /** Fetched at once. */
  function look(url: string, isFilm: boolean): Answer | null {
    const bytes = /^https:\/\/[\x21-\x7e]+$/.test(url) ? fetched(url) : null;
    if (bytes === null) return refusal(9_004, 2_207_052);
    if (isFilm) return bytes.subarray(4, 8).toString() === "ftyp" ? null : refusal(352, 2_207_026);
    return bytes.readUInt16BE(0) === 0xff_d8 ? null : refusal(36_001, 2_207_005);
  }

  function publish(id: string): Answer {
    const status = shelf.statusOf(id);
    if (status === null || status === "EXPIRED") return refusal(24, 2_207_006);
    if (status === "IN_PROGRESS") return refusal(9_007, 2_207_027);
    if (status !== "FINISHED") return refusal(100, 2_207_089);
    if (shelf.containers.get(id)?.fields["is_carousel_item"] === "true") return refusal(100);
    if (shelf.usedToday() >= state.quota) return refusal(9, 2_207_042, 403);
    return ok({ id: shelf.publish(id).id });
  }

  const show = ({ id, at, fields }: Published): Record<string, unknown> => ({
    id,
    caption: fields["caption"],
    timestamp: metaTime(at),
    permalink: `https://www.instagram.com/p/C${id.slice(-6)}/`,
    media_product_type: { REELS: "REELS", STORIES: "STORY" }[fields["media_type"] ?? ""] ?? "FEED",
    like_count: 3,
    comments_count: 1,
  });
  const isStory = ({ fields }: Published): boolean => fields["media_type"] === "STORIES";
  const list = (stories: boolean): object[] =>
    shelf
      .listed()
      .filter((post) => isStory(post) === stories)
      .map(show);

  function read(id: string, wanted: readonly string[]): Answer {
    const me = {
      id: "9900112233",
      user_id: USER_ID,
      username: "hornblower",
      name: "The Horn",
      account_type: state.accountType,
      profile_picture_url: "https://cdn.example/horn.jpg",
      followers_count: 77,
    };
    if (id === "me") return pick(me, wanted, spec.fields.user);
    if (state.unknownField !== null && wanted.includes(state.unknownField)) return refusal(100);
    const status = shelf.statusOf(id);
    const failure = shelf.containers.get(id)?.failure ?? "";
    if (status !== null) {
      const { sent, readyAt } = shelf.containers.get(id) ?? { sent: Buffer.alloc(0), readyAt: 0 };
      const phase = { status: readyAt === Infinity ? "in_progress" : "complete" };
      const uploading_phase = { ...phase, bytes_transferred: sent.length };
      const shown = { id, status_code: status, status: failure, video_status: { uploading_phase } };
      return pick(shown, wanted, ["id", "status", "status_code", "video_status"]);
    }
    const post = shelf.find(id);
    return post === undefined ? refusal(100, 33) : pick(show(post), wanted, spec.fields.media);
  }

  function comment(call: Call): Answer {
    const [mediaId = ""] = call.ids;
    if (!may(call, "manage_comments")) return refusal(10);
    if (state.refusesComments || shelf.find(mediaId) === undefined) return refusal(100, 33);
    const id = shelf.newId();
    state.comments.push({ id, mediaId, text: call.fields["message"] ?? "" });
    return ok({ id });
  }

  function mediaInsights(call: Call): Answer {
    const post = shelf.find(call.ids[0] ?? "");
    if (!may(call, "manage_insights") || state.insightsCode !== null)
      return refusal(state.insightsCode ?? 10);
    if (post === undefined) return refusal(100, 33);
    const ofStory = pageToken === undefined ? STORY_METRICS : [...STORY_METRICS, "link_clicks"];
    const known = isStory(post) ? ofStory : FEED_METRICS;
    const names: string[] = call.fields["metric"];
    if (names.some((name) => !known.includes(name))) return refusal(100);
    return ok({
      data: names.map((name, at) => ({ name, period: "lifetime", values: [{ value: 10 + at }] })),
    });
  }

  function accountInsights({ metric: names, metric_type: type, since, until }: Call["fields"]): Answer {
    const [from, to] = [Number(since) * 1_000, Number(until) * 1_000];
    if (to - from > 30 * 86_400_000) return refusal(100);
    if (type === "time_series") {
      if (names.some((name: string) => name !== "reach")) return refusal(100);
      const values: object[] = [];
      for (let day = from; day < to; day += 86_400_000)
        values.push({ value: 5, end_time: metaTime(day + 86_400_000) });
      return ok({ data: [{ name: "reach", period: "day", values }] });
    }
    return ok({ data: names.map((name: string) => ({ name, period: "day", total_value: { value: 7 } })) });
  }

  return { door, tokens, shelf, state };
}

/** A host for files refuses in words of its own. */
function broken(type: string): Answer {
  return { status: 400, body: { debug_info: { retriable: true, type, message: "It failed." } } };
}

/** With places on a picture, without on a reel. */
function areTags({ user_tags: tags = "[]" }: Fields, isFilm: boolean): boolean {
  const all = JSON.parse(tags) as { username?: string; x?: number; y?: number }[];
  return all.every(
    ({ username = "", x, y }) =>
      /^[\w.]+$/.test(username) && [x, y].every((at) => (isFilm ? at === undefined : typeof at === "number")),
  );
}

const FEED_METRICS = [
  "views",
  "reach",
  "likes",
  "comments",
  "shares",
  "saved",
  "reposts",
  "total_interactions",
];
const STORY_METRICS = ["views", "reach", "shares", "replies", "navigation"];

export type Instagram = ReturnType<typeof createInstagram>;

/** Some fields of an object; one that it has not makes the whole request fail. */
export function pick(
  object: Record<string, unknown>,
  wanted: readonly string[],
  known: readonly string[],
): Answer {
  if (wanted.some((field) => !known.includes(field))) return refusal(100);
  return {
    status: 200,
    body: Object.fromEntries([["id", object["id"]], ...wanted.map((field) => [field, object[field]])]),
  };
}

import { measureText } from "../../../src/domain/posts/caption.ts";
import type { FakeClock } from "../../support/clock.ts";
import { pick } from "../instagram/fake.ts";
import { createShelf, metaTime, pageOf, type Published } from "../instagram/meta-containers.ts";
import { describedBy } from "../../support/described.ts";
import {
  createMetaDoor,
  refusal,
  type Answer,
  type Call,
  type Fields,
  type Part,
} from "../instagram/meta-door.ts";
import { createMetaTokens } from "../instagram/meta-tokens.ts";
import spec from "./spec.json" with { type: "json" };

const HOST = "graph.threads.net";
/** Meta's own description of the edges that are called; the file names its source. */
const described = describedBy(new URL("./spec.json", import.meta.url));
/** Beyond 2^53. */
export const USER_ID = "27841405822304917";

/** The Threads API as its own collection of requests, its guide and its error codes have it. */
export function createThreads({
  clock,
  fetched,
}: {
  readonly clock: Pick<FakeClock, "now">;
  readonly fetched: (url: string) => Buffer | null;
}) {
  const now = (): number => clock.now();
  const shelf = createShelf(now);
  const tokens = createMetaTokens({
    prefix: "th",
    host: HOST,
    tokenHost: HOST,
    authorize: "https://threads.net/oauth/authorize",
    basicScope: "threads_basic",
    now,
    shape: ({ token }) => ({ access_token: token, user_id: Number(USER_ID) }),
  });
  const state = {
    quota: 250,
    /** So many containers from now on are refused, as their media were not fetched. */
    unfetched: 0,
    refusesReplies: false,
    /** An Instagram account is linked to this one. */
    isLinked: true,
    insightsCode: null as number | null,
  };
  const ok = (body: object): Answer => ({ status: 200, body });
  const may =
    (scope: string, handle: (call: Call) => Answer) =>
    (call: Call): Answer =>
      tokens.scopesOf(call.token).includes(`threads_${scope}`) ? handle(call) : refusal(10);

  const edges: Part = {
    base: `https://${HOST}/v1.0`,
    read: described,
    isSigned: true,
    handlers: {
      "POST /me/threads": may("content_publish", (call) => {
        const { fields, token } = call;
        const lacks = (field: string, scope: string): boolean =>
          fields[field] !== undefined && !tokens.scopesOf(token).includes(`threads_${scope}`);
        const isLacking =
          lacks("location_id", "location_tagging") || lacks("crossreshare_to_ig", "share_to_instagram");
        return isLacking ? refusal(10) : create(fields);
      }),
      "POST /me/threads_publish": may("content_publish", ({ fields }) =>
        publish(fields["creation_id"] ?? ""),
      ),
      "GET /me/threads": ({ fields }) => list(fields, false),
      "GET /me/replies": may("read_replies", ({ fields }) => list(fields, true)),
      "GET /me/threads_publishing_limit": ({ fields }) => {
        const config = { quota_total: state.quota, quota_duration: 86_400 };
        const limit = { quota_usage: shelf.usedToday(), config };
        const wanted = (fields["fields"] ?? "").split(",");
        return wanted.every((field: string) => spec.fields.quota.includes(field))
          ? ok({ data: [limit] })
          : refusal(100);
      },
      "GET /me/threads_insights": may("manage_insights", ({ fields }) => accountInsights(fields)),
      "GET /location_search": may("location_tagging", ({ fields }) => {
        const wanted = (fields["fields"] ?? "").split(",");
        if (wanted.some((field: string) => !spec.fields.location.includes(field))) return refusal(100);
        return ok({
          data: [
            { id: "12345", name: `${fields["q"]} Hall`, address: "1 Hacker Way", city: "Menlo Park" },
            { id: "12346", name: `${fields["q"]} Park` },
          ],
        });
      }),
      "GET /me": ({ fields }) => {
        const me = { id: USER_ID, username: "hornblower", name: "The Horn" };
        return pick(me, (fields["fields"] ?? "").split(","), spec.fields.me);
      },
      "GET /{id}/insights": may("manage_insights", ({ fields, ids }) => insights(fields, ids[0] ?? "")),
      "GET /{id}": ({ fields, ids }) => read(ids[0] ?? "", (fields["fields"] ?? "").split(",")),
      "DELETE /{id}": may("delete", ({ ids }) => {
        const post = shelf.find(ids[0] ?? "");
        if (post === undefined) return refusal(100, 33);
        post.isDeleted = true;
        return ok({ success: true, deleted_id: post.id });
      }),
    },
  };
  const door = createMetaDoor([edges, tokens.part], tokens.isAlive);

  function create(fields: Fields): Answer {
    const { media_type: type, text = "", image_url: image, video_url: film, children } = fields;
    const isChild = fields["is_carousel_item"] === "true";
    // No emoji counts less than its bytes.
    if (measureText(text.replace(/\p{Extended_Pictographic}/gu, "xxxx"), "characters") > 500)
      return refusal(100);
    if (new Set(text.match(/https?:\/\/\S+/g) ?? []).size > 5) return links();
    if (isChild && (text !== "" || type === "CAROUSEL" || type === "TEXT")) return refusal(100);
    if (fields["auto_publish_text"] !== undefined) return refusal(100);
    const replyTo = fields["reply_to_id"];
    if (replyTo !== undefined && (state.refusesReplies || shelf.find(replyTo) === undefined))
      return refusal(100, 33);
    const has = { TEXT: "", IMAGE: "image", VIDEO: "film", CAROUSEL: "children" }[type ?? ""];
    const given = [image && "image", film && "film", children && "children"].filter(
      (one) => one !== undefined,
    );
    if (given.join() !== has) return refusal(100);
    if (type !== "TEXT" && fields["link_attachment"] !== undefined) return refusal(100);
    if (fields["poll_attachment"] !== undefined) {
      const poll = JSON.parse(String(fields["poll_attachment"])) as Record<string, string>;
      const isFit = Object.entries(poll).every(
        ([name, option], at) => name === `option_${"abcd"[at]}` && option.length >= 1 && option.length <= 25,
      );
      if (
        !isFit ||
        Object.keys(poll).length < 2 ||
        type !== "TEXT" ||
        fields["link_attachment"] !== undefined
      )
        return refusal(100);
    }
    if (fields["text_attachment"] !== undefined) {
      const { plaintext } = JSON.parse(String(fields["text_attachment"])) as { plaintext: string };
      if (plaintext.length > 10_000 || type !== "TEXT" || fields["poll_attachment"] !== undefined)
        return refusal(100);
    }
    if (fields["gif_attachment"] !== undefined) {
      const gif = JSON.parse(fields["gif_attachment"]) as Record<string, string>;
      const isGif = Object.keys(gif).sort().join() === "gif_id,provider" && gif["provider"] === "GIPHY";
      if (!isGif || type !== "TEXT") return refusal(100);
    }
    if (fields["text_entities"] !== undefined && !areSpoilers(fields["text_entities"], text))
      return refusal(100);
    if (type === "TEXT" && text === "" && fields["link_attachment"] === undefined) return refusal(100);
    const url = image ?? film;
    if (url !== undefined && state.unfetched > 0) {
      state.unfetched -= 1;
      return refusal(9_004, 2_207_052);
    }
    if (
      url !== undefined &&
      !(/^https:\/\/[\x21-\x7e]+$/.test(url) && isFit(fetched(url), film !== undefined))
    )
      shelf.state.failing = { status: film === undefined ? "UNKNOWN" : "FAILED_DOWNLOADING_VIDEO", times: 1 };
    if (type === "CAROUSEL") {
      const ids = (children ?? "").split(",");
      if (ids.length < 2 || ids.length > 20) return refusal(100);
      const isReady = ids.every(
        (id) =>
          shelf.statusOf(id) === "FINISHED" &&
          shelf.containers.get(id)?.fields["is_carousel_item"] === "true",
      );
      if (!isReady) return refusal(24, 4_279_009);
    }
    return ok({ id: shelf.add(fields) });
  }

  function links(): Answer {
    const error = {
      message: "THREADS_API__LINK_LIMIT_EXCEEDED: too many",
      type: "THApiException",
      code: 100,
    };
    return { status: 400, body: { error } };
  }

  function publish(id: string): Answer {
    const status = shelf.statusOf(id);
    if (status === null || status === "EXPIRED" || status === "IN_PROGRESS") return refusal(24, 4_279_009);
    if (status !== "FINISHED") return refusal(100);
    const isReply = shelf.containers.get(id)?.fields["reply_to_id"] !== undefined;
    if (!isReply && shelf.usedToday() >= state.quota) return refusal(9, 2_207_042, 403);
    const post = shelf.publish(id);
    const isShared = post.fields["crossreshare_to_ig"] === "true";
    const shared = { crossreshare_to_ig_status: state.isLinked ? "SUCCESS" : "FAILED" };
    return ok({ id: post.id, ...(isShared ? shared : {}) });
  }

  const show = ({ id, at, fields }: Published): Record<string, unknown> => ({
    id,
    text: fields["text"],
    timestamp: metaTime(at),
    permalink: `https://www.threads.net/@hornblower/post/D${id.slice(-6)}`,
    media_type: "TEXT_POST",
  });
  const isReply = ({ fields }: Published): boolean => fields["reply_to_id"] !== undefined;

  function list(fields: Fields, replies: boolean): Answer {
    const since = Number(fields["since"] ?? 0) * 1_000;
    const found = shelf.listed().filter((post) => isReply(post) === replies && post.at >= since);
    return ok(pageOf(found.map(show), fields));
  }

  function read(id: string, wanted: readonly string[]): Answer {
    const status = shelf.statusOf(id);
    const failure = shelf.containers.get(id)?.failure ?? null;
    if (status !== null)
      return pick(
        { id, status, error_message: status === "ERROR" ? failure : null },
        wanted,
        spec.fields.container,
      );
    const post = shelf.find(id);
    return post === undefined ? refusal(100, 33) : pick(show(post), wanted, spec.fields.media);
  }

  function insights({ metric }: Call["fields"], id: string): Answer {
    if (state.insightsCode !== null) return refusal(state.insightsCode);
    if (shelf.find(id) === undefined) return refusal(100, 33);
    const data = metric.map((name: string, at: number) => ({
      name,
      period: "lifetime",
      values: [{ value: 10 + at }],
    }));
    return ok({ data });
  }

  function accountInsights({ metric, since, until }: Call["fields"]): Answer {
    if (Number(since) < 1_712_991_600 || Number(until) <= Number(since)) return refusal(100);
    const data = metric.map((name: string) => {
      if (name === "clicks")
        return { name, link_total_values: [{ value: 2, link_url: "https://a.example" }] };
      if (name !== "views") return { name, period: "day", total_value: { value: 7 } };
      const values: object[] = [];
      for (let day = Number(since); day < Number(until); day += 86_400)
        values.push({ value: 5, end_time: metaTime((day + 86_400) * 1_000) });
      return { name, period: "day", values };
    });
    return ok({ data });
  }

  return { door, tokens, shelf, state, isReply };
}

export type Threads = ReturnType<typeof createThreads>;

/** Ten at most, within the text. */
function areSpoilers(json: string, text: string): boolean {
  const all = JSON.parse(json) as { entity_type: string; offset: number; length: number }[];
  const end = [...text].length;
  return (
    all.length <= 10 &&
    all.every(
      ({ entity_type, offset, length, ...rest }) =>
        entity_type === "SPOILER" &&
        offset >= 0 &&
        length >= 1 &&
        offset + length <= end &&
        Object.keys(rest).length === 0,
    )
  );
}

function isFit(bytes: Buffer | null, isFilm: boolean): boolean {
  if (bytes === null) return false;
  return isFilm
    ? bytes.subarray(4, 8).toString() === "ftyp"
    : [0xff_d8, 0x89_50].includes(bytes.readUInt16BE(0));
}

import { Readable } from "node:stream";
import { OutboundFailure, type Outbound, type OutboundRequest } from "../../../src/ports/outbound.ts";
import { json, readAll, refusal, UNAUTHORIZED, type Answer, type Incoming } from "./answers.ts";
import { createWords, partsOf } from "./words.ts";
import { createTokens } from "./tokens.ts";
import { describedBy, type Described } from "../../support/described.ts";
import { createUploads } from "./uploads.ts";
import { createVideos } from "./videos.ts";

export interface FakeOptions {
  now(): number;
  /** Where session addresses lie; default Google's. */
  readonly origin?: string;
}

const CHANNEL = {
  kind: "youtube#channel",
  id: "UChorn00000000000000000",
  snippet: {
    title: "Horn Channel",
    customUrl: "@horn",
    country: "DE",
    thumbnails: { default: { url: "https://yt3.ggpht.com/horn.jpg" } },
  },
  contentDetails: { relatedPlaylists: { uploads: "UUhorn00000000000000000" } },
  statistics: { subscriberCount: "1230", hiddenSubscriberCount: false, viewCount: "5", videoCount: "2" },
  status: { longUploadsStatus: "allowed", privacyStatus: "public" },
};

/** Google's own description of the operations that are called; the file names its source. */
const read = describedBy(new URL("./spec.json", import.meta.url));

/**
 * YouTube, strictly: each request is held to the discovery document, files come in sessions, chunk by chunk,
 * and time makes scheduled videos public. `wrong` says what a real one would have been right to refuse.
 */
export function createFakeYoutube(options: FakeOptions) {
  const { now } = options;
  const wrong: string[] = [];
  const requests: string[] = [];
  const state = {
    channels: [CHANNEL] as (typeof CHANNEL)[],
    /** Answers the next request to a method itself. */
    next: new Map<string, Answer[]>(),
    report: (_query: URLSearchParams): unknown => ({
      columnHeaders: [],
      kind: "youtubeAnalytics#resultTable",
    }),
    units: 0,
  };
  const videos = createVideos(now, CHANNEL.contentDetails.relatedPlaylists.uploads);
  const uploads = createUploads({
    now,
    wrong,
    videos,
    origin: options.origin ?? "https://www.googleapis.com",
  });
  const words = createWords({ now, wrong, videos, channelId: CHANNEL.id });
  const tokens = createTokens(wrong);

  async function answerTo(request: Incoming): Promise<Answer> {
    const { method, url, headers } = request;
    if (url.pathname.endsWith("/token")) return tokens.answer(await readAll(request.body), headers);
    if (url.pathname.endsWith("/revoke")) return tokens.revoke(await readAll(request.body));
    if (uploads.isSession(url)) return (await meet("session", request)) ?? uploads.put(request);
    const bytes = await readAll(request.body);
    const parts = url.pathname.endsWith("/captions")
      ? partsOf(headers, bytes)
      : { headers, body: bytes, file: "" };
    if (typeof parts === "string") return complain(parts);
    const asked = await read({ method, url: url.href, ...parts }, url.origin);
    if (typeof asked === "string") return complain(asked);
    const { name, given } = asked;
    if (Object.values(given).includes("")) return complain(`${name}: an empty parameter`);
    const met = await meet(name, request);
    if (met !== null) return met;
    state.units += method === "GET" ? 1 : name === "POST /upload/youtube/v3/videos" ? 0 : 50;
    // What is sent is named by its parts.
    const unnamed = Object.keys(asked.body ?? {}).find(
      (part) => part !== "id" && !given["part"]?.includes(part),
    );
    if (unnamed !== undefined && !Buffer.isBuffer(asked.body))
      return complain(`${name}: part does not name ${unnamed}`);
    return perform(asked, request, parts.file);
  }

  /** What is answered instead; null: nothing. */
  async function meet(name: string, { headers, body }: Incoming): Promise<Answer | null> {
    requests.push(name);
    const planned = state.next.get(name)?.shift() ?? null;
    const met = planned === null && !tokens.isLive(headers["authorization"]) ? UNAUTHORIZED : planned;
    if (met !== null) await readAll(body);
    return met;
  }

  function complain(problem: string): Answer {
    wrong.push(problem);
    return refusal(400, "badRequest", problem, "global");
  }

  function perform(asked: Described, request: Incoming, file: string): Answer {
    const { name, query, body } = asked;
    switch (name) {
      case "POST /upload/youtube/v3/videos":
        return uploads.begin(request, body);
      case "POST /upload/youtube/v3/thumbnails/set":
        return uploads.thumbnail(asked);
      case "GET /youtube/v3/channels":
        return query.get("mine") === "true"
          ? json({ kind: "youtube#channelListResponse", items: state.channels })
          : complain("channels.list without mine");
      case "GET /v2/reports":
        return json(state.report(query));
      default:
        return (
          words.perform(asked, file) ?? videos.perform(name, query, body) ?? complain(`${name} is not played`)
        );
    }
  }

  const outbound: Outbound = {
    assertAllowed: (_field, url) => new URL(url),
    async request(request) {
      const answer = await answerTo(toIncoming(request)).catch((cause: unknown) => {
        throw new OutboundFailure("The body broke off.", true, { cause });
      });
      return { ...toWire(answer), url: request.url };
    },
  };
  return { outbound, answerTo, videos, uploads, words, tokens, state, wrong, requests };
}

function toIncoming({ method, url, headers = {}, body }: OutboundRequest): Incoming {
  const whole = body === undefined ? [] : typeof body === "string" ? [Buffer.from(body)] : body;
  return {
    method,
    url: new URL(url),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    body: Buffer.isBuffer(whole) ? Readable.from([whole]) : Readable.from(whole),
  };
}

/** Headers and body as they go over the wire. */
export function toWire({ status, headers = {}, json: value, text = "" }: Answer) {
  const words = value === undefined ? text : JSON.stringify(value);
  const type = value === undefined ? {} : { "content-type": "application/json; charset=UTF-8" };
  return { status, headers: { ...type, ...headers }, body: Readable.from([Buffer.from(words)]) };
}

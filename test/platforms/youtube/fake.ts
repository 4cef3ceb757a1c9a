import { Readable } from "node:stream";
import { OutboundFailure, type Outbound, type OutboundRequest } from "../../../src/ports/outbound.ts";
import { json, readAll, refusal, UNAUTHORIZED, type Answer, type Incoming } from "./answers.ts";
import { createWords } from "./words.ts";
import { createTokens } from "./tokens.ts";
import { methodOf, problemsOfBody, problemsOfQuery } from "./spec.ts";
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
    const isSession = uploads.isSession(url);
    const found = isSession ? null : methodOf(method, url.pathname);
    const name = isSession ? "session" : (found?.id ?? `${method} ${url.pathname}`);
    requests.push(name);
    const planned = state.next.get(name)?.shift();
    if (planned !== undefined) {
      await readAll(request.body);
      return planned;
    }
    if (!tokens.isLive(headers["authorization"])) {
      await readAll(request.body);
      return UNAUTHORIZED;
    }
    if (isSession) return uploads.put(request);
    if (found === null) return complain(`${method} ${url.pathname} is not in the API`);
    const problems = problemsOfQuery(found, url.searchParams);
    if (problems.length > 0) return complain(`${name}: ${problems.join(", ")}`);
    state.units += found.httpMethod === "GET" ? 1 : name === "youtube.videos.insert" ? 0 : 50;
    if (found.isUpload && name === "youtube.thumbnails.set") return uploads.thumbnail(request);
    if (found.isUpload && name === "youtube.captions.insert") return words.caption(found, request);
    const bytes = await readAll(request.body);
    if (found.request === undefined) {
      if (bytes.length > 0) return complain(`${name}: a body where none belongs`);
      return perform(name, url.searchParams, null);
    }
    if (!(headers["content-type"] ?? "").startsWith("application/json")) return complain(`${name}: no JSON`);
    const body = JSON.parse(bytes.toString()) as Record<string, Record<string, unknown>>;
    const parts = (url.searchParams.get("part") ?? "").split(",");
    const faults = problemsOfBody(found, body, parts);
    if (faults.length > 0) return complain(`${name}: ${faults.join(", ")}`);
    if (name === "youtube.videos.insert") return uploads.begin(request, body);
    return perform(name, url.searchParams, body);
  }

  function complain(problem: string): Answer {
    wrong.push(problem);
    return refusal(400, "badRequest", problem, "global");
  }

  function perform(
    name: string,
    query: URLSearchParams,
    body: Record<string, Record<string, unknown>> | null,
  ): Answer {
    switch (name) {
      case "youtube.channels.list":
        return query.get("mine") === "true"
          ? json({ kind: "youtube#channelListResponse", items: state.channels })
          : complain("channels.list without mine");
      case "youtubeAnalytics.reports.query":
        return json(state.report(query));
      default:
        return (
          words.perform(name, query, body) ??
          videos.perform(name, query, body) ??
          complain(`${name} is not played`)
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

import { json, readAll, type Answer, type Incoming } from "../youtube/answers.ts";
import type { Described } from "../../support/described.ts";
import { doorTo } from "./door.ts";
import { problem, read } from "./spec.ts";
import { createTokens, PERSON } from "./tokens.ts";
import { createUploads } from "./uploads.ts";
import { createVideos } from "./videos.ts";

export const SERVER = "https://tube.example";
const API = `${SERVER}/api/v1`;
const UPLOADS = "/api/v1/videos/upload-resumable";

/** What is answered without a token. */
const OPEN: readonly string[] = ["GET /oauth-clients/local", "POST /users/token", "GET /config"];

export const CHANNELS = [
  {
    id: 7,
    name: "horns",
    displayName: "Horns",
    avatars: [{ path: "/lazy-static/avatars/7.png", width: 120 }],
  },
  {
    id: 8,
    name: "other",
    displayName: "Other",
    avatars: [{ fileUrl: "https://cdn.example/8.png", width: 120 }],
  },
];

/**
 * A PeerTube server, strictly: requests are held to its OpenAPI description, films come in sessions, and its
 * scheduler makes videos public. `wrong` says what a real one would have been right to refuse.
 */
export function createFakePeertube({ now }: { now(): number }) {
  const wrong: string[] = [];
  const requests: string[] = [];
  const videos = createVideos(now);
  const uploads = createUploads(videos, wrong);
  const tokens = createTokens(now);
  const state = {
    channels: CHANNELS as readonly (typeof CHANNELS)[number][],
    quota: -1,
    views: [] as { date: string; views: number }[],
    /** Answers the next request to it itself. */
    next: new Map<string, Answer[]>(),
  };

  async function answerTo(request: Incoming): Promise<Answer> {
    const { method, url, headers } = request;
    if (method === "PUT" && url.origin === SERVER && url.pathname === UPLOADS)
      return (await meet("PUT /videos/upload-resumable", request)) ?? uploads.put(request);
    const bytes = await readAll(request.body);
    const asked = await read({ method, url: url.href, headers, body: bytes }, API);
    if (typeof asked === "string") return complain(asked);
    return (await meet(asked.name, request)) ?? perform(asked, request);
  }

  /** What is answered instead; null: nothing. */
  async function meet(name: string, { headers, body }: Incoming): Promise<Answer | null> {
    requests.push(name);
    const planned = state.next.get(name)?.shift() ?? null;
    const isOpen = OPEN.includes(name) || tokens.isLive(headers["authorization"]);
    const met = planned ?? (isOpen ? null : problem(401, "invalid_token", "Token is invalid"));
    if (met !== null) await readAll(body);
    return met;
  }

  function perform({ name, id, given, query }: Described, { headers }: Incoming): Answer | Promise<Answer> {
    switch (name) {
      case "GET /oauth-clients/local":
        return tokens.client();
      case "POST /users/token":
        return tokens.answer(given, headers);
      case "GET /config":
        return json({ video: { file: { extensions: uploads.extensions } } });
      case "POST /users/revoke-token":
        return tokens.revoke(headers["authorization"] ?? "");
      case "GET /users/me":
        return json({
          id: 3,
          username: PERSON.username,
          videoQuota: state.quota,
          videoQuotaDaily: -1,
          videoChannels: state.channels,
        });
      case "GET /users/me/videos":
        return videos.list(query);
      case "GET /accounts/{name}/video-channels":
        return id === PERSON.username && given["withStats"] === true
          ? json({
              total: state.channels.length,
              data: state.channels.map((one) => ({ ...one, followersCount: 5, viewsPerDay: state.views })),
            })
          : complain(name);
      case "GET /videos/categories":
        return json({ 1: "Music", 2: "Films", 15: "Science & Technology" });
      case "GET /videos/licences":
        return json({ 1: "Attribution", 7: "Public Domain Dedication" });
      case "POST /videos/upload-resumable":
        return uploads.begin(headers, given);
      case "GET /videos/{id}":
        return videos.get(id);
      case "GET /videos/{id}/source":
        return videos.source(id);
      case "PUT /videos/{id}":
        return videos.update(id, given);
      default:
        return videos.remove(id);
    }
  }

  function complain(what: string): Answer {
    wrong.push(what);
    return problem(400, "bad_request", what);
  }
  return { outbound: doorTo(answerTo), answerTo, videos, uploads, tokens, state, wrong, requests };
}

import { json, readAll, type Answer, type Incoming } from "../youtube/answers.ts";
import { doorTo, readForm } from "./door.ts";
import { problem } from "./spec.ts";
import { createTokens, PERSON } from "./tokens.ts";
import { createUploads } from "./uploads.ts";
import { createVideos } from "./videos.ts";

export const SERVER = "https://tube.example";
const API = "/api/v1/";

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
  const tokens = createTokens(now, wrong);
  const state = {
    channels: CHANNELS as readonly (typeof CHANNELS)[number][],
    quota: -1,
    views: [] as { date: string; views: number }[],
    /** Answers the next request to it itself. */
    next: new Map<string, Answer[]>(),
  };

  async function answerTo(request: Incoming): Promise<Answer> {
    const { method, url, headers } = request;
    if (url.origin !== SERVER || !url.pathname.startsWith(API)) return complain(`${url.href} is elsewhere`);
    const path = url.pathname.slice(API.length);
    const name = `${method} ${path.replace(/^videos\/[\w-]{18,}(?=\/|$)/, "videos/{id}")}`;
    requests.push(name);
    const planned = state.next.get(name)?.shift();
    if (planned !== undefined) {
      await readAll(request.body);
      return planned;
    }
    if (name === "GET oauth-clients/local") return tokens.client();
    if (name === "POST users/token") return tokens.answer(await readAll(request.body), headers);
    if (name === "GET config") return json({ video: { file: { extensions: uploads.extensions } } });
    if (!tokens.isLive(headers["authorization"])) {
      await readAll(request.body);
      return problem(401, "invalid_token", "Token is invalid");
    }
    return perform(name, request);
  }

  async function perform(name: string, request: Incoming): Promise<Answer> {
    const { url, headers } = request;
    const id = decodeURIComponent(url.pathname.split("/")[4] ?? "");
    switch (name) {
      case "POST users/revoke-token":
        return tokens.revoke(headers["authorization"] ?? "");
      case "GET users/me":
        return json({
          id: 3,
          username: PERSON.username,
          videoQuota: state.quota,
          videoQuotaDaily: -1,
          videoChannels: state.channels,
        });
      case "GET users/me/videos":
        return videos.list(url.searchParams);
      case `GET accounts/${PERSON.username}/video-channels`:
        return url.searchParams.get("withStats") === "true"
          ? json({
              total: state.channels.length,
              data: state.channels.map((one) => ({ ...one, followersCount: 5, viewsPerDay: state.views })),
            })
          : complain(name);
      case "GET videos/categories":
        return json({ 1: "Music", 2: "Films", 15: "Science & Technology" });
      case "GET videos/licences":
        return json({ 1: "Attribution", 7: "Public Domain Dedication" });
      case "POST videos/upload-resumable":
        return uploads.begin(request);
      case "PUT videos/upload-resumable":
        return uploads.put(request);
      case "GET videos/{id}":
        return videos.get(id);
      case "GET videos/{id}/source":
        return videos.source(id);
      case "PUT videos/{id}": {
        const type = headers["content-type"] ?? "";
        const bytes = await readAll(request.body);
        if (!type.startsWith("multipart/form-data")) return complain(`${name} as ${type}`);
        return videos.update(id, await readForm(bytes, type));
      }
      case "DELETE videos/{id}":
        return videos.remove(id);
      default:
        return complain(`${name} is not in the API`);
    }
  }

  function complain(what: string): Answer {
    wrong.push(what);
    return problem(400, "bad_request", what);
  }
  return { outbound: doorTo(answerTo), answerTo, videos, uploads, tokens, state, wrong, requests };
}

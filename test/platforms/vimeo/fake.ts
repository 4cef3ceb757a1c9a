import { json, readAll, type Answer, type Incoming } from "../youtube/answers.ts";
import { doorTo } from "../peertube/door.ts";
import type { Described } from "../../support/described.ts";
import { read, refusal, UNAUTHORIZED } from "./spec.ts";
import { createVideos } from "./videos.ts";

export const APP = { id: "vimeo-client", secret: "vimeo-client-secret-canary" };
const API = "https://api.vimeo.com";
const ME = {
  uri: "/users/152184",
  name: "Horn Films",
  link: "https://vimeo.com/hornfilms",
  pictures: { sizes: [{ width: 30, link: "https://i.vimeocdn.com/portrait/1_30x30" }] },
  metadata: { connections: { followers: { total: 9 } } },
};

/** Vimeo's API 3.4, strictly. `wrong` says what a real one would have been right to refuse. */
export function createFakeVimeo({ now }: { now(): number }) {
  const wrong: string[] = [];
  const requests: string[] = [];
  const tokens = new Set<string>();
  const codes = new Map<string, { redirect: string; scope: string }>();
  const videos = createVideos(now, wrong);
  const state = {
    me: ME as Record<string, unknown>,
    scope: "public private upload edit delete stats",
    /** Answers the next request to it itself. */
    next: new Map<string, Answer[]>(),
    revoked: [] as string[],
    grant(): string {
      const token = `vimeo-token-${tokens.size + 1}`;
      tokens.add(token);
      return token;
    },
    revokeAll: () => tokens.clear(),
    /** The person agrees; what they come back with. */
    consent(address: string, granted?: string): Record<string, string> {
      const { origin, pathname, searchParams: asked } = new URL(address);
      if (`${origin}${pathname}` !== `${API}/oauth/authorize`) wrong.push(address);
      if (asked.get("response_type") !== "code" || asked.get("client_id") !== APP.id) wrong.push("authorize");
      const code = `code-${codes.size + 1}`;
      const scope = granted ?? asked.get("scope") ?? "";
      codes.set(code, { redirect: asked.get("redirect_uri") ?? "", scope });
      return { code, state: asked.get("state") ?? "" };
    },
  };

  async function answerTo(request: Incoming): Promise<Answer> {
    const { method, url, headers } = request;
    if (videos.isFilePlace(url)) return (await meet(`${method} file`, request)) ?? videos.takeFile(request);
    const bytes = await readAll(request.body);
    if (url.href === `${API}/oauth/access_token` && method === "POST")
      return (await meet("POST /oauth/access_token", request)) ?? exchange(bytes, headers["authorization"]);
    const asked = await read({ method, url: url.href, headers, body: bytes }, API);
    if (typeof asked === "string") return complain(asked);
    const met = await meet(asked.name, request);
    if (met !== null) return met;
    const token = /^bearer (.+)$/i.exec(headers["authorization"] ?? "")?.[1] ?? "";
    if (!tokens.has(token)) return UNAUTHORIZED;
    if (headers["accept"] !== "application/vnd.vimeo.*+json;version=3.4")
      return complain(`${asked.name}: accept`);
    return perform(asked, token);
  }

  /** What is answered instead; null: nothing. */
  async function meet(name: string, { body }: Incoming): Promise<Answer | null> {
    requests.push(name);
    const planned = state.next.get(name)?.shift() ?? null;
    if (planned !== null) await readAll(body);
    return planned;
  }

  function perform(asked: Described, token: string): Answer {
    const { name, query, body } = asked;
    switch (name) {
      case "GET /me":
        return json(state.me);
      case "GET /oauth/verify":
        return json({ scope: state.scope, app: { name: "Posthorn" }, user: state.me });
      case "DELETE /tokens":
        state.revoked.push(token);
        tokens.delete(token);
        return { status: 204 };
      case "GET /me/videos":
        return json({ data: videos.list(query).map(videos.shape) });
      case "POST /me/videos":
        return json(videos.shape(videos.create(body)), 201);
      default:
        return ofVideo(asked);
    }
  }

  function ofVideo({ name, ids: [id = "", part], body }: Described): Answer {
    const video = videos.all.get(id);
    if (video === undefined) return refusal(404, 5000);
    switch (name) {
      case "GET /videos/{id}":
        return json(videos.shape(video));
      case "PATCH /videos/{id}":
        videos.update(video, body);
        return json(videos.shape(video));
      case "DELETE /videos/{id}":
        videos.all.delete(id);
        return { status: 204 };
      case "PUT /videos/{id}/tags": {
        const names: string[] = body.map((tag: { name: string }) => tag.name);
        video.tags = [...new Set([...video.tags, ...names])];
        return json(names.map((tag) => ({ tag })));
      }
      case "POST /videos/{id}/pictures":
        return json(videos.addPicture(video), 201);
      default: {
        const picture = video.pictures.find((one) => one.id === part);
        if (picture === undefined || picture.bytes === null) return complain("a picture without bytes");
        for (const one of video.pictures) one.isActive = one === picture && body.active === true;
        return json({ active: picture.isActive });
      }
    }
  }

  function exchange(bytes: Buffer, authorization: string | undefined): Answer {
    const form = Object.fromEntries(new URLSearchParams(bytes.toString()));
    const basic = `Basic ${Buffer.from(`${APP.id}:${APP.secret}`).toString("base64")}`;
    if (authorization !== basic) return json({ error: "invalid_client" }, 401);
    const known = codes.get(form["code"] ?? "");
    codes.delete(form["code"] ?? "");
    if (form["grant_type"] !== "authorization_code" || known?.redirect !== form["redirect_uri"])
      return json({ error: "invalid_grant", error_description: "The code is invalid." }, 400);
    return json({ access_token: state.grant(), token_type: "bearer", scope: known?.scope, user: state.me });
  }

  function complain(what: string): Answer {
    wrong.push(what);
    return refusal(400, 2204);
  }
  return { outbound: doorTo(answerTo), answerTo, videos, state, wrong, requests };
}

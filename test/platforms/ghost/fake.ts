import { OutboundFailure, type Outbound, type OutboundResponse } from "../../../src/ports/outbound.ts";
import { createPosts } from "./posts.ts";
import { readRequest, refusal, tokenProblem, type GhostRequest, type Key } from "./requests.ts";
import { answerOf } from "../../support/described.ts";

export const SITE = "https://blog.example/horns";
const API = `${SITE}/ghost/api/admin`;

export const KEY: Key = { id: "5f8e1a2b3c4d5e6f70819203", secret: "ab".repeat(32) };
export const ADMIN_KEY = `${KEY.id}:${KEY.secret}`;

const TYPES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  images: { ".jpg": "image/jpeg", ".png": "image/png", ".gif": "image/gif", ".webp": "image/webp" },
  media: {
    ".mp4": "video/mp4",
    ".webm": "video/webm",
    ".mp3": "audio/mpeg",
    ".m4a": "audio/mp4",
    ".ogg": "audio/ogg",
    ".wav": "audio/wav",
  },
};

interface Options {
  readonly now: () => number;
  readonly version?: string;
  readonly soonestMs?: number;
}

/** A Ghost site behind the outbound client: strict about every request. `wrong`: what it does not know of one. */
export function createFakeGhost({ now, version = "6.65", soonestMs = 120_000 }: Options) {
  const posts = createPosts({ now, url: SITE, soonestMs });
  const wrong: string[] = [];
  const calls: GhostRequest[] = [];
  const files: string[] = [];
  const site = { title: "Horns", url: `${SITE}/`, icon: null, logo: `${SITE}/logo.png`, version };

  const upload = ({ name, file }: GhostRequest): OutboundResponse => {
    const kind = name.includes("/images/") ? "images" : "media";
    const ending = /\.\w+$/.exec(file?.name ?? "")?.[0] ?? "";
    if (TYPES[kind]?.[ending] !== file?.type)
      return refusal(415, "UnsupportedMediaTypeError", "The file type you uploaded is not supported.");
    const url = `${SITE}/content/${kind}/2026/11/${files.length}${ending}`;
    files.push(url);
    return answerOf(201, { [kind]: [{ url, ref: null }] });
  };

  const serve = (request: GhostRequest): OutboundResponse => {
    switch (request.name) {
      case "GET /members/":
        return answerOf(200, { members: [], meta: { pagination: { total: 42 } } });
      case "GET /newsletters/":
        return answerOf(200, { newsletters: posts.state.newsletters });
      case "GET /users/":
        return answerOf(200, { users: [{ email: "alice@blog.example", name: "Alice" }] });
      default:
        return request.file === null ? posts.serve(request) : upload(request);
    }
  };

  const door: Outbound = {
    assertAllowed: (_field, url) => new URL(url),
    request: async (request) => {
      if (!request.url.startsWith(`${API}/`)) {
        if (request.url.startsWith("https://blog.example/")) return answerOf(404, "<h1>Not found</h1>");
        throw new OutboundFailure(`Nobody is at ${request.url}.`, false);
      }
      const read = await readRequest(request, API);
      if (typeof read === "string") {
        wrong.push(read);
        return refusal(404, "NotFoundError", "Resource not found");
      }
      calls.push(read);
      if (read.name === "POST /posts/" && posts.all().some(({ slug }) => slug === read.post.slug))
        wrong.push("a second article of one post");
      if (read.name === "GET /site/") return answerOf(200, { site });
      const token = /^Ghost (.+)$/.exec(request.headers?.["authorization"] ?? "")?.[1];
      const problem = token === undefined ? null : tokenProblem(token, KEY, now());
      if (token === undefined) return refusal(403, "NoPermissionError", "Authorization failed");
      if (problem !== null) return refusal(401, "UnauthorizedError", problem.message, { code: problem.code });
      return serve(read);
    },
  };
  return { door, posts, wrong, calls, files };
}
export type FakeGhost = ReturnType<typeof createFakeGhost>;

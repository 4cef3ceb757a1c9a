import { json, readAll, refusal, type Answer, type Incoming } from "./answers.ts";
import type { Described } from "../../support/described.ts";
import { problemOf, type FakeVideos } from "./videos.ts";

const GRAIN = 256 * 1024;

interface Session {
  readonly body: { snippet: Record<string, unknown>; status: Record<string, unknown> };
  readonly notifies: boolean;
  readonly total: number;
  readonly mimeType: string;
  received: number;
  chunkBytes: number | null;
  /** What it answered at its end, repeated from then on. */
  last: Answer | null;
}

interface Parts {
  now(): number;
  readonly wrong: string[];
  readonly videos: FakeVideos;
  readonly origin: string;
}

/** Resumable sessions after Google's protocol, and thumbnails. Bytes are counted, not kept. */
export function createUploads({ now, wrong, videos, origin }: Parts) {
  const sessions = new Map<string, Session>();
  const self = {
    sessions,
    /** Of all chunks, those that came twice too. */
    bytesIn: 0,
    chunks: 0,
    /** Called with each chunk as it begins and once it is stored, before the answer. */
    onChunk: async (_chunk: number, _when: "begun" | "stored"): Promise<void> => {},
    /** All that is under way is forgotten. */
    forgetAll: () => sessions.clear(),
    isSession: (url: URL) => url.searchParams.has("upload_id"),
    begin({ url, headers }: Incoming, body: Record<string, Record<string, unknown>>): Answer {
      const { snippet, status } = body;
      const total = Number(headers["x-upload-content-length"]);
      const mimeType = headers["x-upload-content-type"] ?? "";
      if (!Number.isInteger(total) || total < 1) return complain("x-upload-content-length");
      if (!mimeType.startsWith("video/") && mimeType !== "application/octet-stream")
        return complain(`x-upload-content-type ${mimeType}`);
      if (snippet === undefined || status === undefined) return complain("a part is missing");
      const problem = problemOf(snippet) ?? timeProblem(status);
      if (problem !== null) return problem;
      const id = `up${sessions.size + 1}`;
      const notifies = url.searchParams.get("notifySubscribers") !== "false";
      sessions.set(id, {
        body: { snippet, status },
        notifies,
        total,
        mimeType,
        received: 0,
        chunkBytes: null,
        last: null,
      });
      const location = `${origin}/upload/youtube/v3/videos?uploadType=resumable&part=snippet,status&upload_id=${id}`;
      return { status: 200, headers: { location } };
    },
    async put(request: Incoming): Promise<Answer> {
      const session = sessions.get(request.url.searchParams.get("upload_id") ?? "");
      const range = request.headers["content-range"] ?? "";
      if (request.method !== "PUT") return complain(`session by ${request.method}`);
      if (session === undefined) {
        await readAll(request.body);
        return { status: 404, text: "Not Found" };
      }
      const asked = /^bytes \*\/(\d+)$/.exec(range);
      if (asked !== null) {
        if (request.headers["content-length"] !== "0") return complain("a question with a length");
        if ((await readAll(request.body)).length > 0) return complain("a question with a body");
        if (Number(asked[1]) !== session.total) return complain("a question about another size");
        return session.last ?? progress(session);
      }
      if (session.last !== null) return complain("a chunk for a session that is over");
      return takeChunk(request, session, range);
    },
    thumbnail({ given, body: bytes }: Described): Answer {
      const id: string = given["videoId"];
      if (bytes.length > 2_097_152) return refusal(413, "uploadTooLarge", "The file is too large.", "global");
      if (!videos.isVerified)
        return refusal(
          403,
          "forbidden",
          "The authenticated user doesn't have permissions to upload and set custom video thumbnails.",
          "youtube.thumbnail",
        );
      if (!videos.all.has(id)) return refusal(404, "videoNotFound", "Not found.", "youtube.thumbnail");
      videos.thumbnails.set(id, [...(videos.thumbnails.get(id) ?? []), bytes]);
      return json({ kind: "youtube#thumbnailSetResponse", items: [{}] });
    },
  };

  async function takeChunk(request: Incoming, session: Session, range: string): Promise<Answer> {
    const [, first, last, total] = (/^bytes (\d+)-(\d+)\/(\d+)$/.exec(range) ?? []).map(Number);
    if (first === undefined || last === undefined || total !== session.total)
      return complain(`range ${range}`);
    const size = last + 1 - first;
    const isLast = last + 1 === session.total;
    if (first !== session.received) return complain(`a chunk at ${first} where ${session.received} is next`);
    if (Number(request.headers["content-length"]) !== size) return complain("a chunk of another length");
    if (request.headers["content-type"] !== session.mimeType) return complain("a chunk of another type");
    if (!isLast && size % GRAIN !== 0) return complain(`a chunk of ${size} bytes`);
    if (!isLast && (session.chunkBytes ?? size) !== size) return complain("chunks of several sizes");
    session.chunkBytes ??= size;
    self.chunks += 1;
    const chunk = self.chunks;
    await self.onChunk(chunk, "begun");
    let came = 0;
    try {
      for await (const part of request.body) {
        came += part.length;
        self.bytesIn += part.length;
      }
    } finally {
      // What of it came is kept in whole grains.
      session.received += came === size ? size : Math.floor(came / GRAIN) * GRAIN;
    }
    if (came !== size) return complain("a chunk that is shorter than it says");
    if (isLast) {
      const video = videos.create(session.body, session.total, session.notifies);
      session.last = json(videos.resource(video, ["snippet", "status"]));
    }
    await self.onChunk(chunk, "stored");
    return session.last ?? progress(session);
  }

  function progress({ received }: Session): Answer {
    return { status: 308, headers: received === 0 ? {} : { range: `bytes=0-${received - 1}` } };
  }

  function timeProblem(status: Record<string, unknown>): Answer | null {
    const at = status["publishAt"];
    if (at === undefined) return null;
    const isFit =
      status["privacyStatus"] === "private" && /^\d{4}-.*Z$/.test(String(at)) && !Number.isNaN(now());
    return isFit
      ? null
      : refusal(
          400,
          "invalidPublishAt",
          "The request metadata specifies an invalid scheduled publishing time.",
          "youtube.video",
        );
  }

  function complain(problem: string): Answer {
    wrong.push(problem);
    return refusal(400, "badRequest", problem, "global");
  }
  return self;
}

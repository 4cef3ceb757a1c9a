import { json, readAll, type Answer, type Incoming } from "../youtube/answers.ts";
import { problem } from "./spec.ts";
import type { FakeVideos } from "./videos.ts";

interface Session {
  readonly body: Record<string, unknown>;
  readonly total: number;
  received: number;
  /** Of a server that keeps what it answered. */
  last: Answer | null;
}

/** Resumable uploads after node-uploadx, as PeerTube has them. Bytes are counted, not kept. */
export function createUploads(videos: FakeVideos, wrong: string[]) {
  const sessions = new Map<string, Session>();
  let count = 0;
  const self = {
    sessions,
    extensions: [".mp4", ".webm", ".mov", ".mkv"],
    /** Older servers repeat the last answer for a while; newer ones forget the session with it. */
    keepsSessions: false,
    /** Of all chunks, those that came twice too. */
    bytesIn: 0,
    chunkSizes: [] as number[],
    onChunk: async (_when: "begun" | "stored"): Promise<void> => {},
    begin(headers: Incoming["headers"], said: Readonly<Record<string, unknown>>): Answer {
      const total = Number(headers["x-upload-content-length"]);
      if (!Number.isInteger(total) || total < 1) return complain("x-upload-content-length");
      if (!(headers["x-upload-content-type"] ?? "").startsWith("video/"))
        return complain("x-upload-content-type");
      const refusal = videos.refusalOf(said);
      if (refusal !== null) return refusal;
      const extension = /\.\w+$/.exec(String(said["filename"]))?.[0] ?? "";
      if (!self.extensions.includes(extension))
        return problem(415, "invalid_file", "This file is not supported.");
      if (total > videos.freeBytes) return problem(413, "quota_reached", "The user video quota is exceeded");
      count += 1;
      sessions.set(`7-up${count}.mp4`, { body: said, total, received: 0, last: null });
      const path = `/api/v1/videos/upload-resumable?upload_id=7-up${count}.mp4`;
      return { status: 201, headers: { location: `//tube.example${path}` } };
    },
    async put(request: Incoming): Promise<Answer> {
      const id = request.url.searchParams.get("upload_id") ?? "";
      const session = sessions.get(id);
      const range = request.headers["content-range"] ?? "";
      if (session === undefined) {
        await readAll(request.body);
        return json({ error: { code: "FileNotFound", message: "Not found" } }, 404);
      }
      if (range === `bytes */${session.total}`) {
        if ((await readAll(request.body)).length > 0) return complain("a question with a body");
        if (session.last === null && session.received === session.total) return finish(id, session);
        return session.last ?? progress(session);
      }
      return takeChunk(request, { id, session, range });
    },
  };

  async function takeChunk(
    { headers, body }: Incoming,
    { id, session, range }: { id: string; session: Session; range: string },
  ): Promise<Answer> {
    const [, first, last, total] = (/^bytes (\d+)-(\d+)\/(\d+)$/.exec(range) ?? []).map(Number);
    if (first === undefined || last === undefined || total !== session.total)
      return complain(`range ${range}`);
    const size = last + 1 - first;
    if (headers["content-type"] !== "application/octet-stream") return complain("a chunk of another type");
    if (Number(headers["content-length"]) !== size) return complain("a chunk of another length");
    if (first !== session.received) {
      await readAll(body);
      return problem(409, "file_conflict", "The range does not match");
    }
    self.chunkSizes.push(size);
    await self.onChunk("begun");
    let came = 0;
    for await (const part of body) {
      came += part.length;
      self.bytesIn += part.length;
      session.received += part.length;
    }
    if (came !== size) return complain("a chunk that is shorter than it says");
    const answer = session.received === session.total ? finish(id, session) : progress(session);
    await self.onChunk("stored");
    return answer;
  }

  function finish(id: string, session: Session): Answer {
    const { id: number, uuid, shortUUID } = videos.create(session.body, session.total);
    const answer = json({ video: { id: number, uuid, shortUUID } });
    if (self.keepsSessions) session.last = answer;
    else sessions.delete(id);
    return answer;
  }

  function progress({ received }: Session): Answer {
    return { status: 308, headers: { range: `bytes=0-${received - 1}` } };
  }

  function complain(what: string): Answer {
    wrong.push(what);
    return problem(400, "bad_request", what);
  }
  return self;
}

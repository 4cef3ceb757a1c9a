import type { IncomingMessage, ServerResponse } from "node:http";
import { startCanary, type Canary } from "./canary.ts";
import { fixture } from "./media.ts";

/** A playable video of any size: players skip the box behind it. Its bytes differ from place to place. */
export function videoOf(sizeBytes: number): Buffer {
  const clip = fixture("clip.mp4");
  const box = Buffer.alloc(sizeBytes - clip.length);
  box.writeUInt32BE(box.length, 0);
  box.write("free", 4);
  for (let at = 8; at + 4 <= box.length; at += 4) box.writeUInt32LE((at * 2_654_435_761) >>> 0, at);
  return Buffer.concat([clip, box]);
}

export interface RangedSource extends Canary {
  /** What it serves, under which tag; a test may change both. */
  bytes: Buffer;
  etag: string | null;
  /** Answers itself and says so; null leaves the request to the source. */
  intercept: ((request: IncomingMessage, response: ServerResponse, part: Part) => boolean) | null;
}

export interface Part {
  readonly start: number;
  readonly end: number;
  readonly isRange: boolean;
}

/** A careful server of one file: ranges, a strong tag, `If-Match`. */
export async function startRangedSource(bytes: Buffer): Promise<RangedSource> {
  const canary = await startCanary((request, response) => {
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "");
    const start = Number(range?.[1] ?? 0);
    const last = source.bytes.length - 1;
    const end = range?.[2] ? Math.min(Number(range[2]), last) : last;
    if (source.intercept?.(request, response, { start, end, isRange: range !== null }) === true) return;
    const tag = source.etag === null ? {} : { etag: source.etag };
    const wanted = request.headers["if-match"];
    if (wanted !== undefined && wanted !== source.etag) return void response.writeHead(412).end();
    const headers = {
      "content-type": "video/mp4",
      "accept-ranges": "bytes",
      "content-length": end + 1 - start,
      ...tag,
    };
    if (range === null) response.writeHead(200, headers);
    else
      response.writeHead(206, {
        ...headers,
        "content-range": `bytes ${start}-${end}/${source.bytes.length}`,
      });
    if (request.method === "HEAD") return void response.end();
    response.end(source.bytes.subarray(start, end + 1));
  });
  const source: RangedSource = Object.assign(canary, { bytes, etag: '"v1"', intercept: null });
  return source;
}

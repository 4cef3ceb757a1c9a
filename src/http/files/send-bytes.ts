import type { Readable } from "node:stream";
import type { Request, Response } from "express";
import type { Logger } from "../../ports/logger.ts";

interface Bytes {
  readonly sizeBytes: number;
  /** Quoted, strong: the same only for the same bytes. Null where it is not known. */
  readonly etag: string | null;
  /** The bytes `start` to `end`, inclusive. */
  open(range: { start: number; end: number }): Readable;
}

/** Sends bytes, the part that was asked for, or 304. The other headers are set before. */
export function sendBytes(
  { request, response, log }: { request: Request<object>; response: Response; log: Logger },
  bytes: Bytes,
): void {
  response.set("Accept-Ranges", "bytes");
  if (bytes.etag !== null) response.set("ETag", bytes.etag);
  if (request.fresh) return void response.status(304).end();
  const range = chooseRange(request, bytes);
  if (range === "impossible")
    return void response.status(416).set("Content-Range", `bytes */${bytes.sizeBytes}`).end();
  const { start, end } = range ?? { start: 0, end: bytes.sizeBytes - 1 };
  if (range !== null) response.status(206).set("Content-Range", `bytes ${start}-${end}/${bytes.sizeBytes}`);
  response.set("Content-Length", String(end - start + 1));
  if (request.method === "HEAD" || bytes.sizeBytes === 0) return void response.end();
  const body = bytes.open({ start, end });
  response.once("close", () => body.destroy());
  body.once("error", (error) => {
    log.error({ err: error }, "Sending broke off");
    response.destroy();
  });
  body.pipe(response);
}

/** One range is served; several at once are answered with the whole, as RFC 9110 allows. */
function chooseRange(
  request: Request<object>,
  { sizeBytes, etag }: Bytes,
): { start: number; end: number } | null | "impossible" {
  const condition = request.headers["if-range"];
  if (condition !== undefined && condition !== etag) return null;
  const ranges = request.range(sizeBytes);
  if (ranges === -1) return "impossible";
  if (ranges === undefined || ranges === -2 || ranges.type !== "bytes" || ranges.length !== 1) return null;
  return ranges[0] ?? null;
}

/** The body of a request, which stays whole when reading ends early: its answer needs the connection. */
export async function* bytesOf(request: Request<object>): AsyncGenerator<Buffer> {
  for await (const chunk of request.iterator({ destroyOnReturn: false })) yield chunk;
}

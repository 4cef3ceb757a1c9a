import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** The address of a short video; put in by the build. */
declare const CLIP: string;

/**
 * Both ends of the way of a video, in a process of their own: `source <bytes>` gives one of that size, whole
 * or by ranges; `sink <bytes a second, 0: as fast as it comes>` takes what is put. Prints its port.
 */
const [role = "source", figure = "0"] = process.argv.slice(2);

const HEAD = readFileSync(new URL(CLIP));
const PIECE = Buffer.alloc(1024 * 1024, 7);
const ETAG = '"one"';

/** A playable video, made as large as wanted by a box that players skip. */
function pieceAt(at: number, sizeBytes: number): Buffer {
  if (at < HEAD.length) return HEAD.subarray(at);
  const box = HEAD.length;
  if (at < box + 8) {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(sizeBytes - box, 0);
    head.write("free", 4);
    return head.subarray(at - box);
  }
  return PIECE;
}

function give(request: IncomingMessage, response: ServerResponse): void {
  const sizeBytes = Number(figure);
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "");
  let at = Number(range?.[1] ?? 0);
  const end = range?.[2] ? Number(range[2]) : sizeBytes - 1;
  const headers = {
    "content-length": end + 1 - at,
    etag: ETAG,
    "accept-ranges": "bytes",
    "content-type": "video/mp4",
  };
  response.writeHead(
    range === null ? 200 : 206,
    range === null ? headers : { ...headers, "content-range": `bytes ${at}-${end}/${sizeBytes}` },
  );
  const more = (): void => {
    while (at <= end) {
      const piece = pieceAt(at, sizeBytes).subarray(0, end + 1 - at);
      at += piece.length;
      if (!response.write(piece)) return void response.once("drain", more);
    }
    response.end();
  };
  more();
}

function take(request: IncomingMessage, response: ServerResponse): void {
  const perSecond = Number(figure);
  const startedAt = performance.now();
  let taken = 0;
  request.on("data", (piece: Buffer) => {
    taken += piece.length;
    const aheadMs = perSecond === 0 ? 0 : (taken / perSecond) * 1_000 - (performance.now() - startedAt);
    if (aheadMs < 5) return;
    request.pause();
    setTimeout(() => request.resume(), aheadMs);
  });
  request.on("end", () => response.end(String(taken)));
}

const server = createServer({ requestTimeout: 0 }, role === "source" ? give : take);
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));

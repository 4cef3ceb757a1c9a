import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { deflateSync } from "node:zlib";
import type { ByteSource } from "../../src/ports/media-probe.ts";

/** A file of `test/fixtures`. */
export function fixture(name: string): Buffer {
  return readFileSync(new URL(`../fixtures/${name}`, import.meta.url));
}

/** Bytes as a source that counts what is read of it. */
export function sourceOf(bytes: Buffer): ByteSource & { bytesRead: number } {
  const source = {
    sizeBytes: bytes.length,
    bytesRead: 0,
    read({ start, end }: { start: number; end: number }): Readable {
      const part = bytes.subarray(start, end + 1);
      source.bytesRead += part.length;
      return Readable.from([part]);
    },
  };
  return source;
}

/** A black-and-white PNG of any size, tiny when packed. */
export function pngOf(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 1;
  const rows = deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * height), { level: 9 });
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  return Buffer.concat([
    signature,
    pngChunk("IHDR", header),
    pngChunk("IDAT", rows),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

export function pngChunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

function crc32(bytes: Buffer): number {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}

import { once } from "node:events";
import { createDeflate } from "node:zlib";
import { fixture, pngChunk } from "./media.ts";

/** A file that is made while it is sent: large ones are never held. */
export interface MadeFile {
  readonly sizeBytes: number;
  chunks(): Iterable<Buffer>;
}

const MiB = 1024 * 1024;

function u32(...numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * numbers.length);
  numbers.forEach((number, at) => bytes.writeUInt32BE(number >>> 0, 4 * at));
  return bytes;
}

/** A box of an MP4 file; `more`: bytes of its content that follow it. */
export function box(type: string, parts: readonly Buffer[], more = 0): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([u32(content.length + 8 + more), Buffer.from(type, "latin1"), content]);
}

const MATRIX = u32(65_536, 0, 0, 0, 65_536, 0, 0, 0, 1 << 30);
const AVC = box("avc1", [
  Buffer.alloc(6),
  Buffer.from([0, 1]),
  Buffer.alloc(16),
  u32(0x014000f0, 0x480000, 0x480000, 0),
  Buffer.from([0, 1]),
  Buffer.alloc(32),
  Buffer.from([0, 0x18, 0xff, 0xff]),
  box("avcC", [Buffer.from("0142001effe100046742001e01000268ce", "hex")]),
]);

interface Film {
  /** Last of the tables, of four bytes an entry. Default 1. */
  readonly sizes?: number;
  /** How many samples the other tables speak of. Default as `sizes`. */
  readonly samples?: number;
  /** Tables of eight bytes an entry, one of them for all samples. */
  readonly hasOffsets?: boolean;
  /** What the header says, in milliseconds; with 0 it has to be found out. Default 1,000. */
  readonly durationMs?: number;
}

/** A sound film of nothing but an index. */
export function filmOf({
  sizes = 1,
  samples = sizes,
  hasOffsets = false,
  durationMs = 1_000,
}: Film): MadeFile {
  const more = 4 * sizes;
  const table = box("stsz", [u32(0, 0, sizes)], more);
  const stbl = box(
    "stbl",
    [
      box("stsd", [u32(0, 1), AVC]),
      box("stts", [u32(0, 1, samples, 1)]),
      ...(hasOffsets ? [box("ctts", [u32(0, 1, samples, 1)])] : []),
      box("stsc", [u32(0, 1, 1, samples, 1)]),
      box("stco", [u32(0, 1, 8)]),
      table,
    ],
    more,
  );
  const dinf = box("dinf", [box("dref", [u32(0, 1), box("url ", [u32(1)])])]);
  const minf = box("minf", [box("vmhd", [u32(1, 0, 0)]), dinf, stbl], more);
  const hdlr = box("hdlr", [u32(0, 0), Buffer.from("vide"), u32(0, 0, 0), Buffer.from("v\0")]);
  const mdia = box("mdia", [box("mdhd", [u32(0, 0, 0, 1_000, 1_000, 0x55c40000)]), hdlr, minf], more);
  const tkhd = box("tkhd", [u32(3, 0, 0, 1, 0, 1_000, 0, 0, 0, 0), MATRIX, u32(320 << 16, 240 << 16)]);
  const mvhd = box("mvhd", [
    u32(0, 0, 0, 1_000, durationMs, 65_536, 1 << 24, 0, 0),
    MATRIX,
    u32(0, 0, 0, 0, 0, 0, 2),
  ]);
  const moov = box("moov", [mvhd, box("trak", [tkhd, mdia], more)], more);
  const head = Buffer.concat([
    box("ftyp", [Buffer.from("isom"), u32(512), Buffer.from("isomiso2mp41")]),
    moov,
  ]);
  return { sizeBytes: head.length + more, chunks: () => [head, ...filled(more, 1)] };
}

/** A sound clip with so much more behind it, as a film of that size. */
export function longFilm(sizeBytes: number): MadeFile {
  const clip = fixture("clip.mp4");
  const more = sizeBytes - clip.length - 8;
  return { sizeBytes, chunks: () => [clip, box("free", [], more), ...filled(more, 0)] };
}

function filled(bytes: number, value: number): Buffer[] {
  const piece = Buffer.alloc(Math.min(MiB, bytes), value);
  return Array.from({ length: Math.ceil(bytes / MiB) }, (_, at) => piece.subarray(0, bytes - at * MiB));
}

/** https://www.w3.org/TR/png-3/#8InterlaceMethods: where each pass begins, and its steps. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** A black interlaced PNG of any size: 8 bit RGB, or 16 bit RGBA. */
export async function interlacedPng(width: number, height: number, depth: 8 | 16): Promise<Buffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, depth === 8 ? 2 : 6, 0, 0, 1], 8);
  const pixelBytes = depth === 8 ? 3 : 8;
  const packer = createDeflate({ level: 1 });
  const packed: Buffer[] = [];
  packer.on("data", (chunk: Buffer) => packed.push(chunk));
  const piece = Buffer.alloc(MiB);
  for (const [x, y, stepX, stepY] of PASSES) {
    const rowBytes = 1 + Math.ceil((width - x) / stepX) * pixelBytes;
    for (let left = rowBytes * Math.ceil((height - y) / stepY); left > 0; left -= MiB)
      if (!packer.write(piece.subarray(0, left))) await once(packer, "drain");
  }
  packer.end();
  await once(packer, "end");
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  const data = pngChunk("IDAT", Buffer.concat(packed));
  return Buffer.concat([signature, pngChunk("IHDR", header), data, pngChunk("IEND", Buffer.alloc(0))]);
}

import { deflateSync } from "node:zlib";
import { pngChunk } from "./media.ts";

/** A film of one valid track whose table of sizes has so many entries, of four bytes each. */
export function filmWithIndex(entries: number): Buffer {
  const numbers = (...values: readonly number[]): Buffer => {
    const bytes = Buffer.alloc(values.length * 4);
    for (const [at, value] of values.entries()) bytes.writeUInt32BE(value, at * 4);
    return bytes;
  };
  const box = (name: string, ...content: readonly Buffer[]): Buffer => {
    const body = Buffer.concat([Buffer.from(name), ...content]);
    return Buffer.concat([numbers(body.length + 4), body]);
  };
  const matrix = numbers(65_536, 0, 0, 0, 65_536, 0, 0, 0, 2 ** 30);
  const avcC = Buffer.from("0142001effe100046742001e01000268ce", "hex");
  const look = Buffer.concat([
    Buffer.alloc(16),
    Buffer.from([1, 0x40, 0, 0xf0]),
    numbers(0x48_00_00, 0x48_00_00, 0),
  ]);
  const entry = [
    Buffer.alloc(6),
    Buffer.from([0, 1]),
    look,
    Buffer.from([0, 1]),
    Buffer.alloc(32),
    Buffer.from([0, 0x18, 0xff, 0xff]),
  ];
  const table = box(
    "stbl",
    box("stsd", numbers(0, 1), box("avc1", ...entry, box("avcC", avcC))),
    box("stts", numbers(0, 1, entries, 1)),
    box("stsc", numbers(0, 1, 1, entries, 1)),
    box("stco", numbers(0, 1, 8)),
    box("stsz", numbers(0, 0, entries), Buffer.alloc(entries * 4, 1)),
  );
  const data = box("dinf", box("dref", numbers(0, 1), box("url ", numbers(1))));
  const media = box(
    "mdia",
    box("mdhd", numbers(0, 0, 0, 1_000, 1_000, 0x55_c4_00_00)),
    box("hdlr", numbers(0, 0), Buffer.from("vide"), numbers(0, 0, 0), Buffer.from("v\0")),
    box("minf", box("vmhd", numbers(1, 0, 0)), data, table),
  );
  const track = box(
    "trak",
    box("tkhd", numbers(3, 0, 0, 1, 0, 1_000, 0, 0, 0, 0), matrix, numbers(320 * 65_536, 240 * 65_536)),
    media,
  );
  const head = box(
    "mvhd",
    numbers(0, 0, 0, 1_000, 1_000, 65_536, 2 ** 24, 0, 0),
    matrix,
    numbers(0, 0, 0, 0, 0, 0, 2),
  );
  return Buffer.concat([
    box("ftyp", Buffer.from("isom"), numbers(512), Buffer.from("isomiso2mp41")),
    box("moov", head, track),
  ]);
}

/** First column and row of each pass, and how far it is to the next ones. */
const ADAM7 = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** A black picture of 8 bit RGB, in the seven passes of Adam7; a decoder needs all of it at once. */
export function interlacedPicture(side: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 2, 0, 0, 1], 8);
  const passes = ADAM7.map(
    ([left, top, right, down]) => Math.ceil((side - top) / down) * (Math.ceil((side - left) / right) * 3 + 1),
  );
  const total = passes.reduce((sum, bytes) => sum + bytes, 0);
  const rows = deflateSync(Buffer.alloc(total), { level: 1 });
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  return Buffer.concat([
    signature,
    pngChunk("IHDR", header),
    pngChunk("IDAT", rows),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

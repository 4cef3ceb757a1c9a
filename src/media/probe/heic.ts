import { createRequire } from "node:module";
import { damagedPicture } from "./plain-image.ts";

/*
 * HEIC, as phones take pictures. sharp comes without a decoder of HEVC, and ffmpeg before 7 does not put together the
 * tiles that a phone's picture is made of.
 */

const require = createRequire(import.meta.url);

/** Of https://github.com/catdad-experiments/libheif-js, which is libheif in WebAssembly. */
interface Libheif {
  readonly HeifDecoder: new () => { decode(bytes: Uint8Array): HeifImage[] };
}

interface HeifImage {
  is_primary(): boolean;
  get_width(): number;
  get_height(): number;
  /** Pixels in red, green, blue and alpha, turned and cut as the file says. Null: it cannot be decoded. */
  display(into: Pixels, done: (result: Pixels | null) => void): void;
  free(): void;
}

interface Pixels {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
}

let loaded: Libheif | null | undefined;

/** Null where npm did not install it. Loaded with the first picture that needs it. */
function load(): Libheif | null {
  if (loaded !== undefined) return loaded;
  try {
    loaded = require("libheif-js/wasm-bundle") as Libheif;
  } catch {
    loaded = null;
  }
  return loaded;
}

export function readsHeic(): boolean {
  return load() !== null;
}

/**
 * The main picture as a TIFF without compression, upright, in the colours of `profile` and with nothing else of the
 * file. Throws `invalid` for a damaged one.
 */
export async function decodeHeic(bytes: Buffer, profile: Buffer | undefined): Promise<Buffer> {
  const library = load();
  if (library === null) throw new Error("libheif-js is not installed.");
  const images = new library.HeifDecoder().decode(bytes);
  const image = images.find((one) => one.is_primary()) ?? images[0];
  if (image === undefined) throw damagedPicture(new Error("libheif finds no picture"));
  const { file, pixels } = newTiff({ width: image.get_width(), height: image.get_height() }, profile);
  const shown = await new Promise<Pixels | null>((resolve) => image.display(pixels, resolve));
  for (const one of images) one.free();
  if (shown === null) throw damagedPicture(new Error("libheif cannot decode the picture"));
  return file;
}

const CHANNELS = 4;
const ROWS_PER_STRIP = 64;

/** Types of values in TIFF 6.0, section 2. */
const [SHORT, LONG, UNDEFINED] = [3, 4, 7];
const SIZES: Readonly<Record<number, number>> = { [SHORT]: 2, [LONG]: 4, [UNDEFINED]: 1 };
const HEAD_BYTES = 8;
const ENTRY_BYTES = 12;

type Entry = readonly [tag: number, type: number, values: readonly number[] | Buffer];

/** An empty TIFF (TIFF 6.0, https://www.itu.int/itudoc/itu-t/com16/tiff-fx/docs/tiff6.pdf), and its pixels to fill in. */
function newTiff(size: Omit<Pixels, "data">, profile: Buffer | undefined): { file: Buffer; pixels: Pixels } {
  const { width, height } = size;
  const rowBytes = width * CHANNELS;
  const strips = Array.from({ length: Math.ceil(height / ROWS_PER_STRIP) }, (_, at) => at * ROWS_PER_STRIP);
  const entriesFor = (start: number): readonly Entry[] => [
    [256, LONG, [width]],
    [257, LONG, [height]],
    [258, SHORT, [8, 8, 8, 8]],
    [259, SHORT, [1]], // no compression
    [262, SHORT, [2]], // red, green and blue
    [273, LONG, strips.map((row) => start + row * rowBytes)],
    [277, SHORT, [CHANNELS]],
    [278, LONG, [ROWS_PER_STRIP]],
    [279, LONG, strips.map((row) => Math.min(ROWS_PER_STRIP, height - row) * rowBytes)],
    [338, SHORT, [2]], // the fourth is how opaque it is
    ...(profile === undefined ? [] : [[34_675, UNDEFINED, profile] as const]),
  ];
  const start = directoryOf(entriesFor(0)).length;
  const file = Buffer.alloc(start + rowBytes * height);
  directoryOf(entriesFor(start)).copy(file);
  return { file, pixels: { ...size, data: file.subarray(start) } };
}

/** The head of the file and its directory; values of more than four bytes stand behind it. */
function directoryOf(entries: readonly Entry[]): Buffer {
  const end = HEAD_BYTES + 2 + entries.length * ENTRY_BYTES + 4;
  const directory = Buffer.alloc(end);
  directory.write("II*\0", "latin1");
  directory.writeUInt32LE(HEAD_BYTES, 4);
  directory.writeUInt16LE(entries.length, HEAD_BYTES);
  const behind: Buffer[] = [];
  let at = end;
  for (const [index, [tag, type, values]] of entries.entries()) {
    const entry = directory.subarray(HEAD_BYTES + 2 + index * ENTRY_BYTES);
    entry.writeUInt16LE(tag, 0);
    entry.writeUInt16LE(type, 2);
    entry.writeUInt32LE(values.length, 4);
    const bytes = valuesOf(type, values);
    if (bytes.length <= 4) bytes.copy(entry, 8);
    else {
      entry.writeUInt32LE(at, 8);
      behind.push(bytes);
      at += bytes.length;
    }
  }
  return Buffer.concat([directory, ...behind]);
}

/** Of an even length, as offsets must be. */
function valuesOf(type: number, values: readonly number[] | Buffer): Buffer {
  const size = SIZES[type] ?? 1;
  const bytes = Buffer.alloc(Math.ceil((values.length * size) / 2) * 2);
  for (const [at, value] of values.entries()) bytes.writeUIntLE(value, at * size, size);
  return bytes;
}

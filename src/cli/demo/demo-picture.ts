import { crc32, deflateSync } from "node:zlib";

const WIDTH = 1_200;
const HEIGHT = 800;

type Color = readonly [red: number, green: number, blue: number];

const NIGHT: Color = [20, 33, 61];
const HILL: Color = [11, 19, 43];
const BRASS: Color = [244, 190, 84];

const CHANNELS = 3;
const PNG_SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");

/** A post horn's coil over a dusky sky, as a PNG: drawn here, without a font or a native library. */
export function demoPicture(): Buffer {
  // Each line starts with its filter: 0, none. https://www.w3.org/TR/png-3/#9Filter-types
  const line = 1 + WIDTH * CHANNELS;
  const pixels = Buffer.alloc(line * HEIGHT);
  for (let y = 0; y < HEIGHT; y += 1) {
    for (let x = 0; x < WIDTH; x += 1) pixels.set(colorAt(x, y), y * line + 1 + x * CHANNELS);
  }
  return Buffer.concat([
    PNG_SIGNATURE,
    chunk("IHDR", header()),
    chunk("IDAT", deflateSync(pixels)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Size, 8 bits a channel, true colour, and the only methods of compression, filter and interlace. */
function header(): Buffer {
  const bytes = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
  bytes.writeUInt32BE(WIDTH, 0);
  bytes.writeUInt32BE(HEIGHT, 4);
  return bytes;
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  const checksum = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, checksum]);
}

function colorAt(x: number, y: number): Color {
  if (isHorn(x, y)) return BRASS;
  return y > 640 + 46 * Math.sin(x / 170) + 18 * Math.sin(x / 61) ? HILL : NIGHT;
}

function isHorn(x: number, y: number): boolean {
  const along = Math.max(0, (x - 790) / 200);
  return (
    Math.abs(Math.hypot(x - 560, y - 400) - 150) < 15 ||
    (x > 300 && x < 560 && Math.abs(y - 250) < 15) ||
    Math.hypot(x - 296, y - 250) < 24 ||
    (x > 560 && x < 990 && Math.abs(y - 550) < 15 + 95 * along ** 2)
  );
}

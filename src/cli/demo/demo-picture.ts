import { crc32, deflateSync } from "node:zlib";

const WIDTH = 1_200;
const HEIGHT = 800;

type Color = readonly [red: number, green: number, blue: number];

const NIGHT: Color = [20, 33, 61];
const DUSK: Color = [94, 110, 142];
const HILL: Color = [11, 19, 43];
const BRASS: Color = [244, 190, 84];
const SHINE: Color = [255, 232, 160];

const CHANNELS = 3;
const PNG_SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");

/**
 * A post horn's coil over a dusky sky, as a PNG; drawn and written here, so that it needs no font and no
 * native library.
 */
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

/**
 * Size, 8 bits a channel, true colour, and the only compression, filter and interlace methods there are for
 * it.
 */
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
  const hill = 640 + 46 * Math.sin(x / 170) + 18 * Math.sin(x / 61);
  const ground = y > hill ? HILL : mix(NIGHT, DUSK, y / HEIGHT);
  const depth = hornDepth(x, y);
  // A point of softness at the edge, and a shine along the middle.
  return depth <= -1
    ? ground
    : mix(ground, mix(BRASS, SHINE, Math.max(0, depth - 6) / 12), Math.min(1, depth + 1));
}

/** How far inside the horn a point lies, in points; negative outside. */
function hornDepth(x: number, y: number): number {
  const coil = 15 - Math.abs(Math.hypot(x - 560, y - 400) - 150);
  const mouthpiece = 15 - distanceTo([x, y], [300, 250], [560, 250]);
  const tube = 15 - distanceTo([x, y], [560, 550], [800, 550]);
  const along = (x - 790) / 200;
  const bell = along < 0 || along > 1 ? -2 : 15 + 95 * along ** 2 - Math.abs(y - 550);
  return Math.max(coil, mouthpiece, tube, bell, 24 - Math.hypot(x - 296, y - 250));
}

type Point = readonly [x: number, y: number];

function distanceTo([x, y]: Point, [fromX, fromY]: Point, [toX, toY]: Point): number {
  const length = (toX - fromX) ** 2 + (toY - fromY) ** 2;
  const part = Math.min(1, Math.max(0, ((x - fromX) * (toX - fromX) + (y - fromY) * (toY - fromY)) / length));
  return Math.hypot(x - fromX - part * (toX - fromX), y - fromY - part * (toY - fromY));
}

function mix(from: Color, to: Color, part: number): Color {
  const at = (index: 0 | 1 | 2): number =>
    Math.round(from[index] + (to[index] - from[index]) * Math.min(1, part));
  return [at(0), at(1), at(2)];
}

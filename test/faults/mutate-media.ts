import { pngChunk } from "../support/media.ts";

/** A number in a file that says how long something is, or how many of it there are. */
interface Field {
  readonly at: number;
  readonly bytes: number;
  readonly isLittle: boolean;
}

/** A box, element, chunk or segment of a file, with the field of its length. */
interface Part {
  readonly start: number;
  readonly end: number;
  readonly size: Field;
}

type Random = () => number;

const MAX_PARTS = 400;
const MAX_BYTES = 2 * 1024 * 1024;
const NUMBERS = [
  0, 1, 2, 7, 8, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x00ff_ffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fff0,
  0xffff_ffff,
];

/** The parts of a file by its format, nested ones too; none where it has no such order. */
function partsOf(bytes: Buffer): Part[] {
  const start = bytes.toString("latin1", 0, 12);
  if (start.slice(4, 8) === "ftyp") return boxes(bytes, 0, bytes.length);
  if (bytes.readUInt32BE(0) === 0x1a45dfa3) return elements(bytes, 0, bytes.length);
  if (start.startsWith("RIFF")) return chunks(bytes, { at: 12, isLittle: true, sizeFirst: false, extra: 8 });
  if (start.startsWith("\u0089PNG"))
    return chunks(bytes, { at: 8, isLittle: false, sizeFirst: true, extra: 12 });
  if (start.startsWith("\u00ff\u00d8")) return segments(bytes);
  return start.startsWith("II*") ? entries(bytes) : [];
}

/** Real ones lie nine deep; what was copied into itself would be gone through for ever. */
const MAX_DEPTH = 9;

function boxes(bytes: Buffer, from: number, to: number, depth = 0): Part[] {
  const found: Part[] = [];
  if (depth === MAX_DEPTH) return found;
  for (let at = from; at + 8 <= to && found.length < MAX_PARTS;) {
    const size = bytes.readUInt32BE(at);
    if (size < 8 || at + size > to || !/^[ -~\u00a9]{4}$/.test(bytes.toString("latin1", at + 4, at + 8)))
      break;
    found.push({ start: at, end: at + size, size: { at, bytes: 4, isLittle: false } });
    for (const skip of [8, 12, 16]) found.push(...boxes(bytes, at + skip, at + size, depth + 1));
    at += size;
  }
  return found.slice(0, MAX_PARTS);
}

function elements(bytes: Buffer, from: number, to: number, depth = 0): Part[] {
  const found: Part[] = [];
  if (depth === MAX_DEPTH) return found;
  for (let at = from; at + 2 <= to && found.length < MAX_PARTS;) {
    const idBytes = Math.clz32(bytes[at] ?? 0) - 23;
    const sizeAt = at + idBytes;
    const sizeBytes = Math.clz32(bytes[sizeAt] ?? 0) - 23;
    if (idBytes > 4 || sizeBytes > 6 || sizeAt + sizeBytes > to) break;
    const size = bytes.readUIntBE(sizeAt, sizeBytes) - 2 ** (7 * sizeBytes);
    const start = sizeAt + sizeBytes;
    if (start + size > to) break;
    found.push({ start: at, end: start + size, size: { at: sizeAt, bytes: sizeBytes, isLittle: false } });
    if (size > 2) found.push(...elements(bytes, start, start + size, depth + 1));
    at = start + size;
  }
  return found.slice(0, MAX_PARTS);
}

function chunks(
  bytes: Buffer,
  how: { at: number; isLittle: boolean; sizeFirst: boolean; extra: number },
): Part[] {
  const found: Part[] = [];
  for (let at = how.at; at + 8 <= bytes.length;) {
    const sizeAt = how.sizeFirst ? at : at + 4;
    const size = how.isLittle ? bytes.readUInt32LE(sizeAt) : bytes.readUInt32BE(sizeAt);
    const end = Math.min(at + size + how.extra, bytes.length);
    found.push({ start: at, end, size: { at: sizeAt, bytes: 4, isLittle: how.isLittle } });
    at = end + (how.isLittle ? size % 2 : 0);
  }
  return found;
}

function segments(bytes: Buffer): Part[] {
  const found: Part[] = [];
  for (let at = 2; at + 4 <= bytes.length && bytes[at] === 0xff;) {
    const end = at + 2 + bytes.readUInt16BE(at + 2);
    found.push({
      start: at,
      end: Math.min(end, bytes.length),
      size: { at: at + 2, bytes: 2, isLittle: false },
    });
    at = end;
  }
  return found;
}

/** The entries of the first directory of a TIFF file, by the number of their values. */
function entries(bytes: Buffer): Part[] {
  const at = bytes.readUInt32LE(4);
  const count = bytes.readUInt16LE(at);
  return Array.from({ length: count }, (_, index) => at + 2 + 12 * index)
    .filter((start) => start + 12 <= bytes.length)
    .map((start) => ({ start, end: start + 12, size: { at: start + 4, bytes: 4, isLittle: true } }));
}

/** The file with one to four changes, by its structure where it has one; `others`: to take parts from. */
export function mutate(seed: Buffer, others: readonly Buffer[], random: Random): Buffer {
  const below = (limit: number): number => Math.floor(random() * limit);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  let bytes: Buffer = Buffer.from(seed);
  for (let left = 1 + below(4); left > 0; left -= 1) {
    if (bytes.length < 16) break;
    const parts = partsSafely(bytes);
    const ways =
      parts.length > 0 && random() < 0.7
        ? [resize, refill, repeat, drop, move, nest, graft]
        : [flip, set, cut, splice, swell];
    bytes = pick(ways)({ bytes, parts, others, below, pick }).subarray(0, MAX_BYTES);
  }
  return bytes.toString("latin1", 1, 4) === "PNG" && random() < 0.8 ? withChecks(bytes) : bytes;
}

function partsSafely(bytes: Buffer): Part[] {
  try {
    return partsOf(bytes);
  } catch {
    return [];
  }
}

interface Change {
  readonly bytes: Buffer;
  readonly parts: readonly Part[];
  readonly others: readonly Buffer[];
  below(limit: number): number;
  pick<T>(list: readonly T[]): T;
}

function write(bytes: Buffer, { at, bytes: width, isLittle }: Field, value: number): Buffer {
  const fitting = value % 2 ** (8 * Math.min(width, 6));
  if (isLittle) bytes.writeUIntLE(fitting, at, width);
  else bytes.writeUIntBE(fitting, at, width);
  return bytes;
}

const resize = ({ bytes, parts, pick, below }: Change): Buffer => {
  const { start, end, size } = pick(parts);
  const near = [end - start + 1, Math.max(0, end - start - 1), bytes.length - start, bytes.length * 2];
  return write(bytes, size, below(2) === 0 ? pick(NUMBERS) : pick(near));
};

/** Numbers inside of a part: versions, counts, widths, offsets. */
const refill = ({ bytes, parts, pick, below }: Change): Buffer => {
  const { start, end } = pick(parts);
  const width = pick([1, 2, 4]);
  const at = Math.min(start + 4 + below(Math.max(1, Math.min(end - start, 96))), bytes.length - width);
  return write(bytes, { at, bytes: width, isLittle: below(2) === 0 }, pick(NUMBERS));
};

const repeat = ({ bytes, parts, pick, below }: Change): Buffer => {
  const { start, end } = pick(parts);
  const times = pick([1, 2, 20, Math.floor(below(MAX_BYTES) / Math.max(1, end - start))]);
  const copies = Array.from({ length: Math.min(times, 20_000) }, () => bytes.subarray(start, end));
  return Buffer.concat([bytes.subarray(0, end), ...copies, bytes.subarray(end)]);
};

const drop = ({ bytes, parts, pick }: Change): Buffer => {
  const { start, end } = pick(parts);
  return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
};

const move = ({ bytes, parts, pick }: Change): Buffer => {
  const [one, other] = [pick(parts), pick(parts)];
  if (one.end > other.start) return bytes;
  const { start, end } = one;
  const moved = bytes.subarray(start, end);
  return Buffer.concat([
    bytes.subarray(0, start),
    bytes.subarray(end, other.end),
    moved,
    bytes.subarray(other.end),
  ]);
};

/** A part within itself, deeper and deeper. */
const nest = ({ bytes, parts, pick, below }: Change): Buffer => {
  const { start, end, size } = pick(parts);
  const head = bytes.subarray(start, Math.min(start + 8, end));
  const depth = pick([1, 10, 1_000 + below(20_000)]);
  const heads = Array.from({ length: depth }, () => head);
  const nested = Buffer.concat([bytes.subarray(0, start), ...heads, bytes.subarray(start)]);
  if (!size.isLittle && size.bytes === 4)
    for (let level = 0; level < depth; level += 1)
      nested.writeUInt32BE((end - start + 8 * (depth - level)) >>> 0, start + 8 * level + (size.at - start));
  return nested;
};

/** A part of another file in the place of one of this. */
const graft = ({ bytes, parts, others, pick }: Change): Buffer => {
  const other = pick(others);
  const foreign = partsSafely(other);
  const { start, end } = pick(parts);
  if (foreign.length === 0) return bytes;
  const taken = pick(foreign);
  return Buffer.concat([
    bytes.subarray(0, start),
    other.subarray(taken.start, taken.end),
    bytes.subarray(end),
  ]);
};

const flip = ({ bytes, below }: Change): Buffer => {
  for (let left = 1 + below(8); left > 0; left -= 1) {
    const at = below(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << below(8));
  }
  return bytes;
};

const set = ({ bytes, below, pick }: Change): Buffer => {
  const width = pick([1, 2, 4]);
  const at = below(Math.min(bytes.length - width, 512));
  return write(bytes, { at, bytes: width, isLittle: below(2) === 0 }, pick(NUMBERS));
};

const cut = ({ bytes, below }: Change): Buffer => bytes.subarray(0, 12 + below(bytes.length - 12));

const splice = ({ bytes, others, pick, below }: Change): Buffer => {
  const other = pick(others);
  return Buffer.concat([bytes.subarray(0, below(bytes.length)), other.subarray(below(other.length))]);
};

const swell = ({ bytes, below, pick }: Change): Buffer => {
  const at = below(bytes.length);
  return Buffer.concat([
    bytes.subarray(0, at),
    Buffer.alloc(below(MAX_BYTES), pick([0, 0xff, 0x47])),
    bytes.subarray(at),
  ]);
};

/** With the right sums, or nothing behind them would be looked at. */
function withChecks(bytes: Buffer): Buffer {
  const parts = partsSafely(bytes).filter(({ start, end }) => end - start >= 12);
  const fixed = parts.map(({ start, end }) =>
    pngChunk(bytes.toString("latin1", start + 4, start + 8), bytes.subarray(start + 8, end - 4)),
  );
  return Buffer.concat([bytes.subarray(0, 8), ...fixed]);
}

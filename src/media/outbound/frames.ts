import { randomBytes } from "node:crypto";

/** https://www.rfc-editor.org/rfc/rfc6455#section-5.2 */
export const OPCODE = { more: 0x0, text: 0x1, close: 0x8, ping: 0x9, pong: 0xa } as const;

const FINAL = 0x80;
const MASKED = 0x80;
const MAX_CONTROL_BYTES = 125;

export interface Frame {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly payload: Buffer;
}

/** One whole message as a client sends it: masked, so that nothing between takes it for a request. */
export function encodeFrame(opcode: number, payload: Buffer): Buffer {
  const mask = randomBytes(4);
  const masked = Buffer.from(payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0)));
  return Buffer.concat([Buffer.from([FINAL | opcode]), lengthOf(payload.length), mask, masked]);
}

function lengthOf(bytes: number): Buffer {
  if (bytes <= MAX_CONTROL_BYTES) return Buffer.from([MASKED | bytes]);
  const long = Buffer.alloc(bytes < 0x10000 ? 3 : 9);
  long[0] = MASKED | (bytes < 0x10000 ? 126 : 127);
  long.writeUIntBE(bytes, long.length === 3 ? 1 : 3, long.length === 3 ? 2 : 6);
  return long;
}

/**
 * The frames of a server, as they come. Throws for what is no frame of one that agreed on no extension, and
 * for more than `maxBytes` in all.
 */
export async function* readFrames(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Frame> {
  let held: Buffer = Buffer.alloc(0);
  // Put together once there are enough: joined piece by piece, a large frame in small pieces would block us.
  let waiting: Buffer[] = [];
  let wanted = 0;
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`The other side sent more than ${maxBytes} bytes.`);
    waiting.push(chunk);
    wanted -= chunk.length;
    if (wanted > 0) continue;
    held = Buffer.concat([held, ...waiting]);
    waiting = [];
    for (;;) {
      const found = parse(held, maxBytes);
      if ("wanted" in found) {
        wanted = found.wanted;
        break;
      }
      held = held.subarray(found.end);
      yield found;
    }
  }
}

type Parsed = (Frame & { readonly end: number }) | { readonly wanted: number };

/** The first frame, or how many bytes more it takes to know more of it. */
function parse(held: Buffer, maxBytes: number): Parsed {
  const [first, second] = held;
  if (first === undefined || second === undefined) return { wanted: 2 - held.length };
  const opcode = first & 0x0f;
  const isFinal = (first & FINAL) !== 0;
  const short = second & 0x7f;
  const isControl = opcode >= OPCODE.close;
  if (
    (first & 0x70) !== 0 ||
    (second & MASKED) !== 0 ||
    (isControl && (!isFinal || short > MAX_CONTROL_BYTES))
  )
    throw new Error("The other side sent what is no frame of a WebSocket.");
  const start = short <= MAX_CONTROL_BYTES ? 2 : short === 126 ? 4 : 10;
  if (held.length < start) return { wanted: start - held.length };
  // Of the eight bytes, those that count beyond any limit are looked at first.
  if (start === 10 && held.readUInt32BE(2) !== 0)
    throw new Error(`The other side announced more than ${maxBytes} bytes.`);
  const size = start === 2 ? short : start === 4 ? held.readUInt16BE(2) : held.readUInt32BE(6);
  if (size > maxBytes) throw new Error(`The other side announced more than ${maxBytes} bytes.`);
  const end = start + size;
  if (held.length < end) return { wanted: end - held.length };
  return { opcode, isFinal, payload: held.subarray(start, end), end };
}

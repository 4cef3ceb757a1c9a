import { afterEach, expect, it, vi } from "vitest";
import { encodeFrame, OPCODE, readFrames, type Frame } from "../../../src/media/outbound/frames.ts";

afterEach(() => vi.restoreAllMocks());

/** As a server sends it: without a mask. */
function frame(payload: Buffer): Buffer {
  const long = Buffer.alloc(10);
  long[0] = 0x80 | OPCODE.text;
  long[1] = 127;
  long.writeUIntBE(payload.length, 4, 6);
  return Buffer.concat([long, payload]);
}

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(bytes: Buffer, size: number): Promise<Frame[]> {
  const frames: Frame[] = [];
  for await (const one of readFrames(inPieces(bytes, size), 4 * 1024 * 1024)) frames.push(one);
  return frames;
}

it.each([1, 2, 3, 7, 11, 1_000, 100_000])("reads frames in pieces of %s bytes", async (size) => {
  const texts = ["", "a", "horn".repeat(5_000), "ü"].map((text) => Buffer.from(text));
  const frames = await read(Buffer.concat(texts.map(frame)), size);
  expect(frames.map(({ payload }) => payload.toString())).toEqual(texts.map(String));
});

it("puts a large frame together once, however small its pieces are", async () => {
  const bytes = frame(Buffer.alloc(500_000, "x"));
  const concat = vi.spyOn(Buffer, "concat");
  const [only] = await read(bytes, 10);
  expect(only?.payload.length).toBe(500_000);
  expect(concat.mock.calls.length).toBeLessThan(5);
});

it("masks what it sends", () => {
  const [one, two] = [
    encodeFrame(OPCODE.text, Buffer.from("horn")),
    encodeFrame(OPCODE.text, Buffer.from("horn")),
  ];
  expect(one.length).toBe(2 + 4 + 4);
  expect(one.equals(two)).toBe(false);
  const [mask, masked] = [one.subarray(2, 6), one.subarray(6)];
  expect(String(Buffer.from(masked.map((byte, at) => byte ^ mask[at]!)))).toBe("horn");
});

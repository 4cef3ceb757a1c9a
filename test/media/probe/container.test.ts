import { describe, expect, it } from "vitest";
import { announcedEnd } from "../../../src/media/probe/container.ts";
import { fixture, sourceOf } from "../../support/media.ts";

const box = (size: number, type: string, ...rest: number[]): Buffer => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(size, 0);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, Buffer.from(rest)]);
};
const padded = (...parts: Buffer[]): Buffer => Buffer.concat([...parts, Buffer.alloc(16)]);

/** An EBML header of 4 bytes, then a segment with the given size field. */
const matroska = (...size: number[]): Buffer =>
  Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0x84, 1, 2, 3, 4, 0x18, 0x53, 0x80, 0x67, ...size, 0, 0, 0]);

describe("where a container says that it ends", () => {
  it("is where it ends, in a whole file", async () => {
    const clip = fixture("clip.mp4");
    expect(await announcedEnd(sourceOf(clip), "video/mp4")).toBe(clip.length);
    expect(await announcedEnd(sourceOf(clip.subarray(0, -1)), "video/mp4")).toBe(clip.length);
  });

  it.each([
    [
      "a large box",
      padded(box(16, "ftyp", 0, 0, 0, 0, 0, 0, 0, 0), box(1, "mdat", 0, 0, 0, 1, 0, 0, 0, 0)),
      16 + 2 ** 32,
    ],
    ["a box to the end", padded(box(16, "ftyp", 0, 0, 0, 0, 0, 0, 0, 0), box(0, "mdat")), null],
    ["a box that cannot be", padded(box(3, "ftyp")), null],
    ["nothing", Buffer.from("short"), 0],
  ])("of %s in MP4", async (_what, bytes, end) => {
    expect(await announcedEnd(sourceOf(bytes), "video/quicktime")).toBe(end);
  });

  it.each([
    ["one byte", matroska(0x85), 14 + 5],
    ["eight bytes", matroska(0x01, 0, 0, 1, 0, 0, 0, 0), 21 + 2 ** 32],
    ["one that is not known", matroska(0x01, 255, 255, 255, 255, 255, 255, 255), null],
    ["none", matroska(0), null],
    ["no segment", Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0x80, 1, 2, 3, 4, 5, 6]), null],
  ])("with a size of %s in Matroska", async (_what, bytes, end) => {
    expect(await announcedEnd(sourceOf(bytes), "video/webm")).toBe(end);
  });

  it("is not said by others", async () => {
    expect(await announcedEnd(sourceOf(fixture("sound.mp3")), "audio/mpeg")).toBeNull();
  });
});

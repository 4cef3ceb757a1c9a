import { Readable } from "node:stream";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { AppError } from "../../../src/domain/errors.ts";
import { probe } from "../../../src/media/probe/run-media-reader.ts";
import { fixture, pngOf, sourceOf } from "../../support/media.ts";

const refusal = async (bytes: Buffer): Promise<string> => {
  const error = await probe(sourceOf(bytes)).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(AppError);
  expect((error as AppError).kind).toBe("invalid");
  return (error as AppError).message;
};

describe("probing", () => {
  it("reads size, length and codecs of a video without reading it whole", async () => {
    const source = sourceOf(fixture("clip.mp4"));
    expect(await probe(source)).toEqual({
      mimeType: "video/mp4",
      type: "video",
      width: 320,
      height: 240,
      durationSeconds: 2,
      framesPerSecond: 12,
      pages: null,
      videoCodec: "avc",
      audioCodec: "aac",
      isAnimated: false,
    });
  });

  it("reads sound", async () => {
    const found = await probe(sourceOf(fixture("sound.mp3")));
    expect(found).toMatchObject({
      mimeType: "audio/mpeg",
      type: "audio",
      width: null,
      audioCodec: "mp3",
      videoCodec: null,
    });
    expect(found.durationSeconds).toBeCloseTo(2, 0);
  });

  it("gives a picture's size as it is shown, with its orientation applied", async () => {
    expect(await probe(sourceOf(fixture("photo.jpg")))).toMatchObject({
      mimeType: "image/jpeg",
      type: "image",
      width: 160,
      height: 240,
    });
    expect(await probe(sourceOf(fixture("photo.png")))).toMatchObject({
      mimeType: "image/png",
      width: 200,
      height: 100,
    });
  });

  it("tells pictures that move", async () => {
    const still = (background: string) =>
      sharp({ create: { width: 4, height: 3, channels: 3, background } })
        .png()
        .toBuffer();
    const frames = await Promise.all(["red", "green"].map(still));
    for (const format of ["gif", "webp"] as const) {
      const moving = await sharp(frames, { join: { animated: true } })
        .toFormat(format)
        .toBuffer();
      expect(await probe(sourceOf(moving))).toMatchObject({ width: 4, height: 3, isAnimated: true });
      expect(await probe(sourceOf(await sharp(frames[0]).toFormat(format).toBuffer()))).toMatchObject({
        isAnimated: false,
      });
    }
    expect(await probe(sourceOf(fixture("photo.png")))).toMatchObject({ isAnimated: false });
  });

  it.each(["webp", "gif", "avif", "tiff"] as const)("takes %s", async (format) => {
    const bytes = await sharp({ create: { width: 40, height: 30, channels: 3, background: "red" } })
      .toFormat(format)
      .toBuffer();
    expect(await probe(sourceOf(bytes))).toMatchObject({
      mimeType: `image/${format}`,
      type: "image",
      width: 40,
      height: 30,
    });
  });

  it.each([
    ["HTML", "<!doctype html><script>alert(1)</script>"],
    ["SVG", '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
    ["SVG after XML", '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'],
    ["text", "just words"],
    ["ZIP", "PK\u0003\u0004rest of an archive"],
    ["a program", "\u007fELF\u0002\u0001\u0001"],
    ["shell", "#!/bin/sh\nrm -rf /"],
    ["a playlist", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nhttp://127.0.0.1/secret"],
  ])("refuses %s, whatever its name says", async (_name, content) => {
    expect(await refusal(Buffer.from(content))).toContain("What counts is the content");
  });

  it("refuses nothing, damage and cut-off files with a sentence", async () => {
    expect(await refusal(Buffer.alloc(0))).toContain("empty");
    expect(await refusal(fixture("clip.mp4").subarray(0, 600))).toContain("cut off");
    expect(await refusal(fixture("photo.jpg").subarray(0, 1_500))).toContain("cut off");
    expect(await refusal(fixture("photo.png").subarray(0, 300))).toContain("cut off");
    const scrambled = Buffer.from(fixture("clip.mp4"));
    scrambled.fill(0xff, 32, 3_000);
    expect(await refusal(scrambled)).toContain("damaged");
  });

  it("refuses a picture of 900 million pixels in 110 kB", async () => {
    const bomb = pngOf(30_000, 30_000);
    expect(bomb.length).toBeLessThan(120_000);
    expect(await refusal(bomb)).toContain("too many pixels");
  });

  it("refuses pictures too large to be held", async () => {
    const head = fixture("photo.png");
    const source = { ...sourceOf(head), sizeBytes: 65 * 1024 * 1024 };
    await expect(probe(source)).rejects.toThrow(/at most 67108864/);
  });

  it("hands on what the store says, rather than calling the file damaged", async () => {
    const bytes = fixture("clip.mp4");
    let reads = 0;
    const source = {
      sizeBytes: bytes.length,
      read({ start, end }: { start: number; end: number }): Readable {
        reads += 1;
        if (reads > 1) return Readable.from(failing(), { objectMode: false });
        return Readable.from([bytes.subarray(start, end + 1)]);
      },
    };
    async function* failing(): AsyncGenerator<Buffer> {
      yield Buffer.alloc(1);
      throw new AppError("not_found", "gone");
    }
    await expect(probe(source)).rejects.toMatchObject({ kind: "not_found" });
  });

  it("does not read on and on in a container that claims more than it has", async () => {
    const claims = Buffer.concat([
      fixture("clip.mp4").subarray(0, 32),
      Buffer.from([0, 0, 0, 1]),
      Buffer.from("moov"),
      Buffer.alloc(8, 0x7f),
    ]);
    const source = sourceOf(Buffer.concat([claims, Buffer.alloc(1_000_000)]));
    await expect(probe(source)).rejects.toMatchObject({ kind: "invalid" });
    expect(source.bytesRead).toBeLessThan(10_000_000);
  });
});

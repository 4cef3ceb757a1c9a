import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { fitImage } from "../../../src/media/probe/image.ts";
import { probe } from "../../../src/media/probe/run-media-reader.ts";
import { filmOf, longFilm } from "../../support/hostile-media.ts";
import { pngChunk, sourceOf } from "../../support/media.ts";

const MiB = 1024 * 1024;

const bytesOf = ({ chunks }: ReturnType<typeof filmOf>): Buffer => Buffer.concat([...chunks()]);

/** An element of a Matroska file. */
function element(id: readonly number[], content: Buffer): Buffer {
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(content.length));
  size[0] = 0x01;
  return Buffer.concat([Buffer.from(id), size, content]);
}

describe("what is parsed of a film", () => {
  it("is an index of ten hours, without its tables", async () => {
    const source = sourceOf(bytesOf(filmOf({ sizes: 7 * MiB, durationMs: 36_000_000 })));
    const before = process.memoryUsage().heapUsed;
    expect(await probe(source)).toMatchObject({ durationSeconds: 36_000, videoCodec: "avc" });
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(60 * MiB);
  });

  it("is no index beyond 32 MiB", async () => {
    const source = sourceOf(bytesOf(filmOf({ sizes: 9 * MiB })));
    await expect(probe(source)).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(/^The index of the video .* more than 32 MiB/),
    });
    expect(source.bytesRead).toBeLessThan(MiB);
  });

  it.each([
    ["cues", [0x1c, 0x53, 0xbb, 0x6b]],
    ["tags", [0x12, 0x54, 0xc3, 0x67]],
    ["attachments", [0x19, 0x41, 0xa4, 0x69]],
  ])("is nothing of a Matroska file with %s beyond 32 MiB", async (_what, id) => {
    const ebml = Buffer.concat([
      Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0x87, 0x42, 0x82, 0x84]),
      Buffer.from("webm"),
    ]);
    const segment = element([0x18, 0x53, 0x80, 0x67], element(id, Buffer.alloc(36 * MiB)));
    const source = sourceOf(Buffer.concat([ebml, segment]));
    await expect(probe(source)).rejects.toMatchObject({ message: expect.stringMatching(/more than 32 MiB/) });
    expect(source.bytesRead).toBeLessThan(MiB);
  });

  it("is little of a long one", async () => {
    const source = sourceOf(bytesOf(longFilm(20 * MiB)));
    expect(await probe(source)).toMatchObject({ durationSeconds: 2 });
    expect(source.bytesRead).toBeLessThan(MiB);
  });
});

/** The beginning of an interlaced PNG, which is enough to refuse it. */
function interlaced(width: number, height: number, depth: 8 | 16): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, depth === 8 ? 2 : 6, 0, 0, 1], 8);
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  return Buffer.concat([signature, pngChunk("IHDR", header), pngChunk("IDAT", Buffer.alloc(100))]);
}

const black = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: "black" } });

describe("what is unpacked of a picture", () => {
  it.each([
    ["an interlaced PNG", async () => interlaced(10_000, 10_000, 8)],
    ["an interlaced PNG", async () => interlaced(6_000, 6_000, 16)],
    ["a progressive JPEG", () => black(10_000, 9_500).jpeg({ progressive: true }).toBuffer()],
    ["a GIF", () => black(8_400, 8_400).gif({ effort: 1 }).toBuffer()],
    ["an AVIF", () => black(5_000, 4_000).avif({ effort: 0 }).toBuffer()],
  ])("is no more than 256 MiB of %s", async (name, make) => {
    const bytes = await make();
    const refusal = { kind: "invalid", message: expect.stringContaining(`is ${name} of`) };
    await expect(probe(sourceOf(bytes))).rejects.toMatchObject(refusal);
  });

  it("is each row of one that is read row by row", async () => {
    const jpeg = await black(16_000, 16_000).jpeg().toBuffer();
    expect(await probe(sourceOf(jpeg))).toMatchObject({ width: 16_000 });
  });

  it("still finds a transparent spot in a large one", async () => {
    const spot = await black(100, 100).png().toBuffer();
    const clear = { create: { width: 5_000, height: 3_000, channels: 4, background: "#00000000" } } as const;
    const filled = await sharp(clear)
      .composite([{ input: spot }])
      .png()
      .toBuffer();
    const limits = { maxBytes: 5_000_000, mimeTypes: ["image/webp", "image/jpeg"], maxWidth: 900 };
    expect((await fitImage(filled, "image/png", limits)).mimeType).toBe("image/webp");
  });
});

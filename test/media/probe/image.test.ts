import { randomBytes } from "node:crypto";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { fitImage } from "../../../src/media/probe/image.ts";
import { fixture, pngChunk, pngOf } from "../../support/media.ts";

const ANY = { maxBytes: 10_000_000, mimeTypes: ["image/jpeg", "image/png", "image/webp"] };

/** Noise: what packs worst. */
function noise(width: number, height: number, channels: 3 | 4 = 3): Promise<Buffer> {
  return sharp(randomBytes(width * height * channels), { raw: { width, height, channels } })
    .png()
    .toBuffer();
}

describe("fitting a picture", () => {
  it("leaves one that fits as it is", async () => {
    const bytes = fixture("photo.png");
    const fitted = await fitImage(bytes, "image/png", ANY);
    expect(fitted).toEqual({ bytes, mimeType: "image/png", width: 200, height: 100, isChanged: false });
  });

  it("turns it upright and takes out where and with what it was taken", async () => {
    const original = fixture("photo.jpg");
    expect(original.includes("Camera One")).toBe(true);
    const fitted = await fitImage(original, "image/jpeg", ANY);
    expect(fitted).toMatchObject({ mimeType: "image/jpeg", width: 160, height: 240, isChanged: true });
    const metadata = await sharp(fitted.bytes).metadata();
    expect([metadata.exif, metadata.xmp, metadata.iptc, metadata.orientation]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(fitted.bytes.includes("Camera One")).toBe(false);
  });

  it("shrinks to the width and height that are allowed, in proportion", async () => {
    const fitted = await fitImage(fixture("photo.png"), "image/png", {
      ...ANY,
      maxWidth: 100,
      maxHeight: 100,
    });
    expect(fitted).toMatchObject({ mimeType: "image/png", width: 100, height: 50, isChanged: true });
    const tall = await fitImage(await noise(333, 777), "image/png", {
      ...ANY,
      maxWidth: 100,
      maxHeight: 100,
    });
    expect(tall.height).toBe(100);
    expect(tall.width).toBe(43);
  });

  it.each([
    ["white", 400, 100],
    ["white", 100, 400],
    ["blur", 401, 97],
    ["blur", 97, 401],
  ] as const)("gives %s bars to %i × %i, and keeps the shape, size and bytes allowed", async (fill, w, h) => {
    const red = await sharp({ create: { width: w, height: h, channels: 3, background: "red" } })
      .png()
      .toBuffer();
    const limits = { ...ANY, mimeTypes: ["image/jpeg"], maxWidth: 200, maxHeight: 200 };
    const fitted = await fitImage(red, "image/png", { ...limits, aspect: { min: 0.8, max: 1.91, fill } });
    const { data, info } = await sharp(fitted.bytes).raw().toBuffer({ resolveWithObject: true });
    expect([info.width, info.height]).toEqual([fitted.width, fitted.height]);
    expect(Math.max(info.width, info.height)).toBeLessThanOrEqual(200);
    expect(info.width / info.height).toBeGreaterThanOrEqual(0.8);
    expect(info.width / info.height).toBeLessThanOrEqual(1.91);
    const at = (x: number, y: number): number[] => [
      ...data.subarray((y * info.width + x) * 3, (y * info.width + x) * 3 + 3),
    ];
    const [, green = 0] = at(0, 0);
    expect(green > 200).toBe(fill === "white");
    const [r = 0, g = 255] = at(info.width >> 1, info.height >> 1);
    expect([r > 200, g < 60]).toEqual([true, true]);
  });

  it("leaves a shape that is allowed as it is, and a grey or transparent picture gets bars too", async () => {
    const aspect = { min: 0.8, max: 1.91, fill: "blur" } as const;
    const wide = await noise(150, 100);
    expect(await fitImage(wide, "image/png", { ...ANY, aspect })).toMatchObject({ isChanged: false });
    const grey = await sharp({ create: { width: 90, height: 300, channels: 3, background: "#777" } })
      .greyscale()
      .png()
      .toBuffer();
    for (const picture of [grey, await noise(90, 300, 4)]) {
      const fitted = await fitImage(picture, "image/png", { ...ANY, aspect });
      expect([fitted.width, fitted.height]).toEqual([240, 300]);
    }
  });

  it("comes below the bytes that are allowed, by quality first and size last", async () => {
    const picture = await noise(800, 600);
    for (const maxBytes of [400_000, 100_000, 20_000]) {
      const fitted = await fitImage(picture, "image/png", {
        maxBytes,
        mimeTypes: ["image/jpeg", "image/png"],
      });
      expect(fitted.bytes.length).toBeLessThanOrEqual(maxBytes);
      expect(fitted.width / fitted.height).toBeCloseTo(4 / 3, 1);
      expect((await sharp(fitted.bytes).metadata()).width).toBe(fitted.width);
    }
    await expect(
      fitImage(picture, "image/png", { maxBytes: 50, mimeTypes: ["image/jpeg"] }),
    ).rejects.toMatchObject({ kind: "invalid" });
  });

  it("keeps transparency where a format may hold it, else puts it on white", async () => {
    const picture = await noise(300, 300, 4);
    const webp = await fitImage(picture, "image/png", {
      maxBytes: 150_000,
      mimeTypes: ["image/jpeg", "image/webp"],
    });
    expect(webp.mimeType).toBe("image/webp");
    expect((await sharp(webp.bytes).metadata()).hasAlpha).toBe(true);
    const clear = await sharp({
      create: { width: 20, height: 20, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } },
    })
      .png()
      .toBuffer();
    const jpeg = await fitImage(clear, "image/png", { maxBytes: 150_000, mimeTypes: ["image/jpeg"] });
    expect(jpeg.mimeType).toBe("image/jpeg");
    expect((await sharp(jpeg.bytes).raw().toBuffer())[0]).toBeGreaterThan(250);
  });

  it("does not take an opaque picture with an unused alpha channel for a transparent one", async () => {
    const opaque = await sharp(await noise(300, 300))
      .ensureAlpha()
      .png()
      .toBuffer();
    const fitted = await fitImage(opaque, "image/png", {
      maxBytes: 60_000,
      mimeTypes: ["image/jpeg", "image/webp"],
    });
    expect(fitted.mimeType).toBe("image/jpeg");
  });

  it("keeps the frames of an animation that must be shrunk", async () => {
    const frames = await Promise.all(["red", "green", "blue"].map((background) => frame(background)));
    const gif = await sharp(frames, { join: { animated: true } })
      .gif()
      .toBuffer();
    const fitted = await fitImage(gif, "image/gif", {
      maxBytes: 1_000_000,
      mimeTypes: ["image/gif"],
      maxWidth: 20,
    });
    expect(fitted).toMatchObject({ mimeType: "image/gif", width: 20, height: 20, isChanged: true });
    expect((await sharp(fitted.bytes).metadata()).pages).toBe(3);
    const webp = await fitImage(gif, "image/gif", {
      maxBytes: 1_000_000,
      mimeTypes: ["image/jpeg", "image/webp"],
    });
    expect(webp).toMatchObject({ mimeType: "image/webp", width: 40, height: 40 });
    expect((await sharp(webp.bytes).metadata()).pages).toBe(3);
  });

  it("never makes a still picture of one that moves", async () => {
    const frames = await Promise.all(["red", "green"].map((background) => frame(background)));
    const gif = await sharp(frames, { join: { animated: true } })
      .gif()
      .toBuffer();
    const still = { maxBytes: 1_000_000, mimeTypes: ["image/jpeg", "image/png"] };
    await expect(fitImage(gif, "image/gif", still)).rejects.toThrow(/is animated/);
    const apng = animated(fixture("photo.png"));
    expect((await fitImage(apng, "image/png", still)).isChanged).toBe(false);
    await expect(fitImage(apng, "image/png", { ...still, maxWidth: 20 })).rejects.toThrow(/is animated/);
    await expect(fitImage(apng, "image/png", { ...still, mimeTypes: ["image/webp"] })).rejects.toThrow(
      /is animated/,
    );
  });

  it("converts what the platform does not take", async () => {
    const tiff = await sharp(await noise(50, 40))
      .tiff()
      .toBuffer();
    expect((await fitImage(tiff, "image/tiff", ANY)).mimeType).toBe("image/jpeg");
    expect((await fitImage(tiff, "image/tiff", { ...ANY, mimeTypes: ["image/png"] })).mimeType).toBe(
      "image/png",
    );
    await expect(fitImage(tiff, "image/tiff", { ...ANY, mimeTypes: ["image/bmp"] })).rejects.toMatchObject({
      kind: "invalid",
    });
  });

  it("refuses bombs and damage", async () => {
    await expect(fitImage(pngOf(30_000, 30_000), "image/png", ANY)).rejects.toThrow(/too many pixels/);
    await expect(fitImage(fixture("photo.jpg").subarray(0, 1_500), "image/jpeg", ANY)).rejects.toThrow(
      /cut off/,
    );
    await expect(
      fitImage(Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>"), "image/png", ANY),
    ).rejects.toThrow(/damaged/);
  });
});

/** The picture with the chunk that makes a PNG an animated one. */
function animated(png: Buffer): Buffer {
  const afterHeader = 8 + 25;
  const control = Buffer.alloc(8);
  control.writeUInt32BE(2, 0);
  return Buffer.concat([png.subarray(0, afterHeader), pngChunk("acTL", control), png.subarray(afterHeader)]);
}

function frame(background: string): Promise<Buffer> {
  return sharp({ create: { width: 40, height: 40, channels: 3, background } })
    .png()
    .toBuffer();
}

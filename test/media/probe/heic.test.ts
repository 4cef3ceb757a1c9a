import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { decodeHeic } from "../../../src/media/probe/heic.ts";
import { fitImage, pictureSkills, shrinkImage } from "../../../src/media/probe/image.ts";
import { fitPlainImage, inspectPlainImage } from "../../../src/media/probe/plain-image.ts";
import { probe } from "../../../src/media/probe/run-media-reader.ts";
import { fixture, sourceOf } from "../../support/media.ts";

/*
 * phone.heic is made as a telephone's: a grid of four tiles of 512 × 512, cut to 1,000 × 800 and turned a quarter, in
 * the colours of Display P3, with a place, a serial number and an orientation in EXIF, which is not applied again.
 */

const HEIC = "image/heic";
const LIMITS = { mimeTypes: ["image/jpeg", "image/png"], maxBytes: 1_000_000 };

async function colourAt(bytes: Buffer, left: number, top: number): Promise<number[]> {
  const pixel = sharp(bytes).removeAlpha().toColourspace("srgb").extract({ left, top, width: 1, height: 1 });
  return [...(await pixel.raw().toBuffer())].map((value) => (value > 127 ? 1 : 0));
}

describe("HEIC", () => {
  it("is read here", () => expect(pictureSkills()).toEqual({ pictures: true, heic: true }));

  it("is a picture of the size that it is shown in", async () => {
    expect(await probe(sourceOf(fixture("phone.heic")))).toMatchObject({
      mimeType: HEIC,
      type: "image",
      width: 800,
      height: 1_000,
      isAnimated: false,
    });
  });

  it("becomes a JPEG: upright, its tiles in their places, without what tells where and with what it was taken", async () => {
    const { bytes, ...made } = await fitImage(fixture("phone.heic"), HEIC, LIMITS);
    expect(made).toEqual({ mimeType: "image/jpeg", width: 800, height: 1_000, isChanged: true });
    const { exif, xmp, iptc, orientation = 1, format } = await sharp(bytes).metadata();
    expect({ exif, xmp, iptc, orientation, format }).toEqual({ orientation: 1, format: "jpeg" });
    expect(bytes.includes("SN-12345678")).toBe(false);
    const corners = [
      [10, 10],
      [790, 10],
      [10, 990],
      [790, 990],
    ] as const;
    // Blue, red, white, green.
    expect(await Promise.all(corners.map(([left, top]) => colourAt(bytes, left, top)))).toEqual([
      [0, 0, 1],
      [1, 0, 0],
      [1, 1, 1],
      [0, 1, 0],
    ]);
  });

  it("is made another one although its type is taken: it may tell where it was taken", async () => {
    const taken = { ...LIMITS, mimeTypes: [HEIC, "image/jpeg"] };
    expect((await fitImage(fixture("phone.heic"), HEIC, taken)).mimeType).toBe("image/jpeg");
  });

  it("keeps its profile until its colours are brought to those of screens", async () => {
    const { icc } = await sharp(fixture("phone.heic")).metadata();
    const plain = await sharp(await decodeHeic(fixture("phone.heic"), icc)).metadata();
    expect(plain).toMatchObject({ format: "tiff", width: 800, height: 1_000, icc });
    expect((await sharp(await decodeHeic(fixture("phone.heic"), undefined)).metadata()).icc).toBeUndefined();
  });

  it("has a small picture", async () => {
    const small = await shrinkImage(fixture("phone.heic"), HEIC, 96);
    expect(await sharp(small ?? undefined).metadata()).toMatchObject({
      format: "webp",
      width: 77,
      height: 96,
    });
  });

  it("that is cut off, or no picture but in name, is refused", async () => {
    const bytes = fixture("phone.heic");
    const empty = Buffer.concat([bytes.subarray(0, 24), Buffer.alloc(2_000)]);
    for (const broken of [bytes.subarray(0, 1_000), bytes.subarray(0, 1_500), empty])
      await expect(probe(sourceOf(broken))).rejects.toThrow(/damaged or cut off/);
  });

  it("is taken without sharp, with its size, and said to need it", () => {
    const bytes = fixture("phone.heic");
    const format = { mimeType: HEIC, type: "image", extension: "heic" } as const;
    expect(inspectPlainImage(bytes, format).isAnimated).toBe(false);
    expect(() => fitPlainImage(bytes, HEIC, LIMITS)).toThrow(
      /is image\/heic where .* sharp is not installed/,
    );
  });
});

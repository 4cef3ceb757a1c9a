import { readFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { demoPicture } from "../../../src/cli/demo/demo-picture.ts";
import { identify } from "../../../src/media/probe/formats.ts";
import { inspectImage } from "../../../src/media/probe/image.ts";
import { fitPlainImage, inspectPlainImage } from "../../../src/media/probe/plain-image.ts";

const LIMITS = {
  mimeTypes: ["image/jpeg", "image/png"],
  maxBytes: 1_000_000,
  maxWidth: 2_000,
  maxHeight: 2_000,
};
const TYPES = ["jpeg", "png", "gif", "webp", "avif", "tiff"] as const;

const picture = (width = 30, height = 20) =>
  sharp({ create: { width, height, channels: 3, background: "teal" } });

const withArtist = () => picture().withExif({ IFD0: { Artist: "Alice" } });

describe("pictures without sharp", () => {
  it.each(TYPES)("reads the size of %s as sharp does", async (type) => {
    const bytes = await picture().toFormat(type).toBuffer();
    const format = await identify(bytes);
    expect(inspectPlainImage(bytes, format)).toMatchObject({ width: 30, height: 20 });
    expect(await inspectImage(bytes, format)).toMatchObject({ width: 30, height: 20 });
  });

  it("reads the size of a turned picture as it is shown", async () => {
    const bytes = await picture().withMetadata({ orientation: 6 }).jpeg().toBuffer();
    expect(inspectPlainImage(bytes, await identify(bytes))).toMatchObject({ width: 20, height: 30 });
  });

  it("passes a picture that fits as it is", async () => {
    const bytes = await readFile(join(import.meta.dirname, "../../fixtures/photo.png"));
    expect(fitPlainImage(bytes, "image/png", LIMITS)).toMatchObject({
      bytes,
      mimeType: "image/png",
      isChanged: false,
    });
  });

  it.each([
    ["is image/webp", () => picture().webp(), "image/webp", LIMITS],
    ["has", () => picture().jpeg(), "image/jpeg", { ...LIMITS, maxBytes: 10 }],
    ["is 30 × 20", () => picture().jpeg(), "image/jpeg", { ...LIMITS, maxWidth: 29 }],
    ["is stored turned", () => picture().withMetadata({ orientation: 3 }).jpeg(), "image/jpeg", LIMITS],
    ["carries personal metadata", () => withArtist().jpeg(), "image/jpeg", LIMITS],
    ["carries personal metadata", () => withArtist().png(), "image/png", LIMITS],
  ])("refuses a picture that %s with the way out", async (reason, draw, mimeType, limits) => {
    const bytes = await draw().toBuffer();
    expect(() => fitPlainImage(bytes, mimeType, limits)).toThrow(
      new RegExp(`^The picture ${reason}.*sharp is not installed`),
    );
  });

  it("refuses what is no picture", async () => {
    const format = await identify(await picture().png().toBuffer());
    expect(() => inspectPlainImage(Buffer.from("nothing"), format)).toThrow("damaged");
  });

  it("draws the demo's picture as a sound PNG", async () => {
    const { info } = await sharp(demoPicture()).raw().toBuffer({ resolveWithObject: true });
    expect(info).toMatchObject({ width: 1_200, height: 800, channels: 3 });
  });
});

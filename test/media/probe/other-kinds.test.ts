import { zipSync } from "fflate";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { identify } from "../../../src/media/probe/formats.ts";
import { probe } from "../../../src/media/probe/run-media-reader.ts";
import { fixture, sourceOf } from "../../support/media.ts";
import { makeCorpus } from "../../support/media-corpus.ts";
import { pdfOf } from "../../support/pdf.ts";

const latin1 = (text: string, bytes = 2_000): Buffer =>
  Buffer.concat([Buffer.from(text, "latin1"), Buffer.alloc(bytes)]);

const office = (folder: string): Buffer =>
  Buffer.from(
    zipSync({
      "[Content_Types].xml": Buffer.from(
        `<Types><Override ContentType="application/vnd.openxmlformats-officedocument.${folder}.main+xml"/></Types>`,
      ),
    }),
  );

const JXL = "\0\0\0\x0cJXL \r\n\x87\n";
const JP2 = "\0\0\0\x0cjP  \r\n\x87\n\0\0\0\x14ftypjp2 ";

describe("a file of a kind that is not taken", () => {
  it.each<[string, Buffer, string]>([
    ["BMP", latin1("BM"), "This is a BMP picture. Send it as JPEG or PNG."],
    ["JPEG XL", latin1(JXL), "This is a JPEG XL picture. Send it as JPEG or PNG."],
    ["JPEG 2000", latin1(JP2), "This is a JPEG 2000 picture. Send it as JPEG or PNG."],
    ["PSD", latin1("8BPS\0\x01"), "This is a Photoshop file (PSD). Send it as JPEG or PNG."],
    ["ICO", latin1("\0\0\x01\0\x01\0"), "This is an icon (ICO). Send it as JPEG or PNG."],
    ["raw", latin1("FUJIFILMCCD-RAW 0201"), "This is a camera's raw picture. Send it as JPEG or PNG."],
    ["AVI", latin1("RIFF\0\0\0\0AVI LIST"), "This is an AVI video. Send it as MP4."],
    ["FLV", latin1("FLV\x01"), "This is a Flash video (FLV). Send it as MP4."],
    ["AIFF", latin1("FORM\0\0\0\0AIFF"), "This is an AIFF sound. Send it as MP3 or M4A."],
    ["SVG", latin1('<svg xmlns="http://www.w3.org/2000/svg">'), "This is an SVG drawing. Send it as PNG."],
    [
      "SVG after XML",
      latin1('<?xml version="1.0"?>\n<!-- Inkscape -->\n<svg>'),
      "This is an SVG drawing. Send it as PNG.",
    ],
    ["HTML", latin1("<!DOCTYPE html><title>404"), "This is a web page. Give the address of the file itself."],
    ["a playlist", latin1("#EXTM3U\n"), "This is a playlist. Give the video or sound itself."],
    ["JSON", latin1('{"error":"no such file"}'), "This is a JSON file."],
    [
      "ZIP",
      Buffer.from(zipSync({ "a.txt": Buffer.from("a") })),
      "This is a ZIP archive. Unpack it, and send the files that are in it.",
    ],
    [
      "XLSX",
      office("spreadsheetml.sheet"),
      "This is an Excel workbook. Save it as CSV (UTF-8), and send that.",
    ],
    ["DOCX", office("wordprocessingml.document"), "This is a Word document. Send it as PDF."],
    [
      "an old Office file",
      latin1("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
      "This is an old Office file (DOC, XLS, PPT). Send it as PDF.",
    ],
    ["RTF", latin1("{\\rtf1\\ansi"), "This is an RTF document. Send it as PDF."],
    [
      "a HEIC that moves",
      latin1("\0\0\0\x18ftyphevc\0\0\0\0hevc"),
      "This is a HEIC that moves. Send it as a video (MP4), or one of its pictures as JPEG.",
    ],
    ["JPEG 2000 of high throughput", latin1(JP2.replace("jp2 ", "jph ")), "This is a JPEG 2000 picture."],
    ["a codestream", latin1("\xff\x4f\xff\x51"), "This is a JPEG 2000 picture."],
    ["a program", latin1("MZ\x90\0"), "This is a Windows program (EXE)."],
    ["what is in no list", latin1("\xca\xfe\xba\xbe\0\0\0\x34"), "a file of the type application/java-vm."],
    ["a text", Buffer.from("Hello wörld.\nAnd more.\n"), "This is plain text. Write it into the post"],
  ])("%s is named", async (_name, bytes, sentence) => {
    await expect(identify(bytes)).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringContaining(sentence),
    });
  });

  it.each(["photo.jpg", "phone.heic"])("is named where it is damaged: %s", async (name) => {
    const bytes = Buffer.from(fixture(name));
    bytes.fill(0, 700);
    const kind = name.endsWith("heic") ? "HEIC" : "JPG";
    await expect(probe(sourceOf(bytes))).rejects.toThrow(`The picture (${kind}) is damaged`);
  });

  it("that nobody knows is told what is taken", async () => {
    await expect(identify(latin1("\x07\x07\x07\x07"))).rejects.toThrow(
      /is no picture.*Give one of jpg, .*heic.*pdf\.$/,
    );
  });

  it.each(["a.heic", "a.HEIF", "a.jpeg", "b.b.mp4"])(
    "is called damaged where it is named %s",
    async (name) => {
      await expect(identify(latin1("\x07\x07\x07\x07"), name)).rejects.toThrow(
        /^The file is damaged: it is called \.\w+, .*Export it again\.$/,
      );
      // What it is counts for more than its name.
      await expect(identify(latin1("{\\rtf1\\ansi"), name)).rejects.toThrow("This is an RTF document.");
    },
  );
});

describe("a file that is told by what stands further on", () => {
  it("is a TIFF with its directory at the end", async () => {
    const pixels = Buffer.alloc(160 * 160 * 3, 90);
    const bytes = await sharp(pixels, { raw: { width: 160, height: 160, channels: 3 } })
      .tiff({ compression: "none" })
      .toBuffer();
    expect(bytes.readUInt32LE(4)).toBeGreaterThan(64 * 1024);
    expect(await probe(sourceOf(bytes))).toMatchObject({ mimeType: "image/tiff", width: 160, height: 160 });
  });

  it("is what comes after the cover of a sound, however large that is", async () => {
    const sounds = (await makeCorpus()).filter(({ name }) => name === "flac" || name === "mp3");
    for (const kib of [1, 20, 100, 1_000])
      for (const { bytes, mimeType } of sounds) {
        const size = kib * 1_024;
        const tag = Buffer.alloc(10 + size);
        tag.write("ID3\x04");
        tag.set(
          [21, 14, 7, 0].map((shift) => (size >> shift) & 0x7f),
          6,
        );
        const sound = Buffer.concat([tag, bytes, mimeType === "audio/flac" ? Buffer.alloc(1_024) : bytes]);
        const source = sourceOf(sound);
        const found = await probe(source).catch((error: unknown) => error);
        expect({ kib, found }).toMatchObject({ kib, found: { mimeType } });
      }
  });

  it("is a film with its tables at the end, or without a type at its beginning", async () => {
    for (const { name, bytes } of await makeCorpus())
      if (name === "mp4") expect(await probe(sourceOf(bytes))).toMatchObject({ mimeType: "video/mp4" });
    const clip = fixture("clip.mp4");
    expect(await identify(clip.subarray(clip.readUInt32BE(0)))).toMatchObject({
      mimeType: "video/quicktime",
    });
  });

  it("is a PDF after a line that some programs put before it", async () => {
    const bytes = Buffer.concat([Buffer.from("\r\n% scanned\n"), pdfOf({ pages: 2 })]);
    expect(await probe(sourceOf(bytes))).toMatchObject({ mimeType: "application/pdf", pages: 2 });
  });

  it("is an AVIF under the name of all pictures of its container", async () => {
    const bytes = await sharp({ create: { width: 20, height: 10, channels: 3, background: "red" } })
      .avif()
      .toBuffer();
    bytes.write("mif1", 8, "latin1");
    expect(await probe(sourceOf(bytes))).toMatchObject({ mimeType: "image/avif", width: 20 });
  });
});

/** ISO 3533: a page of one segment. */
const oggOf = (stream: string): Buffer => {
  const head = Buffer.alloc(28);
  head.write("OggS\0\x02");
  head[26] = 1;
  head[27] = 50;
  return Buffer.concat([head, latin1(stream, 200)]);
};

describe("what is whole and not understood", () => {
  it.each<[string, Buffer]>([
    ["FLAC in Ogg", oggOf("\x7fFLAC\x01\0")],
    ["Speex in Ogg", oggOf("Speex   1.2")],
    ["an AVIF sequence", fixture("sequence.avif")],
    [
      "QuickTime without a file type, as old cameras write it",
      fixture("clip.mp4").subarray(fixture("clip.mp4").readUInt32BE(0)),
    ],
  ])("is not called damaged: %s", async (kind, bytes) => {
    const error = await probe(sourceOf(bytes)).catch((thrown: Error) => thrown);
    expect((error as Error).message).toContain(`is of a kind that cannot be read here (${kind}). Send it as`);
  });

  it("is damaged where its codec is one that is read", async () => {
    await expect(probe(sourceOf(oggOf("OpusHead\x01")))).rejects.toThrow(/damaged or cut off/);
  });
});

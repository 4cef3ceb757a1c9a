import { BufferTarget, EncodedAudioPacketSource, EncodedPacket, EncodedVideoPacketSource } from "mediabunny";
import * as media from "mediabunny";
import sharp, { type Sharp } from "sharp";
import { filmOf, interlacedPng } from "./hostile-media.ts";
import { fixture } from "./media.ts";
import { pdfOf } from "./pdf.ts";

/** A whole file to begin with. `mimeType`: as it is uploaded. */
export interface Seed {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Buffer;
}

const SIDE = 48;

/** Some small file of each format that is taken. */
export async function makeCorpus(): Promise<Seed[]> {
  return [...(await pictures()), ...(await films()), ...(await sounds()), ...documents()];
}

async function pictures(): Promise<Seed[]> {
  const frames = 3;
  const noise = Buffer.from(
    Array.from({ length: SIDE * SIDE * frames * 3 }, (_, at) => (at * 2_654_435_761) >>> 24),
  );
  const still = (): Sharp =>
    sharp(noise.subarray(0, SIDE * SIDE * 3), { raw: { width: SIDE, height: SIDE, channels: 3 } }).withExif({
      IFD0: { Copyright: "nobody" },
    });
  const moving = (): Sharp =>
    sharp(noise, { raw: { width: SIDE, height: SIDE * frames, channels: 3, pageHeight: SIDE } });
  const made: readonly [string, string, Sharp][] = [
    ["jpg", "image/jpeg", still().jpeg()],
    ["progressive.jpg", "image/jpeg", still().jpeg({ progressive: true })],
    ["png", "image/png", still().png()],
    ["palette.png", "image/png", still().png({ palette: true })],
    ["webp", "image/webp", still().webp()],
    ["lossless.webp", "image/webp", still().webp({ lossless: true })],
    ["animated.webp", "image/webp", moving().webp({ loop: 0 })],
    ["gif", "image/gif", still().gif()],
    ["animated.gif", "image/gif", moving().gif({ loop: 0 })],
    ["avif", "image/avif", still().avif({ effort: 0 })],
    ["tiff", "image/tiff", still().tiff({ compression: "lzw" })],
    ["tiled.tiff", "image/tiff", still().tiff({ tile: true, tileWidth: 16, tileHeight: 16 })],
    ["jpeg.tiff", "image/tiff", still().tiff({ compression: "jpeg" })],
    [
      "pyramid.tiff",
      "image/tiff",
      still().tiff({ pyramid: true, tile: true, tileWidth: 16, tileHeight: 16 }),
    ],
  ];
  const drawn = made.map(async ([name, mimeType, picture]) => ({
    name,
    mimeType,
    bytes: await picture.toBuffer(),
  }));
  const interlaced = { name: "interlaced.png", mimeType: "image/png", bytes: await interlacedPng(40, 30, 8) };
  const phone = { name: "heic", mimeType: "image/heic", bytes: fixture("phone.heic") };
  return [...(await Promise.all(drawn)), interlaced, phone];
}

/** What a key frame and the ones after it consist of matters to nobody here. */
const DECODER = new Uint8Array(Buffer.from("0142001effe100046742001e01000268ce", "hex"));

async function films(): Promise<Seed[]> {
  const formats: readonly [string, string, media.OutputFormat, "avc" | "vp9"][] = [
    ["mp4", "video/mp4", new media.Mp4OutputFormat({ fastStart: false }), "avc"],
    ["fast.mp4", "video/mp4", new media.Mp4OutputFormat({ fastStart: "in-memory" }), "avc"],
    ["fragments.mp4", "video/mp4", new media.Mp4OutputFormat({ fastStart: "fragmented" }), "avc"],
    ["mov", "video/quicktime", new media.MovOutputFormat(), "avc"],
    ["mkv", "video/x-matroska", new media.MkvOutputFormat(), "avc"],
    ["webm", "video/webm", new media.WebMOutputFormat(), "vp9"],
  ];
  const made = formats.map(async ([name, mimeType, format, codec]) => {
    const target = new BufferTarget();
    const output = new media.Output({ format, target });
    const source = new EncodedVideoPacketSource(codec);
    output.addVideoTrack(source);
    await output.start();
    const decoderConfig = {
      codec: codec === "avc" ? "avc1.42001e" : "vp09.00.10.08",
      codedWidth: 64,
      codedHeight: 48,
      ...(codec === "avc" ? { description: DECODER } : {}),
    };
    for (let at = 0; at < 12; at += 1) {
      const data = new Uint8Array([0, 0, 0, 4, 0x65, 0x88, 0x84, at]);
      const packet = new EncodedPacket(data, at % 4 === 0 ? "key" : "delta", at / 4, 0.25);
      await source.add(packet, { decoderConfig } as never);
    }
    await output.finalize();
    return { name, mimeType, bytes: Buffer.from(target.buffer as ArrayBuffer) };
  });
  return [
    { name: "clip.mp4", mimeType: "video/mp4", bytes: fixture("clip.mp4") },
    { name: "index.mp4", mimeType: "video/mp4", bytes: Buffer.concat([...filmOf({ sizes: 40 }).chunks()]) },
    { name: "ts", mimeType: "video/mp2t", bytes: stream() },
    ...(await Promise.all(made)),
  ];
}

/** Packets of MPEG-TS: a table that names a program, its map with one stream, and nothing in that. */
function stream(): Buffer {
  const packet = (pid: number, payload: readonly number[]): Buffer => {
    const bytes = Buffer.alloc(188, 0xff);
    bytes.set([0x47, 0x40 | (pid >> 8), pid & 0xff, 0x10, ...payload]);
    return bytes;
  };
  const programs = [0, 0, 0xb0, 13, 0, 1, 0xc1, 0, 0, 0, 1, 0xe1, 0, 0, 0, 0, 0];
  const map = [0, 2, 0xb0, 18, 0, 1, 0xc1, 0, 0, 0xe1, 1, 0xf0, 0, 0x0f, 0xe1, 1, 0xf0, 0, 0, 0, 0, 0];
  const adts = [0xff, 0xf1, 0x50, 0x80, 0x02, 0x1f, 0xfc, 0, 0, 0, 0, 0, 0, 0, 0, 0];
  const pes = [0, 0, 1, 0xc0, 0, 0, 0x80, 0x80, 5, 0x21, 0, 1, 0, 1, ...adts];
  return Buffer.concat([
    packet(0, programs),
    packet(0x100, map),
    ...[1, 2, 3, 4].map(() => packet(0x101, pes)),
  ]);
}

function documents(): Seed[] {
  const objects = [
    "<</Length 9 0 R>>stream\nq 1 0 0 1 0 0 cm Q\nendstream",
    "<</A(b\\)(c))/D<</E[1 2 R<00>]>>>>",
  ];
  return [false, true].map((isPacked) => ({
    name: isPacked ? "packed.pdf" : "pdf",
    mimeType: "application/pdf",
    bytes: pdfOf({ pages: 3, objects, isPacked }),
  }));
}

async function sounds(): Promise<Seed[]> {
  const frame = Buffer.alloc(417);
  frame.set([0xff, 0xfb, 0x90, 0x00]);
  const tag = Buffer.concat([Buffer.from("ID3\u0003\0\0\0\0\0\u0014", "latin1"), Buffer.alloc(20)]);
  const adts = Buffer.concat([Buffer.from([0xff, 0xf1, 0x50, 0x80, 0x02, 0x1f, 0xfc]), Buffer.alloc(9)]);
  const wav = Buffer.alloc(44 + 800);
  wav.write("RIFF");
  wav.writeUInt32LE(wav.length - 8, 4);
  wav.write("WAVEfmt ", 8);
  wav.set([16, 0, 0, 0, 1, 0, 1, 0, 0x40, 0x1f, 0, 0, 0x40, 0x1f, 0, 0, 1, 0, 8, 0], 16);
  wav.write("data", 36);
  wav.writeUInt32LE(800, 40);
  const info = Buffer.alloc(34);
  info.set([16, 0, 16, 0, 0, 0, 14, 0, 0, 16, 0x0a, 0xc4, 0x40, 0xf0, 0, 0, 0x10, 0]);
  const flac = Buffer.concat([
    Buffer.from("fLaC"),
    Buffer.from([0x80, 0, 0, 34]),
    info,
    Buffer.from([0xff, 0xf8, 0x69, 0x08, 0, 0, 0]),
  ]);
  return [
    {
      name: "mp3",
      mimeType: "audio/mpeg",
      bytes: Buffer.concat([tag, ...Array.from({ length: 6 }, () => frame)]),
    },
    { name: "aac", mimeType: "audio/aac", bytes: Buffer.concat(Array.from({ length: 12 }, () => adts)) },
    { name: "wav", mimeType: "audio/wav", bytes: wav },
    { name: "flac", mimeType: "audio/flac", bytes: flac },
    { name: "ogg", mimeType: "audio/ogg", bytes: await opus() },
  ];
}

async function opus(): Promise<Buffer> {
  const target = new BufferTarget();
  const output = new media.Output({ format: new media.OggOutputFormat(), target });
  const source = new EncodedAudioPacketSource("opus");
  output.addAudioTrack(source);
  await output.start();
  const description = Buffer.from("OpusHead\u0001\u0001\0\0\u0080\u00bb\0\0\0\0\0", "latin1");
  const decoderConfig = { codec: "opus", numberOfChannels: 1, sampleRate: 48_000, description };
  for (let at = 0; at < 8; at += 1)
    await source.add(new EncodedPacket(new Uint8Array([0xf8, 0xff, 0xfe]), "key", at / 50, 0.02), {
      decoderConfig,
    } as never);
  await output.finalize();
  return Buffer.from(target.buffer as ArrayBuffer);
}

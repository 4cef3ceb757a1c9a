import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import sharp from "sharp";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import bluesky from "../../src/platforms/bluesky/index.ts";
import type { MediaItem } from "../../src/ports/media.ts";
import { storeUpload } from "../../src/files/file-uploads.ts";
import { limitMedia } from "../../src/publishing/publish-io.ts";
import { schedulePost } from "../../src/posts/schedule-post.ts";
import { startCanary } from "../support/canary.ts";
import { callOf } from "../support/context.ts";
import { createFileContext, type FileContext } from "../support/file-context.ts";
import { createMediaProbe } from "../../src/media/probe/media-reader.ts";
import { fitPlainImage } from "../../src/media/probe/plain-image.ts";
import devto from "../../src/platforms/devto/index.ts";
import { buffer } from "node:stream/consumers";
import { toIso } from "../../src/domain/time.ts";
import { fixture } from "../support/media.ts";
import { addAccount } from "../support/publishing.ts";
import { queryOf } from "../support/handles.ts";

let ctx: FileContext;
let accountId: string;
beforeEach(async () => {
  ctx = await createFileContext({ platformList: [bluesky] });
  accountId = (await addAccount(ctx, { provider: "bluesky" })).id;
});
afterEach(() => ctx[Symbol.asyncDispose]());

async function upload(bytes: Buffer, altText: string | null = "A picture"): Promise<string> {
  const body = Readable.from([bytes]);
  return (await storeUpload(callOf(ctx), { name: null, altText, body })).file.url;
}

/** A time that is given is not forgotten, and so not told of. */
const plan = (content: object) =>
  schedulePost(callOf(ctx), {
    accountId,
    caption: "Hello",
    dryRun: true,
    scheduledAt: toIso(ctx.clock.now()),
    ...content,
  });

const picture = (width: number, height: number, background = "red") =>
  sharp({ create: { width, height, channels: 3, background } });

describe("scheduling with an own file", () => {
  it("says nothing of a picture that fits", async () => {
    expect((await plan({ mediaUrl: await upload(fixture("photo.png")) })).warnings).toEqual([]);
  });

  it("says what a picture will be made", async () => {
    const large = await upload(await picture(4_000, 3_000).tiff({ compression: "lzw" }).toBuffer());
    const changes = "re-encoded from image/tiff as image/jpeg, shrunk from 4000 × 3000 to 2000 × 1500";
    const planned = await plan({
      mediaUrl: large,
      metadata: { thread: [{ caption: "b", mediaUrl: large }] },
    });
    expect(planned.warnings).toContain(`mediaUrl: the picture will be ${changes} for Bluesky.`);
    const shown = { url: large, type: "image", change: `The picture will be ${changes}.` };
    expect(planned.preview).toMatchObject({ media: [shown], parts: [{ text: "b", media: [shown] }] });
    const heavy = await upload(
      await sharp(Buffer.alloc(1_200_000, 7), { raw: { width: 1_000, height: 400, channels: 3 } })
        .png({ compressionLevel: 0 })
        .toBuffer(),
    );
    const { warnings } = await plan({
      metadata: { moreMedia: [{ url: heavy }], altText: "x" },
      mediaUrl: await upload(fixture("photo.png")),
    });
    expect(warnings).toEqual([
      expect.stringMatching(
        /^metadata\.moreMedia\[0\]\.url: the picture will be brought from \d+ bytes to at most 1000000 for Bluesky\.$/,
      ),
    ]);
  });

  it.each([
    ["mediaUrl", (url: string) => ({ mediaUrl: url })],
    [
      "metadata.thread[0].mediaUrl",
      (url: string) => ({ metadata: { thread: [{ caption: "Next", mediaUrl: url }] } }),
    ],
  ])("refuses in %s what cannot be made fit", async (field, content) => {
    const frames = await Promise.all(
      ["red", "blue"].map((background) => picture(10, 10, background).png().toBuffer()),
    );
    const moving = await sharp(frames, { join: { animated: true } })
      .gif()
      .toBuffer();
    await expect(plan(content(await upload(moving)))).rejects.toMatchObject({
      kind: "invalid",
      message: `${field}: is animated, and must be a still picture, or a video on Bluesky. Give another file.`,
    });
    await expect(plan(content(await upload(fixture("sound.mp3"))))).rejects.toThrow(
      `${field}: is of type audio, and must be image or video`,
    );
  });

  it("counts the items of each kind", async () => {
    const clip = await upload(fixture("clip.mp4"));
    const two = { mediaUrl: clip, metadata: { moreMedia: [{ url: clip }] } };
    await expect(plan(two)).rejects.toThrow(
      "metadata.moreMedia: makes 2 items of type video, and may make 1 on Bluesky.",
    );
  });

  it("refuses a video that lasts too long", async () => {
    const url = await upload(fixture("clip.mp4"));
    await queryOf(ctx.store).updateTable("files").set({ duration_seconds: 601 }).execute();
    await expect(plan({ mediaUrl: url })).rejects.toThrow(
      "mediaUrl: lasts 601 seconds, and may last 600 on Bluesky.",
    );
  });
});

describe("a picture without alt text", () => {
  const photo = (): Promise<string> => upload(fixture("photo.png"), null);
  const HINT = "Say in a sentence what can be seen, for people who cannot see it.";

  it("is told once a post, with the place where the text belongs", async () => {
    const url = await photo();
    expect((await plan({ mediaUrl: url })).warnings).toEqual([
      `metadata.altText: the picture has no alt text. ${HINT}`,
    ]);
    const moreMedia = [{ url }, { url, altText: "A lake" }];
    const thread = [{ caption: "Next", mediaUrl: url }];
    expect((await plan({ mediaUrl: url, metadata: { altText: "A hill", moreMedia } })).warnings).toEqual([
      `metadata.moreMedia[0].altText: picture 2 of 3 has no alt text. ${HINT}`,
    ]);
    expect((await plan({ mediaUrl: url, metadata: { moreMedia, thread } })).warnings).toEqual([
      `metadata.altText: pictures 1, 2 and 4 have no alt text. ${HINT}`,
    ]);
  });

  it("is fine where the post says it, or that there is nothing to say, where the file does, and in films", async () => {
    const url = await photo();
    for (const altText of ["A hill", ""])
      expect((await plan({ mediaUrl: url, metadata: { altText } })).warnings).toEqual([]);
    expect((await plan({ mediaUrl: await upload(fixture("photo.png")) })).warnings).toEqual([]);
    expect((await plan({ mediaUrl: await upload(fixture("clip.mp4"), null) })).warnings).toEqual([]);
    expect((await plan({})).warnings).toEqual([]);
  });

  it("is told of an address that says it is a picture", async () => {
    await using source = await startCanary((_request, response) =>
      response.writeHead(200, { "content-type": "image/png", "content-length": 400 }).end(),
    );
    expect((await plan({ mediaUrl: `${source.origin}/a.png` })).warnings).toEqual([
      `metadata.altText: the picture has no alt text. ${HINT}`,
    ]);
  });
});

describe("metadata that stands for nothing", () => {
  it("is left out where it is null, or an empty text that its field cannot be", async () => {
    const metadata = {
      title: null,
      link: "",
      altText: "",
      language: null,
      thread: [{ caption: "N", mediaUrl: null }],
    };
    expect((await plan({ metadata })).post.metadata).toEqual({ altText: "", thread: [{ caption: "N" }] });
    expect((await plan({ metadata: { title: null } })).post.metadata).toBeNull();
    await expect(plan({ metadata: { colour: null } })).rejects.toThrow(/"colour" is not a known field/);
  });
});

describe("scheduling with an address", () => {
  it("warns of a video that says it is too large", async () => {
    await using source = await startCanary((_request, response) =>
      response.writeHead(200, { "content-type": "video/mp4", "content-length": 400_000_000 }).end(),
    );
    expect((await plan({ mediaUrl: `${source.origin}/a.mp4` })).warnings).toEqual([
      "mediaUrl: the address says that the video has 400000000 bytes, but Bluesky takes at most 300000000. Give a smaller one.",
    ]);
  });
});

describe("publishing", () => {
  const facts = { ...figures("image"), sha256: "0".repeat(64) };
  function figures(type: "image" | "video" | "audio") {
    const nothing = {
      width: null,
      height: null,
      durationSeconds: null,
      pages: null,
      videoCodec: null,
      audioCodec: null,
    };
    const mimeType = { image: "image/png", video: "video/mp4", audio: "audio/mpeg" }[type];
    return { mimeType, type, sizeBytes: 10, ...nothing, isAnimated: false };
  }
  const itemOf = (url: string, change: object): MediaItem => ({
    url,
    title: "a",
    altText: null,
    facts: { ...facts, ...change },
    open: () => createReadStream(""),
  });

  function mediaOf(changes: Readonly<Record<string, object>>, metadata = {}) {
    const media = {
      item: async (url: string) => itemOf(url, changes[url] ?? {}),
      fitImage: notHere,
      publicUrl: notHere,
    };
    const signal = new AbortController().signal;
    const of = {
      ctx,
      platform: bluesky,
      capabilities: bluesky.capabilities,
      ownerId: "o",
      postId: "p",
      signal,
      dueAt: 0,
      giveUpAt: Infinity,
    };
    return limitMedia(of, media, { mediaUrl: "a", metadata });
  }
  async function notHere(): Promise<never> {
    throw new Error("is not asked for");
  }

  it("checks what comes of an address before the platform's file sees it", async () => {
    expect((await mediaOf({}).item("a")).facts.type).toBe("image");
    await expect(mediaOf({ a: figures("audio") }).item("a")).rejects.toThrow(/^mediaUrl: is of type audio/);
    await expect(mediaOf({ a: { isAnimated: true } }).item("a")).rejects.toThrow(/^mediaUrl: is animated/);
    await expect(mediaOf({ a: { ...figures("video"), sizeBytes: 300_000_001 } }).item("a")).rejects.toThrow(
      /has 300000001 bytes/,
    );
  });

  it("leaves pictures beside the post alone", async () => {
    const media = mediaOf({ t: figures("audio") }, { thumbnailUrl: "t" });
    expect((await media.item("t")).facts.type).toBe("audio");
  });

  it("counts items once, however often they are opened", async () => {
    const media = mediaOf({ a: figures("video"), b: figures("video") }, { moreMedia: [{ url: "b" }] });
    for (let time = 0; time < 3; time += 1) await media.item("a");
    await expect(media.item("b")).rejects.toThrow(/makes 2 items of type video, and may make 1/);
  });
});

/** As `createMediaProbe` where packages are missing. */
function probeWithout(missing: "sharp" | "libheif-js") {
  const probe = createMediaProbe();
  return {
    ...probe,
    skills: async () => ({ pictures: missing !== "sharp", heic: false }),
    async fitImage(...[source, { mimeType, limits }, signal]: Parameters<typeof probe.fitImage>) {
      if (missing !== "sharp") return probe.fitImage(source, { mimeType, limits }, signal);
      return fitPlainImage(
        await buffer(source.read({ start: 0, end: source.sizeBytes - 1 })),
        mimeType,
        limits,
      );
    },
  };
}

describe("where something is not installed", () => {
  const ADVICE =
    /This Posthorn cannot change pictures: sharp is not installed\. Install Posthorn with its optional packages\.$/;
  const place = { GPSLatitudeRef: "N", GPSLatitude: "48/1 8/1 14/1" };

  it.each<[string, () => Promise<Buffer>, RegExp]>([
    ["too large", () => picture(4_000, 3_000).png().toBuffer(), ADVICE],
    ["of another type", () => picture(40, 30).tiff().toBuffer(), ADVICE],
    ["HEIC", async () => fixture("phone.heic"), ADVICE],
    [
      "turned",
      () => picture(40, 30).withMetadata({ orientation: 6 }).jpeg().toBuffer(),
      /is stored turned.*sharp is not installed/,
    ],
    [
      "taken at a place",
      () => picture(40, 30).withExif({ IFD3: place }).jpeg().toBuffer(),
      /personal metadata.*sharp is not installed/,
    ],
  ])("a picture that is %s is refused when it is planned, without sharp", async (_name, draw, sentence) => {
    ctx = { ...ctx, probe: probeWithout("sharp") };
    const mediaUrl = await upload(await draw());
    const planned = plan({ mediaUrl });
    await expect(planned).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(/^mediaUrl: /),
    });
    await expect(planned).rejects.toThrow(sentence);
    await expect(plan({ metadata: { thread: [{ caption: "b", mediaUrl }] } })).rejects.toThrow(sentence);
    expect(JSON.stringify((await plan({})).preview)).not.toContain("will be");
  });

  it("a picture that fits is sent as it is without sharp", async () => {
    ctx = { ...ctx, probe: probeWithout("sharp") };
    expect((await plan({ mediaUrl: await upload(fixture("photo.png")) })).warnings).toEqual([]);
  });

  it("a HEIC is refused when it is planned, without libheif, and other pictures are shrunk", async () => {
    ctx = { ...ctx, probe: probeWithout("libheif-js") };
    await expect(plan({ mediaUrl: await upload(fixture("phone.heic")) })).rejects.toThrow(
      /is image\/heic, and must be .* This Posthorn cannot read HEIC: libheif-js is not installed/,
    );
    const large = await upload(await picture(4_000, 3_000).png().toBuffer());
    expect((await plan({ mediaUrl: large })).warnings.join()).toContain("shrunk from");
  });

  it("a HEIC is made a JPEG where it is", async () => {
    const { warnings, preview } = await plan({ mediaUrl: await upload(fixture("phone.heic")) });
    const change = "the picture will be re-encoded from image/heic as image/jpeg";
    expect(warnings).toEqual([`mediaUrl: ${change} for Bluesky.`]);
    expect(preview?.media[0]?.change).toBe(`T${change.slice(1)}.`);
  });

  it("an animated GIF is refused without ffmpeg, and says what helps", async () => {
    const frames = await Promise.all(["red", "blue"].map((one) => picture(40, 30, one).png().toBuffer()));
    const mediaUrl = await upload(
      await sharp(frames, { join: { animated: true } })
        .gif({ delay: [500, 700] })
        .toBuffer(),
    );
    const howToInstall = "With ffmpeg Posthorn makes it fit: install it.";
    const none = () => Promise.reject(new Error("No film is converted here."));
    const work = { convert: none, assertRoom: none, removeLeftOvers: none };
    ctx = { ...ctx, films: { isThere: async () => false, howToInstall, ...work } };
    await expect(plan({ mediaUrl })).rejects.toThrow(
      `must be a still picture, or a video on Bluesky. Give another file. ${howToInstall}`,
    );
    ctx = { ...ctx, films: { isThere: async () => true, howToInstall, ...work } };
    expect((await plan({ mediaUrl })).warnings).toEqual([
      "mediaUrl: the picture will be re-encoded from image/gif as video/mp4 for Bluesky.",
    ]);
    // A film has no other item beside it.
    const more = { mediaUrl, metadata: { moreMedia: [{ url: mediaUrl }] } };
    await expect(plan(more)).rejects.toThrow(/metadata\.moreMedia: /);
  });
});

describe("a platform that shows pictures from where they lie", () => {
  beforeEach(async () => {
    await ctx[Symbol.asyncDispose]();
    ctx = await createFileContext({ platformList: [devto], publicUrl: async () => "https://posts.example" });
    accountId = (await addAccount(ctx, { provider: "devto" })).id;
  });
  const metadata = { title: "Horns" };

  it("takes one that needs no change", async () => {
    const mediaUrl = await upload(fixture("photo.png"));
    expect((await plan({ mediaUrl, metadata })).warnings).toEqual([]);
  });

  it.each<[string, () => Promise<Buffer>, RegExp]>([
    ["HEIC", async () => fixture("phone.heic"), /is image\/heic, and must be/],
    [
      "one that tells who took it",
      () =>
        picture(40, 30)
          .withExif({ IFD0: { Artist: "Alice" } })
          .jpeg()
          .toBuffer(),
      /shows pictures unchanged/,
    ],
  ])("refuses %s when it is planned", async (_name, draw, sentence) => {
    const url = await upload(await draw());
    await expect(plan({ mediaUrl: url, metadata })).rejects.toThrow(sentence);
    await expect(plan({ metadata: { ...metadata, thumbnailUrl: url } })).rejects.toThrow(
      /^metadata\.thumbnailUrl: /,
    );
  });
});

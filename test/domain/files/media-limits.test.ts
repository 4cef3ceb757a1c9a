import { describe, expect, it } from "vitest";
import { loadCatalog } from "../../../src/app/setup.ts";
import type { AcceptedMedia } from "../../../src/domain/accounts/capabilities.ts";
import {
  asSent,
  checkCounts,
  checkMedia,
  EVERY_SKILL,
  type MediaFigures,
} from "../../../src/domain/files/media-limits.ts";

const VIDEO: MediaFigures = {
  mimeType: "video/mp4",
  type: "video",
  sizeBytes: 1_000,
  width: 1_920,
  height: 1_080,
  durationSeconds: 30,
  pages: null,
  videoCodec: "avc",
  audioCodec: "aac",
  isAnimated: false,
};
const PICTURE: MediaFigures = {
  ...VIDEO,
  mimeType: "image/png",
  type: "image",
  durationSeconds: null,
  videoCodec: null,
  audioCodec: null,
};
/** Where no film is converted. */
const check = (media: MediaFigures, accepts: readonly AcceptedMedia[]) =>
  checkMedia(media, accepts, { ...EVERY_SKILL, films: false });
const NO_SKILL = { pictures: false, heic: false, films: false };

const ANY = { maxBytes: null, maxSeconds: null, minAspectRatio: null, maxAspectRatio: null, maxItems: 4 };
const video = (limits: Partial<AcceptedMedia>): AcceptedMedia => ({
  kind: "video",
  mimeTypes: ["video/mp4"],
  ...ANY,
  ...limits,
});
const image = (limits: Partial<AcceptedMedia>): AcceptedMedia => ({
  kind: "image",
  mimeTypes: ["image/jpeg", "image/png"],
  ...ANY,
  ...limits,
});

describe("a video", () => {
  it("passes without limits, and where nothing is known of it", () => {
    const unknown = {
      ...VIDEO,
      width: null,
      height: null,
      durationSeconds: null,
      videoCodec: null,
      audioCodec: null,
    };
    const strict = video({
      maxSeconds: 1,
      minSeconds: 1,
      minAspectRatio: 1,
      maxAspectRatio: 1,
      minWidth: 5,
      videoCodecs: [],
      audioCodecs: [],
    });
    expect(check(VIDEO, [video({})])).toEqual({ problems: [], changes: [], film: null });
    expect(check(unknown, [strict])).toEqual({ problems: [], changes: [], film: null });
  });

  it.each([
    [{ mimeTypes: ["video/webm"] }, "is video/mp4, and must be video/webm"],
    [{ maxBytes: 999 }, "has 1000 bytes, and may have 999"],
    [{ maxSeconds: 29 }, "lasts 30 seconds, and may last 29"],
    [{ minSeconds: 31 }, "lasts 30 seconds, and must last at least 31"],
    [{ maxAspectRatio: 1 }, "is 1920 × 1080, which is too wide (at most 1 times as wide as high)"],
    [{ minAspectRatio: 2 }, "is 1920 × 1080, which is too tall (at least 2 times as wide as high)"],
    [{ minWidth: 2_000 }, "is 1920 × 1080, and must be at least 2000 × 0"],
    [{ maxWidth: 1_280, maxHeight: 720 }, "is 1920 × 1080, and may be 1280 × 720"],
    [{ videoCodecs: ["hevc", "av1"] }, "has avc video, and must have hevc or av1"],
    [{ audioCodecs: ["opus"] }, "has aac sound, and must have opus"],
  ] as const)("is held to %j", (limits, problem) => {
    expect(check(VIDEO, [video(limits as Partial<AcceptedMedia>)])).toEqual({
      problems: [problem],
      changes: [],
      film: null,
    });
  });

  it("is refused where its kind is not taken", () => {
    expect(check(VIDEO, [image({})]).problems).toEqual(["is of type video, and must be image"]);
    expect(check(VIDEO, []).problems).toEqual(["is of type video, and must be left out"]);
  });
});

describe("a picture", () => {
  it.each([
    [{ mimeTypes: ["image/webp", "image/jpeg"] }, "re-encoded from image/png as image/jpeg"],
    [{ maxBytes: 999 }, "brought from 1000 bytes to at most 999"],
    [{ maxWidth: 960, maxHeight: 960 }, "shrunk from 1920 × 1080 to 960 × 540"],
    [{ maxHeight: 54 }, "shrunk from 1920 × 1080 to 96 × 54"],
  ] as const)("is fitted to %j", (limits, change) => {
    expect(check(PICTURE, [image(limits as Partial<AcceptedMedia>)])).toEqual({
      problems: [],
      changes: [change],
      film: null,
    });
  });

  it("is refused for what fitting cannot give", () => {
    expect(check(PICTURE, [image({ maxAspectRatio: 1 })]).problems).toHaveLength(1);
    expect(check(PICTURE, [image({ minHeight: 2_000 })]).problems).toHaveLength(1);
    const padded = check(PICTURE, [image({ maxAspectRatio: 1, fill: "white" })]);
    expect(padded.problems).toEqual([]);
    expect(padded.changes).toEqual([
      "given bars (it is 1920 × 1080, which is too wide (at most 1 times as wide as high))",
    ]);
    expect(check(VIDEO, [video({ maxAspectRatio: 1, fill: "white" })]).problems).toHaveLength(1);
    const moving = { ...PICTURE, isAnimated: true };
    expect(check(moving, [image({})]).problems).toEqual([]);
    expect(check(moving, [image({ animated: false })]).problems).toEqual([
      "is animated, and must be a still picture, or a video",
    ]);
  });
});

describe("the number of items", () => {
  it("is held to each kind's", () => {
    const accepts = [image({ maxItems: 2 }), video({ maxItems: 1 })];
    expect(checkCounts([PICTURE, PICTURE, VIDEO], accepts)).toBeNull();
    expect(checkCounts([PICTURE, PICTURE, PICTURE], accepts)).toBe(
      "makes 3 items of type image, and may make 2",
    );
    expect(checkCounts([VIDEO, VIDEO], accepts)).toBe("makes 2 items of type video, and may make 1");
  });

  it("is held to each entry's, where several of one kind are told apart by their types", () => {
    const gif = { ...PICTURE, mimeType: "image/gif" };
    const accepts = [image({ maxItems: 4 }), image({ mimeTypes: ["image/gif"], maxItems: 1, maxBytes: 500 })];
    expect(checkCounts([PICTURE, PICTURE, gif], accepts)).toBeNull();
    expect(checkCounts([gif, gif], accepts)).toBe("makes 2 items of type image (image/gif), and may make 1");
    expect(check(gif, accepts).changes).toEqual(["brought from 1000 bytes to at most 500"]);
    expect(check(PICTURE, accepts)).toEqual({ problems: [], changes: [], film: null });
    // What no entry names is made what the first one takes.
    expect(check({ ...PICTURE, mimeType: "image/webp" }, accepts).changes).toEqual([
      "re-encoded from image/webp as image/jpeg",
    ]);
  });
});

describe("every platform's limits", async () => {
  const { platforms } = await loadCatalog();
  const kinds = platforms.flatMap(({ name, capabilities }) =>
    capabilities.media.accepts.map((limits) => [name, limits.kind, limits] as const),
  );

  /** Media that is just within all limits. */
  function within(limits: AcceptedMedia): MediaFigures {
    const height = Math.max(limits.minHeight ?? 1, Math.min(limits.maxHeight ?? 600, limits.maxWidth ?? 600));
    const ratio = Math.min(Math.max(1, limits.minAspectRatio ?? 1), limits.maxAspectRatio ?? 1);
    return {
      mimeType: limits.mimeTypes[0] ?? "",
      type: limits.kind,
      sizeBytes: limits.maxBytes ?? 10 ** 12,
      width:
        limits.kind === "audio" || limits.kind === "document"
          ? null
          : Math.max(limits.minWidth ?? 1, Math.round(height * ratio)),
      height: limits.kind === "audio" || limits.kind === "document" ? null : height,
      durationSeconds:
        limits.kind === "image" || limits.kind === "document" ? null : (limits.maxSeconds ?? 10 ** 6),
      pages: limits.kind === "document" ? (limits.maxPages ?? 10 ** 4) : null,
      videoCodec: limits.kind === "video" ? (limits.videoCodecs?.[0] ?? "avc") : null,
      audioCodec:
        limits.kind === "image" || limits.kind === "document" ? null : (limits.audioCodecs?.[0] ?? "aac"),
      isAnimated: false,
    };
  }

  it.each(kinds)("%s, %s: let through what is within them, and tell what is not", (_name, kind, limits) => {
    const fits = within(limits);
    expect(check(fits, [limits])).toEqual({ problems: [], changes: [], film: null });
    const isFitted = kind === "image";
    const beyond: [Partial<MediaFigures>, boolean][] = [[{ mimeType: `${kind}/unheard-of` }, isFitted]];
    if (typeof limits.maxBytes === "number") beyond.push([{ sizeBytes: limits.maxBytes + 1 }, isFitted]);
    if (typeof limits.maxSeconds === "number")
      beyond.push([{ durationSeconds: limits.maxSeconds + 1 }, false]);
    if (limits.maxPages !== undefined) beyond.push([{ pages: limits.maxPages + 1 }, false]);
    if (limits.maxWidth !== undefined) beyond.push([{ width: limits.maxWidth + 1 }, isFitted]);
    if (typeof limits.maxAspectRatio === "number") {
      // As small as it may be, so that nothing but its shape is wrong.
      const least = Math.ceil((limits.minWidth ?? 1) / limits.maxAspectRatio);
      const height = Math.max(limits.minHeight ?? 1, least);
      const width = Math.ceil(height * limits.maxAspectRatio) + 1;
      beyond.push([{ width, height }, limits.fill !== undefined]);
    }
    if (limits.animated === false) beyond.push([{ isAnimated: true }, false]);
    if (limits.videoCodecs !== undefined) beyond.push([{ videoCodec: "unheard-of" }, false]);
    for (const [change, mayBeFitted] of beyond) {
      const { problems, changes } = check({ ...fits, ...change }, [limits]);
      expect([change, problems.length > 0, changes.length > 0]).toEqual([change, !mayBeFitted, mayBeFitted]);
    }
  });
});

describe("what can be made of media here", async () => {
  const { platforms } = await loadCatalog();
  const large = { ...PICTURE, width: 30_000, height: 30_000, sizeBytes: 1e12 };
  const others = [
    { ...large, mimeType: "image/tiff" },
    { ...large, mimeType: "image/heic" },
    { ...PICTURE, mimeType: "image/heic" },
    { ...PICTURE, mimeType: "image/gif", isAnimated: true, durationSeconds: 8, sizeBytes: 1e12 },
    {
      ...VIDEO,
      mimeType: "video/x-matroska",
      videoCodec: "vp9",
      width: 7_680,
      height: 4_320,
      sizeBytes: 1e12,
    },
  ];

  it.each(platforms.map((one) => [one.name, one.capabilities.media.accepts] as const))(
    "%s: promises no change that nothing here makes",
    (_name, accepts) => {
      for (const media of others) {
        const { changes, problems } = checkMedia(media, accepts, EVERY_SKILL);
        const without = checkMedia(media, accepts, NO_SKILL);
        expect(without.changes).toEqual([]);
        expect(without.film).toBeNull();
        expect(without.problems.length > 0, media.mimeType).toBe(changes.length > 0 || problems.length > 0);
      }
    },
  );

  it("needs a skill of its own for HEIC", () => {
    const heic = { ...PICTURE, mimeType: "image/heic" };
    expect(checkMedia(heic, [image({})], { ...EVERY_SKILL, heic: false }).problems).toEqual([
      "is image/heic, and must be image/jpeg or image/png",
    ]);
    expect(checkMedia(heic, [image({})], EVERY_SKILL).changes).toEqual([
      "re-encoded from image/heic as image/jpeg",
    ]);
  });

  it("makes nothing of a PNG that moves", () => {
    const moving = { ...PICTURE, isAnimated: true };
    expect(check(moving, [image({ maxBytes: 10 })]).problems).toEqual(["has 1000 bytes, and may have 10"]);
  });
});

describe("an animated GIF", () => {
  const gif = {
    ...PICTURE,
    mimeType: "image/gif",
    isAnimated: true,
    durationSeconds: 4,
    framesPerSecond: 10,
  };
  const still = image({ animated: false });

  it("stays one where one is taken, or what moves as it does", () => {
    expect(asSent(gif, [image({ mimeTypes: ["image/gif"] }), video({})])).toBe(gif);
    expect(asSent(gif, [image({ mimeTypes: ["image/webp"] }), video({})])).toBe(gif);
    expect(asSent({ ...gif, isAnimated: false }, [still, video({})]).type).toBe("image");
  });

  it("is made a film where films are taken and no GIF", () => {
    for (const accepts of [[still, video({})], [image({}), video({})], [video({})]]) {
      const { problems, changes, film } = checkMedia(gif, accepts, EVERY_SKILL);
      expect(problems).toEqual([]);
      expect(changes).toEqual(["re-encoded from image/gif as video/mp4"]);
      expect(film).toMatchObject({ width: 1_920, height: 1_080 });
    }
  });

  it("is held to the limits of films", () => {
    expect(checkMedia(gif, [still, video({ minSeconds: 5 })], EVERY_SKILL).problems).toEqual([
      "lasts 4 seconds, and must last at least 5",
    ]);
    expect(checkMedia(gif, [video({ minFramesPerSecond: 23 })], EVERY_SKILL).film?.framesPerSecond).toBe(23);
  });

  it("is refused where no film is made or taken", () => {
    for (const [accepts, skills] of [
      [[still, video({})], NO_SKILL],
      [[image({})], EVERY_SKILL],
    ] as const)
      expect(checkMedia(gif, accepts, skills).problems.at(-1)).toBe(
        "is animated, and must be a still picture, or a video",
      );
  });
});

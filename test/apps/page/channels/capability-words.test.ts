import { describe, expect, it } from "vitest";
import {
  abilitiesInWords,
  filesInWords,
  lengthInWords,
  quotaInWords,
  sizeInWords,
  takesInShort,
  takesInWords,
  textInWords,
} from "../../../../apps/page/rooms/channels/capability-words.ts";
import type { MediaLimits } from "../../../../src/domain/accounts/account.ts";
import { showCapabilities } from "../../../../src/domain/accounts/capabilities.ts";
import { TEXT_CAPABILITIES } from "../../../support/scripted-platform.ts";

const CAPABILITIES = showCapabilities(TEXT_CAPABILITIES, false);

function accepts(kind: MediaLimits["kind"], maxItems: number, more: Partial<MediaLimits> = {}): MediaLimits {
  return {
    kind,
    maxItems,
    mimeTypes: [],
    maxBytes: null,
    maxSeconds: null,
    minAspectRatio: null,
    maxAspectRatio: null,
    ...more,
  };
}

function takes(maxItems: number, list: MediaLimits[]): string {
  return takesInWords({
    media: { required: false, maxItems, accepts: list },
    caption: { maxLength: 500, unit: "graphemes" },
  });
}

describe("what a channel takes", () => {
  it("is told in a line", () => {
    expect(takes(4, [accepts("image", 4), accepts("video", 1, { maxSeconds: 120 })])).toBe(
      "Up to 4 pictures, or 1 video of up to 2 min; 500 characters",
    );
    expect(takes(0, [])).toBe("Text only; 500 characters");
    expect(takes(1, [accepts("video", 1, { maxSeconds: 43_200 })])).toBe(
      "1 video of up to 12 h; 500 characters",
    );
  });

  it("says which kinds may stand together", () => {
    expect(takes(10, [accepts("image", 10), accepts("video", 10, { maxSeconds: 900 })])).toBe(
      "Up to 10 pictures and videos (videos of up to 15 min); 500 characters",
    );
    expect(takes(21, [accepts("image", 21), accepts("video", 21), accepts("audio", 21)])).toBe(
      "Up to 21 pictures, videos and audio files; 500 characters",
    );
    expect(takes(1, [accepts("image", 1), accepts("video", 1)])).toBe(
      "1 picture, or 1 video; 500 characters",
    );
  });

  it("takes entries of one kind together, and no more than a post may have", () => {
    expect(takes(4, [accepts("image", 9), accepts("image", 1)])).toBe("Up to 4 pictures; 500 characters");
  });

  it("is told shorter in the gallery", () => {
    const caption = { maxLength: null, unit: "characters" } as const;
    expect(takesInShort({ media: ["image", "video"], caption })).toBe(
      "Pictures and videos; texts of any length",
    );
    expect(takesInShort({ media: [], caption: { ...caption, maxLength: 5_000, unit: "bytes" } })).toBe(
      "Texts; 5,000 bytes of text",
    );
  });

  it("tells the length of a text beside media, where it is another", () => {
    expect(textInWords({ maxLength: 4_096, unit: "utf16", withMedia: 1_024 })).toBe(
      "4,096 characters (1,024 beside media)",
    );
  });

  it("tells of each kind of file", () => {
    const image = accepts("image", 1, { mimeTypes: ["image/jpeg", "image/webp"], maxBytes: 8_000_000 });
    const video = accepts("video", 1, { mimeTypes: ["video/quicktime"], maxSeconds: 90 });
    expect(filesInWords({ required: true, maxItems: 1, accepts: [image, video] })).toEqual([
      { title: "Pictures", text: "JPEG, WebP; up to 8 MB" },
      { title: "Videos", text: "MOV; up to 90 s" },
    ]);
  });

  it.each([
    [45, "45 s"],
    [60, "1 min"],
    [140, "2 min 20 s"],
    [3_600, "60 min"],
    [43_200, "12 h"],
  ])("writes %i seconds as %s", (seconds, words) => {
    expect(lengthInWords(seconds)).toBe(words);
  });

  it.each([
    [999, "999 bytes"],
    [1_000_000, "1 MB"],
    [274_877_906_944, "275 GB"],
  ])("writes %i bytes as %s", (bytes, words) => {
    expect(sizeInWords(bytes)).toBe(words);
  });
});

describe("what else is good to know", () => {
  it("is a sentence each", () => {
    const able = {
      ...CAPABILITIES,
      media: { ...CAPABILITIES.media, required: true },
      editPublished: { fields: ["caption"] },
      remove: { uploaded: true, published: true },
    };
    expect(abilitiesInWords(able, "Photobox")).toEqual([
      "Each post needs a file.",
      "The text of a live post can be changed.",
      "A live post can be taken down from here.",
    ]);
    expect(abilitiesInWords(CAPABILITIES, "Photobox")).toContain(
      "A live post is taken down on Photobox alone.",
    );
  });

  it("tells how many posts go out in a time", () => {
    const quota = { name: "posts", max: 300, perMinutes: 180, from: "rolling", scope: "account" } as const;
    expect(quotaInWords(quota)).toBe("At most 300 posts in 3 hours.");
    expect(quotaInWords({ ...quota, perMinutes: 60 })).toBe("At most 300 posts an hour.");
    expect(quotaInWords({ ...quota, perMinutes: 1_440, from: "America/Los_Angeles", scope: "app" })).toBe(
      "At most 300 posts a day, from midnight in America/Los_Angeles, for all channels of the app together.",
    );
    expect(quotaInWords({ ...quota, perMinutes: 15 })).toBe("At most 300 posts in 15 minutes.");
  });
});

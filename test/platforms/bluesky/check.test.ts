import { describe, expect, it } from "vitest";
import type { Said } from "../../../src/domain/sentences.ts";
import { z } from "zod";
import bluesky from "../../../src/platforms/bluesky/index.ts";
import type { JsonObject } from "../../../src/ports/platform-io.ts";

function check(post: { caption?: string; mediaUrl?: string; metadata?: JsonObject }): {
  errors: readonly Said[];
  warnings: readonly Said[];
} {
  const parsed = bluesky.metadata.parse(post.metadata ?? {});
  const whole = {
    id: "post_1",
    caption: post.caption ?? null,
    mediaUrl: post.mediaUrl ?? "",
    metadata: parsed,
    scheduledAt: 0,
    leadMinutes: 0,
    platformPostId: null,
    platformUrl: null,
  };
  const known = { name: "", handle: null, platformAccountId: null, settings: {}, limits: {}, scopes: [] };
  const account = { id: "acc_1", ...known };
  return bluesky.check?.(whole, { account, media: new Map(), now: 0 }) ?? { errors: [], warnings: [] };
}

describe("what data cannot say", () => {
  it.each([
    ["a text of 300 graphemes", { caption: "👩‍👩‍👧‍👦".repeat(60) + "x".repeat(240) }, null],
    ["a longer one", { caption: "x".repeat(301) }, /^caption: has 301 characters, and Bluesky takes 300/],
    [
      "few graphemes of too many bytes",
      { caption: "👩‍👩‍👧‍👦".repeat(130) },
      /^caption: has more than the 3000 bytes/,
    ],
    ["nothing at all", {}, /^caption: is empty/],
    ["a link alone", { metadata: { link: "https://example.com" } }, null],
    ["media alone", { mediaUrl: "r2://a.png" }, null],
    [
      "a link beside media",
      { mediaUrl: "r2://a.png", metadata: { link: "https://example.com" } },
      /^metadata\.link: /,
    ],
    [
      "a thumbnail without a link",
      { caption: "x", metadata: { thumbnailUrl: "r2://a.png" } },
      /^metadata\.thumbnailUrl: /,
    ],
    [
      "more media without the first",
      { caption: "x", metadata: { moreMedia: [{ url: "r2://a.png" }] } },
      /^metadata\.moreMedia: /,
    ],
    [
      "two kinds of languages",
      { caption: "x", metadata: { language: "en", langs: ["de"] } },
      /^metadata\.langs: /,
    ],
    [
      "a long part of a thread",
      { caption: "x", metadata: { thread: [{ caption: "y" }, { caption: "z".repeat(301) }] } },
      /^metadata\.thread\[1\]\.caption: /,
    ],
    [
      "an empty part of a thread",
      { caption: "x", metadata: { thread: [{ caption: " " }] } },
      /^metadata\.thread\[0\]\.caption: is empty/,
    ],
  ])("%s", (_what, post, error) => {
    const { errors } = check(post);
    if (error === null) expect(errors).toEqual([]);
    else expect(errors.join(" ")).toMatch(error);
  });

  it("tells what will not be seen", () => {
    expect(check({ caption: "x", metadata: { title: "Unseen" } }).warnings.join(" ")).toContain("link card");
  });
});

describe("metadata", () => {
  it.each([
    { unknown: 1 },
    { tags: Array.from({ length: 9 }, () => "t") },
    { langs: ["en", "de", "fr", "es"] },
    { langs: ["not a language"] },
    { language: "e" },
    { link: "ftp://example.com" },
    { link: "javascript:alert(1)" },
    { moreMedia: Array.from({ length: 4 }, () => ({ url: "r2://a.png" })) },
    { replyRules: "friends" },
    { replyRules: [] },
    { contentLabel: "spoiler" },
  ])("refuses %j", (metadata) => {
    expect(bluesky.metadata.safeParse(metadata).success).toBe(false);
  });

  it("is a strict object as JSON Schema", () => {
    expect(z.toJSONSchema(bluesky.metadata, { io: "input" })).toMatchObject({
      type: "object",
      additionalProperties: false,
    });
  });
});

import { describe, expect, it } from "vitest";
import { checkPost, type FacebookPost } from "../../../src/platforms/facebook/metadata.ts";
import { CLIP_URL } from "../../support/contract/stage-media.ts";

/** What is told of a film of this shape and length. */
function warningsOf(facts: object, metadata: FacebookPost["metadata"] = {}): string {
  const post = { mediaUrl: CLIP_URL, caption: "A film", metadata } as FacebookPost;
  const figures = { type: "video", mimeType: "video/mp4", width: 1_080, height: 1_920, ...facts } as never;
  return checkPost(post, { media: new Map([[CLIP_URL, figures]]) }).warnings.join(" ");
}

describe("a story on a Page", () => {
  it("has no text, and one item alone", () => {
    const metadata = { story: true, moreMedia: [{ url: CLIP_URL }], firstComment: "Yes", kind: "reel" };
    const post = { mediaUrl: CLIP_URL, caption: "A text", metadata } as unknown as FacebookPost;
    const { errors, warnings } = checkPost(post, { media: new Map() });
    expect(errors.map((error) => String(error).split(":")[0])).toEqual([
      "metadata.moreMedia",
      "metadata.kind",
      "metadata.firstComment",
    ]);
    expect(warnings).toEqual(["caption: a Facebook story shows none."]);
  });
});

describe("a film as a story", () => {
  it("is warned of above a minute", () => {
    expect(warningsOf({ durationSeconds: 60 }, { story: true } as never)).not.toContain("seconds");
    expect(warningsOf({ durationSeconds: 61 }, { story: true } as never)).toContain("more than 60 seconds");
  });
});

describe("what goes with what on a Page", () => {
  const film = { type: "video", mimeType: "video/mp4", durationSeconds: 30 };
  it.each([
    [null, "x".repeat(130), { background: "1" }, []],
    [null, "x".repeat(131), { background: "1" }, ["metadata.background"]],
    [null, "Read", { background: "1", link: "https://a.example" }, ["metadata.background"]],
    [film, "Film", { background: "1" }, ["metadata.background"]],
    [film, "Film", { collaborators: ["1"], locationId: "2" }, []],
    [
      film,
      "Film",
      { kind: "video", collaborators: ["1"], locationId: "2" },
      ["metadata.locationId", "metadata.collaborators"],
    ],
    [null, "Text", { collaborators: ["1"], locationId: "2" }, ["metadata.collaborators"]],
    [film, "", { story: true, locationId: "2" }, ["metadata.locationId"]],
  ])("%o, %s, %o", (facts, caption, metadata, fields) => {
    const mediaUrl = facts === null ? "" : CLIP_URL;
    const post = { mediaUrl, caption, metadata } as unknown as FacebookPost;
    const media = new Map(facts === null ? [] : [[CLIP_URL, facts as never]]);
    expect(checkPost(post, { media }).errors.map((error) => String(error).split(":")[0])).toEqual(fields);
  });
});

describe("a film on a Page", () => {
  it.each([
    [{ durationSeconds: 120 }, {}, /^mediaUrl: is a vertical video of more than 90 seconds\. .*draft/],
    [
      { durationSeconds: 30 },
      { kind: "video" },
      /^mediaUrl: is a vertical video\. .*leave metadata\.kind out/,
    ],
    [{ durationSeconds: 30, width: 1_920, height: 1_080 }, {}, /^mediaUrl: is wider than high/],
    [{ durationSeconds: 30 }, {}, /^$/],
    [{ durationSeconds: 120, width: 1_920, height: 1_080 }, {}, /^$/],
  ] as const)("%o with %o is warned about where Facebook may not show it", (facts, metadata, words) => {
    expect(warningsOf(facts, metadata)).toMatch(words);
  });
});

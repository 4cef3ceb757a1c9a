import { describe, expect, it } from "vitest";
import { withUtm } from "../../../src/domain/posts/utm.ts";

const wish = {
  utm: { source: "{provider}", medium: "social", campaign: "{label}" },
  provider: "bluesky",
  label: "spring sale",
};
const ADDED = "utm_source=bluesky&utm_medium=social&utm_campaign=spring%20sale";

const tag = (caption: string): string => withUtm({ caption }, wish).caption;

describe("what is added to links", () => {
  it.each([
    ["https://example.com", `https://example.com?${ADDED}`],
    ["https://example.com/", `https://example.com/?${ADDED}`],
    ["https://EXAMPLE.com/a%2Fb?q=1#top", `https://EXAMPLE.com/a%2Fb?q=1&${ADDED}#top`],
    ["https://example.com/?a&", `https://example.com/?a&${ADDED}`],
    ["http://example.com/ä?x=ü&y", `http://example.com/ä?x=ü&y&${ADDED}`],
    ["Read https://example.com/a, then.", `Read https://example.com/a?${ADDED}, then.`],
    [
      "(https://example.com/a) https://example.org/b!",
      `(https://example.com/a?${ADDED}) https://example.org/b?${ADDED}!`,
    ],
  ])("%s becomes %s", (text, tagged) => {
    expect(tag(text)).toBe(tagged);
    expect(tag(tagged)).toBe(tagged);
  });

  it.each([
    "https://example.com/?utm_source=mine",
    "https://example.com/?a=1&UTM_Campaign=x",
    "https://www.youtube.com/watch?v=1",
    "https://youtu.be/1",
    "https://x.com/somebody",
    "example.com without a scheme",
    "ftp://example.com/file",
    "mail@example.com",
    "https://[broken",
    "no link",
    "",
  ])("%s stays as it is", (text) => {
    expect(tag(text)).toBe(text);
  });

  it("does not take a site for a platform's because it ends alike", () => {
    expect(tag("https://notx.com/")).toBe(`https://notx.com/?${ADDED}`);
  });

  it("leaves out what is empty, and encodes what would end a parameter", () => {
    const only = { ...wish, utm: { source: "a&b=c #d", medium: null, campaign: "{label}" }, label: "" };
    expect(withUtm({ caption: "https://example.com" }, only).caption).toBe(
      "https://example.com?utm_source=a%26b%3Dc%20%23d",
    );
    const none = { ...only, utm: { source: null, medium: null, campaign: "{label}" } };
    expect(withUtm({ caption: "https://example.com" }, none).caption).toBe("https://example.com");
  });

  it("is added in the thread, the first comment and the link, and nowhere else", () => {
    const metadata = {
      title: "https://example.com",
      link: "https://example.com/l",
      firstComment: "See https://example.com/c",
      thread: [
        { caption: "https://example.com/t", mediaUrl: "https://example.com/m.jpg" },
        { mediaUrl: "r2://x" },
      ],
      moreMedia: [{ url: "https://example.com/p.jpg" }],
    };
    expect(withUtm({ caption: null, metadata }, wish)).toEqual({
      caption: null,
      metadata: {
        ...metadata,
        link: `https://example.com/l?${ADDED}`,
        firstComment: `See https://example.com/c?${ADDED}`,
        thread: [
          { caption: `https://example.com/t?${ADDED}`, mediaUrl: "https://example.com/m.jpg" },
          { mediaUrl: "r2://x" },
        ],
      },
    });
  });

  it("gives no field that was not there", () => {
    expect(withUtm({}, wish)).toEqual({});
    expect(withUtm({ metadata: { tags: ["a"] } }, wish)).toEqual({ metadata: { tags: ["a"] } });
    expect(withUtm({ metadata: null }, wish)).toEqual({ metadata: null });
  });
});

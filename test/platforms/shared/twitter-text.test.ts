import { describe, expect, it } from "vitest";
import { measure } from "../../../src/platforms/shared/twitter-text.ts";
import { measure as measureMastodon } from "../../../src/platforms/shared/mastodon/publish.ts";

// Each as twitter-text 3.1 weighs it; the texts are after its extract.yml and autolink.yml.
describe("addresses in a text on X that touch what is around them", () => {
  it.each([
    ["はhttps://a.coで", 27],
    [`${"あ".repeat(127)}https://a.coです`, 281],
    ["いまなにしてるhttp://example.comいまなにしてる", 51],
    ["example.comてすとですtwitter.みんなです", 60],
    ["https://example.com/abc123です", 27],
    ["皆さん見てください！ http://google.com", 44],
    ["http://ああ.com", 23],
    ["http://あ-あ.com", 23],
    ["https://foo.com.notatld", 31],
    ["http://ab.onion", 23],
    ["https://t.co/abc/def", 27],
    ["path https://a.com/あb.com", 5 + 23 + 2 + 23],
    ["see example.com?x=1", 4 + 23 + 4],
    ["sub_x.example.com", 4 + 23],
    ["@example.com #example.com $example.com", 38],
    ["http://a.com/(b)(c(d))!", 24],
    ["https://a.com/é/я?q=1!", 24],
    [`https://${"あ".repeat(70)}.com`, 8 + 140 + 4],
  ])("counts %s as %i", (text, weight) => {
    expect(measure(text)).toBe(weight);
  });
});

// Each as Mastodon's status_length_validator counts it, an address as 23.
describe("addresses in a text on Mastodon", () => {
  const long = "a".repeat(60);
  it.each([
    [`http://localhost:3000/${long}`, 82],
    [`https://foo.notatld/${long}`, 80],
    [`gemini://example.com/${long}`, 23],
    [`ipfs://example.com/${long}`, 23],
    [`xmpp:alice@example.com?message;body=${long}`, 23],
    [`magnet:?xt=urn:btih:${long}`, 23],
    [`ftp://example.com/${long}`, 78],
    ["example.com/abc", 15],
    ["はhttps://a.coで", 25],
    ["https://a.com/ä「い」う。", 23],
    ["(https://en.wikipedia.org/wiki/Rust_(language))", 25],
    ["https://a.com/b, and", 28],
    ["@alice@example.com hi", 9],
    [`@alice@${"b".repeat(254)}.com`, 265],
  ])("counts %s as %i", (text, length) => {
    expect(measureMastodon(text, 23)).toBe(length);
  });

  it.each(["a.", "あ.", "あ", "(", "(a", "!", "x", "https://", "xmpp:", "https://a.com/(", "magnet:?"])(
    "takes time as a text of %j grows, and not by its square",
    (part) => {
      const timeOf = (times: number): number => {
        const text = part.repeat(times);
        const runs = [1, 2, 3].map(() => {
          const before = performance.now();
          measureMastodon(`https://a.com/${text}`, 23);
          measureMastodon(text, 23);
          measure(text);
          return performance.now() - before;
        });
        // Another program may have the machine meanwhile. What is over at once tells nothing.
        return Math.min(...runs) + 10;
      };
      expect(timeOf(8_000) / timeOf(1_000)).toBeLessThan(32);
    },
  );
});

import { describe, expect, it } from "vitest";
import { measure } from "../../../src/platforms/x/text.ts";

// Each as twitter-text 3.1 weighs it.
describe("the weight of a text on X", () => {
  it.each([
    ["plain letters", "Grüße, שלום", 11],
    ["CJK", "日本語 한국", 11],
    ["a letter in two signs, brought together", "e\u0301", 1],
    ["typographic signs", "“…”–", 5],
    ["an emoji of several signs", "👩‍👩‍👧", 2],
    ["flags, skin and keycaps", "🇩🇪👍🏽1️⃣", 6],
    ["a heart with and without its mark", "❤️❤", 4],
    ["a sign that is no emoji by itself", "©", 1],
    ["an address", "https://example.com/a/very/long/way?to=it&and=more#end", 23],
    ["an address without scheme", "see example.com.", 28],
    ["an address in brackets", "(https://example.com/x)", 25],
    ["an address that has brackets", "https://example.com/x_(y)", 23],
    ["a domain in letters of another alphabet", "https://日本語.com", 23],
    ["an address beside a text without spaces", "日本語example.com", 29],
    ["a top-level domain that is none", "https://a.example", 17],
    ["what looks like one", "node.js a..com $a.com foo@bar.com", 33],
    ["an underscore in the name", "http://a_b.com", 14],
    ["two of them", "a.com,b.com", 47],
  ])("counts %s", (_what, text, weight) => {
    expect(measure(text)).toBe(weight);
  });

  it("takes no time that grows beyond the text", () => {
    const startedAt = performance.now();
    for (const part of ["a.", "a-", "a_", "(", "!", "👩‍", "https://", "https://a.com/("])
      measure(`https://a.com/${part.repeat(10_000)}`);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});

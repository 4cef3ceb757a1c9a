import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  fold,
  hasTerms,
  parseSearch,
  searchableText,
  splitPieces,
} from "../../../src/domain/text/compare-words.ts";

const finds = (text: string, search: string): boolean => hasTerms(text, parseSearch(search));

describe("fold", () => {
  it.each([
    ["Éclair", "eclair"],
    ["Cafe\u0301", "cafe"],
    ["STRASSE", "straße"],
    ["STRAẞE", "strasse"],
    ["ΟΔΟΣ", "οδός"],
    ["İstanbul", "istanbul"],
    ["ﬁne", "FINE"],
    ["Йогурт", "йогурт"],
    ["❤\ufe0f", "❤"],
    ["\u0041\u030a", "å"],
    ["한글", "한글".normalize("NFD")],
  ])("makes %j and %j equal", (one, other) => expect(fold(one)).toBe(fold(other)));

  it.each([
    ["が", "か"],
    ["ที่", "ท"],
    ["ＡＢＣ", "ABC"],
    ["कि", "क"],
  ])("keeps %j and %j apart", (one, other) => expect(fold(one)).not.toBe(fold(other)));

  it("changes nothing the second time, whatever the character", () => {
    const changed: string[] = [];
    for (let code = 0; code <= 0x10_ff_ff; code += 1) {
      const folded = fold(String.fromCodePoint(code));
      if (fold(folded) !== folded) changed.push(code.toString(16));
    }
    expect(changed).toEqual([]);
  });

  it("changes nothing the second time, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => fold(fold(text)) === fold(text)),
      { numRuns: 2_000 },
    );
  });
});

describe("fold, run by run", () => {
  it("gives what folding the whole text gives", () => {
    const ACCENTS = /[\u0300-\u036f]/g;
    const whole = (text: string): string =>
      text
        .normalize("NFD")
        .replace(ACCENTS, "")
        .toLowerCase()
        .toUpperCase()
        .toLowerCase()
        .replaceAll("ς", "σ")
        .normalize("NFC");
    const European = fc.oneof(
      fc.integer({ min: 0x20, max: 0x482 }),
      fc.integer({ min: 0x48a, max: 0x52f }),
      fc.integer({ min: 0x1e00, max: 0x1fff }),
      fc.constantFrom(...Array.from("aeınsßẞΣσςİﬁK한🎉", (character) => character.codePointAt(0) ?? 0)),
    );
    fc.assert(
      fc.property(fc.array(European, { maxLength: 8 }), (codes) => {
        const text = String.fromCodePoint(...codes);
        expect(fold(text)).toBe(whole(text));
      }),
      { numRuns: 5_000 },
    );
  });
});

describe("splitPieces", () => {
  it("tells words, dense runs and symbols apart", () => {
    expect(splitPieces("get 50%off 東京tower🎉").map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      "word get",
      "word 50",
      "symbol %",
      "word off",
      "dense 東京",
      "word tower",
      "symbol 🎉",
    ]);
  });

  it("loses nothing but white space", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const whole = splitPieces(text)
          .map((piece) => piece.text)
          .join("");
        expect(whole).toBe(text.replace(/\s/gu, ""));
      }),
    );
  });
});

describe("hasTerms", () => {
  it.each([
    ["Summer launch", "LAUN sum"],
    ["Now 50%off everything", "50%off"],
    ["Now 50%off everything", "off"],
    ["in C:\\temp\\logs", "C:\\temp"],
    ["Party 🎉🎉 tonight", "🎉"],
    ["snake_case", "case"],
    ["snake_case", "_case"],
    ['O\'Reilly said "no"', '"no"'],
    ["O'Reilly said", "o'reilly"],
    ["新商品を発売します", "商品"],
    ["新商品を発売します", "発売します"],
    ["새로운 상품입니다", "상품"],
    ["สวัสดีครับ", "ครับ"],
    ["iPhoneケース", "ケース"],
    ["東京Tower", "tower"],
    ["AND OR NOT NEAR(", "near( not"],
    ["Crème Brûlée", "creme brulee"],
    ["resume", "résumé"],
  ])("finds in %j: %j", (text, search) => expect(finds(text, search)).toBe(true));

  it.each([
    ["Summer launch", "aunch"],
    ["Summer launch", "summer winter"],
    ["Now 50 percent off", "50%off"],
    ["Now 150%off", "50%off"],
    ["新商品", "品商"],
    ["a_b", "a%b"],
    ["abc", "*"],
    ["abc", "a*"],
  ])("does not find in %j: %j", (text, search) => expect(finds(text, search)).toBe(false));
});

describe("parseSearch", () => {
  it("keeps each word once, without those that another begins with", () => {
    expect(parseSearch("  Sommer sommer SOMMERFEST\u3000été ").map(({ text }) => text)).toEqual([
      "ete",
      "sommerfest",
    ]);
  });

  it("finds nothing to look for in white space", () => expect(parseSearch(" \t\n\u00a0")).toEqual([]));
});

describe("searchableText", () => {
  it("takes title, caption and description, and no other key or name", () => {
    const metadata = { title: "T", description: "D", tags: ["secret"], link: "https://example.com" };
    expect(searchableText({ caption: "C", metadata })).toBe("T\nC\nD");
    expect(searchableText({ caption: null, metadata: { title: 7, description: null } })).toBe("");
    expect(searchableText({ caption: null, metadata: null })).toBe("");
  });
});

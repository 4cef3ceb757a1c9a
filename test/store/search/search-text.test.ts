import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  fold,
  isRuledOut,
  missingFrom,
  parseSearch,
  searchableText,
  splitPieces,
  type SearchTerm,
} from "../../../src/store/search/search-text.ts";

const matchesAll = (text: string, terms: readonly SearchTerm[]): boolean =>
  missingFrom(fold(text), terms).length === 0;
const isAnyRuledOut = (text: string, terms: readonly SearchTerm[]): boolean =>
  terms.some((term) => isRuledOut(text, term));
const finds = (text: string, search: string): boolean => matchesAll(text, parseSearch(search));

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

describe("fold, letter by letter", () => {
  // A character that only the whole way folds; it leaves its neighbours alone.
  const OTHER = "\u0e01";

  it("gives what folding the whole text gives", () => {
    const ranges = [
      0x20, 0x7f, 0x80, 0x2ff, 0x370, 0x482, 0x48a, 0x52f, 0x2010, 0x20cf, 0x3030, 0x3098, 0x4e00, 0x9fff,
      0xac00, 0xd7a3,
    ];
    const simple = fc.oneof(
      ...ranges.flatMap((min, at) => (at % 2 === 0 ? [fc.integer({ min, max: ranges[at + 1] ?? min })] : [])),
      fc.integer({ min: 0x1f000, max: 0x1fbff }),
    );
    fc.assert(
      fc.property(fc.array(simple, { maxLength: 8 }), (codes) => {
        const text = String.fromCodePoint(...codes);
        expect(fold(text + OTHER)).toBe(fold(text) + OTHER);
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

describe("missingFrom", () => {
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

describe("isRuledOut", () => {
  it("never rules out what matches", () => {
    const texts = fc.record({
      title: fc.string({ unit: "grapheme" }),
      caption: fc.string({ unit: "binary" }),
    });
    fc.assert(
      fc.property(texts, fc.nat(), fc.nat(10), ({ title, caption }, from, length) => {
        const search = `${title}${caption}`.slice(from % 20, (from % 20) + length);
        const terms = parseSearch(search);
        const isFound = matchesAll(searchableText({ caption, metadata: { title } }), terms);
        if (isFound) expect(isAnyRuledOut(`${caption}\n${JSON.stringify({ title })}`, terms)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it("knows every spelling of a letter", () => {
    const letters = Array.from("asSKnif0éÉßẞŉſıİǆŒøñÑﬁK字🎉’\u0301\u0308 ");
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...letters), { maxLength: 12 }),
        fc.nat(12),
        fc.integer({ min: 1, max: 4 }),
        (parts, from, length) => {
          const caption = parts.join("");
          const terms = parseSearch(fold(caption).slice(from, from + length));
          if (matchesAll(caption, terms)) expect(isAnyRuledOut(`\n\n${caption}`, terms)).toBe(false);
        },
      ),
      { numRuns: 5_000 },
    );
  });

  it("rules out plain text without the word", () => {
    expect(isAnyRuledOut('Summer\n{"title":"Sale"}', parseSearch("win"))).toBe(true);
    expect(isAnyRuledOut('Summer\n{"title":"Sale"}', parseSearch("sale sum"))).toBe(false);
    expect(isAnyRuledOut("Été", parseSearch("win"))).toBe(true);
    expect(isAnyRuledOut("Été", parseSearch("ete"))).toBe(false);
    expect(isAnyRuledOut("anything", parseSearch("🎉"))).toBe(true);
    expect(isAnyRuledOut(JSON.stringify({ title: `a"b` }), parseSearch(`"`))).toBe(false);
  });
});

describe("searchableText", () => {
  it("takes title, caption and description, and no other key or name", () => {
    const metadata = { title: "T", description: "D", tags: ["secret"], link: "https://example.com" };
    expect(searchableText({ caption: "C", metadata })).toBe("T\nC\nD");
    expect(searchableText({ caption: null, metadata: { title: 7, description: null } })).toBe("");
    expect(searchableText({ caption: null, metadata: null })).toBe("");
  });
});

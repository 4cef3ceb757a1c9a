import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { measureText } from "../../../src/domain/posts/caption.ts";
import { type Facet, findSpans, normalizeText, toFacets } from "../../../src/platforms/bluesky/metadata.ts";

/** What each facet covers, cut out of the text's bytes as a reader's app does. */
function covered(text: string, facets: readonly Facet[]): string[] {
  const bytes = Buffer.from(text);
  return facets.map(({ index }) => bytes.subarray(index.byteStart, index.byteEnd).toString("utf8"));
}

function found(text: string): string[] {
  return findSpans(text).map((span) => `${span.kind} ${text.slice(span.start, span.end)}`);
}

describe("links", () => {
  it.each([
    ["see https://example.com.", "https://example.com"],
    ["(https://example.com/a)", "https://example.com/a"],
    ["https://en.wikipedia.org/wiki/Rust_(language)", "https://en.wikipedia.org/wiki/Rust_(language)"],
    ["(https://en.wikipedia.org/wiki/Rust_(language))", "https://en.wikipedia.org/wiki/Rust_(language)"],
    ["“https://example.com/x”", "https://example.com/x"],
    ["https://example.com/a?b=1&c=%20#top!", "https://example.com/a?b=1&c=%20#top"],
    ["read https://example.com/a, then", "https://example.com/a"],
    ["https://example.com/~me/a_b-c/", "https://example.com/~me/a_b-c/"],
    ["http://localhost:8080/x?", "http://localhost:8080/x"],
    ["HTTPS://EXAMPLE.COM/X", "HTTPS://EXAMPLE.COM/X"],
    ["请看https://example.com/a。谢谢", "https://example.com/a"],
    ["👉https://example.com/🎉 ok", "https://example.com/🎉"],
    ["[https://example.com]", "https://example.com"],
    ["one\nhttps://example.com\ntwo", "https://example.com"],
    ["go to example.com/shop now", "example.com/shop"],
    ["(example.co.uk)", "example.co.uk"],
    ["example.com, or not", "example.com"],
    ["9gag.com", "9gag.com"],
    ["见 example.com。", "example.com"],
    ["sub.domain.example.photography:8443/x", "sub.domain.example.photography:8443/x"],
  ])("%s", (text, link) => {
    expect(found(text)).toEqual([`link ${link}`]);
  });

  it.each([
    "e.g. this",
    "node.js",
    "7.30.pm",
    "me@example.com",
    "1.2.3.4",
    "file.txt.",
    "a.b.c.notatld",
    "https://",
    "...",
    "end.Begin",
    "v1.2.zip4",
  ])("leaves %s alone", (text) => {
    expect(found(text)).toEqual([]);
  });

  it("gives a bare domain its scheme and other alphabets their form on the wire", () => {
    expect(findSpans("example.com/a")[0]?.value).toBe("https://example.com/a");
    expect(findSpans("https://münchen.example/ä")[0]?.value).toBe("https://xn--mnchen-3ya.example/%C3%A4");
    expect(findSpans("https://example.com")[0]?.value).toBe("https://example.com");
  });
});

describe("mentions", () => {
  it.each([
    ["@alice.bsky.social hi", "@alice.bsky.social"],
    ["(@alice.test)", "@alice.test"],
    ["hi @alice.test!", "@alice.test"],
    ["hi @alice.test.", "@alice.test"],
    ["@Alice-2.Example.COM", "@Alice-2.Example.COM"],
    ["你好@alice.test", "@alice.test"],
    ["👋@alice.test", "@alice.test"],
  ])("%s", (text, mention) => {
    expect(found(text)).toEqual([`mention ${mention}`]);
  });

  it.each(["@alice", "me@alice.test", "@alice..test", "@-alice.test", "https://x.example/@alice.test"])(
    "none in %s",
    (text) => {
      expect(found(text).filter((span) => span.startsWith("mention"))).toEqual([]);
    },
  );

  it("stay text where the handle is not known", () => {
    const text = "@alice.test and @bobby.test";
    const facets = toFacets(text, findSpans(text), new Map([["bobby.test", "did:plc:bobby"]]));
    expect(covered(text, facets)).toEqual(["@bobby.test"]);
  });
});

describe("tags", () => {
  it.each([
    ["#tag", ["#tag"]],
    ["#one #two", ["#one", "#two"]],
    ["(#tag)", ["#tag"]],
    ["#tag, #tag2.", ["#tag", "#tag2"]],
    ["#日本語", ["#日本語"]],
    ["#東京，很好", ["#東京"]],
    ["＃全角", ["＃全角"]],
    ["#c++", ["#c++"]],
    ["#café!", ["#café"]],
    ["#100days", ["#100days"]],
    ["#🎉", ["#🎉"]],
    // As in Bluesky's own apps.
    ["its a #double#rainbow", ["#double#rainbow"]],
    ["##hashash", ["##hashash"]],
    ["some #n0n3s@n5e!", ["#n0n3s@n5e"]],
    ["works #with,punctuation", ["#with,punctuation"]],
    ["strips trailing #punctuation, #like. #this!", ["#punctuation", "#like", "#this"]],
    ["strips #multi_trailing___...", ["#multi_trailing"]],
    ["#same #same #but #diff", ["#same", "#same", "#but", "#diff"]],
    ["this ##️⃣tag", ["##️⃣tag"]],
    // Not as there: a tag in brackets, and one that Chinese or Japanese punctuation ends.
    ["(#ATL)", ["#ATL"]],
    ["#東京、#大阪。", ["#東京", "#大阪"]],
  ])("%s", (text, tags) => {
    expect(found(text)).toEqual(tags.map((tag) => `tag ${tag}`));
  });

  it.each(["#1", "#", "# no", "a#b", "#️⃣", "##", "#!", "https://example.com/#part", `#${"x".repeat(65)}`])(
    "none in %s",
    (text) => {
      expect(found(text).filter((span) => span.startsWith("tag"))).toEqual([]);
    },
  );
});

describe("cashtags", () => {
  it.each([
    ["check $LEGO now", ["$LEGO"]],
    ["($GOOG)", ["$GOOG"]],
    ["$aapl", ["$AAPL"]],
    ["$A1B2, $x!", ["$A1B2", "$X"]],
    ["$TSLA\n$BTC", ["$TSLA", "$BTC"]],
    ["$TOOLONG $1 $ US$5 a$AAPL $AAPL_x $$A $ÄB", []],
  ])("%s", (text, tags) => {
    expect(findSpans(text).map(({ value }) => value)).toEqual(tags);
  });

  it("cover what was written", () => {
    const [facet] = toFacets("ü $aapl", findSpans("ü $aapl"), new Map());
    expect(facet).toEqual({
      index: { byteStart: 3, byteEnd: 8 },
      features: [{ $type: "app.bsky.richtext.facet#tag", tag: "$AAPL" }],
    });
  });
});

const piece = fc.oneof(
  fc.constantFrom(
    "https://example.com/a?b=(c)",
    "example.com",
    "@alice.test",
    "#tag",
    "#日本",
    "ü",
    "👩‍👩‍👧",
    "é",
    "。",
    " ",
    "\n",
    "(",
    ")",
    ".",
    "，",
    "\ud800",
  ),
  fc.string({ unit: "grapheme", maxLength: 6 }),
  fc.string({ unit: "binary", maxLength: 4 }),
);

describe("offsets", () => {
  it("cut whole words out of the UTF-8 bytes, in order, without overlap", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = normalizeText(pieces.join(""));
        const spans = findSpans(text);
        const dids = new Map(
          spans.filter(({ kind }) => kind === "mention").map(({ value }) => [value, "did:plc:x"]),
        );
        const facets = toFacets(text, spans, dids);
        expect(covered(text, facets)).toEqual(spans.map(({ start, end }) => text.slice(start, end)));
        let last = 0;
        for (const { index } of facets) {
          expect(index.byteStart).toBeGreaterThanOrEqual(last);
          expect(index.byteEnd).toBeGreaterThan(index.byteStart);
          last = index.byteEnd;
        }
        expect(last).toBeLessThanOrEqual(Buffer.byteLength(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it("find what was put between spaces, whatever stands around it", () => {
    const word = fc.constantFrom("https://example.com/x", "example.com/y", "@alice.test", "#tag");
    const around = fc
      .string({ unit: "grapheme", maxLength: 10 })
      .filter((text) => found(text).length === 0 && !/[@#＃.:/]/.test(text));
    fc.assert(
      fc.property(around, word, around, (before, inner, after) => {
        expect(found(normalizeText(`${before} ${inner} ${after}`)).map((span) => span.split(" ")[1])).toEqual(
          [inner],
        );
      }),
      { numRuns: 1_000 },
    );
  });

  it("take no longer on hostile text", () => {
    for (const text of [
      "a.".repeat(1_500),
      "@a-".repeat(1_000),
      "((((".repeat(700),
      `https://${")".repeat(2_900)}`,
      "#".repeat(3_000),
      "a-".repeat(1_500),
    ]) {
      expect(findSpans(text).length).toBeLessThan(3_000);
    }
  });
});

describe("length", () => {
  it.each([
    ["👩‍👩‍👧‍👦", 1],
    ["é", 1],
    ["🇩🇪🇫🇷", 2],
    ["日本語", 3],
    ["a\r\nb", 3],
    ["👍🏽!", 2],
  ])("%s is %i", (text, length) => {
    expect(measureText(text, "graphemes")).toBe(length);
  });

  it("is counted on the text that is stored", () => {
    expect(normalizeText("a\r\nb\ud800")).toBe("a\nb�");
  });
});

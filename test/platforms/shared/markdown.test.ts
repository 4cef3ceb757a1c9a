import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  htmlOf,
  type Range,
  rangesOf,
  readMarkdown,
  readText,
  textSeen,
} from "../../../src/platforms/shared/markdown.ts";
import { captionAs, shownAs, shownThere } from "../../../src/platforms/shared/shown.ts";

const TEXT = [
  "# News",
  "",
  "Some **bold _both_** ~~gone~~ `a<b` and ||hidden||,",
  "a [page](https://posthorn.example/a?b=1&c=2) of @[Ann Example](urn:li:person:1).",
  "",
  "- one",
  "- two",
  "  1. inner",
  "",
  "> quoted",
  "> twice",
  "",
  "```js",
  "x < y",
  "```",
  "",
  "---",
].join("\n");

describe("readMarkdown", () => {
  it("is written as HTML", () => {
    const html = htmlOf(readMarkdown(TEXT), {
      mention: (name, id) => `<u data-id="${id}">${name}</u>`,
      spoiler: (inner) => `<s>${inner}</s>`,
    });
    expect(html).toBe(
      [
        "<h1>News</h1>",
        "<p>Some <strong>bold <em>both</em></strong> <del>gone</del> <code>a&lt;b</code> and <s>hidden</s>,<br>a " +
          '<a href="https://posthorn.example/a?b=1&amp;c=2">page</a> of <u data-id="urn:li:person:1">Ann Example</u>.</p>',
        "<ul>",
        "<li>one</li>",
        "<li>two",
        "<ol>",
        "<li>inner</li>",
        "</ol></li>",
        "</ul>",
        "<blockquote>",
        "<p>quoted<br>twice</p>",
        "</blockquote>",
        "<pre><code>x &lt; y</code></pre>",
        "<hr>",
      ].join("\n"),
    );
  });

  it("is written as a text with ranges", () => {
    const { text, ranges } = rangesOf(readMarkdown(TEXT));
    expect(text).toBe(
      "News\n\nSome bold both gone a<b and hidden,\na page of @Ann Example.\n\n• one\n• two\n1. inner\n\nquoted\ntwice\n\nx < y\n\n———",
    );
    const seen = ranges.map(({ start, end, ...range }) => [text.slice(start, end), ...Object.values(range)]);
    expect(seen).toEqual([
      ["News", "heading"],
      ["bold both", "bold"],
      ["both", "italic"],
      ["gone", "strike"],
      ["a<b", "code"],
      ["hidden", "spoiler"],
      ["page", "link", "https://posthorn.example/a?b=1&c=2"],
      ["@Ann Example", "mention", "urn:li:person:1"],
      ["quoted\ntwice", "quote"],
      ["x < y", "block", "js"],
    ]);
  });

  it.each([
    ["<script>alert(1)</script>", "&lt;script&gt;"],
    ["[x](javascript:alert(1))", "[x](javascript:alert(1))"],
    ["[x](data:text/html,1)", "[x](data:text/html,1)"],
    ['[x](https://a.example/"onclick=1)', "&quot;onclick"],
    ["![a cat](https://a.example/cat.png)", '<a href="https://a.example/cat.png">a cat</a>'],
    ["| a | b |\n|---|---|\n| 1 | 2 |", "| 1 | 2 |"],
    ["one\\*two & 3 < 4", "one*two &amp; 3 &lt; 4"],
    ["https://a.example/x_y_z.", '<a href="https://a.example/x_y_z">https://a.example/x_y_z</a>.'],
    ["to ann@a.example", "<p>to ann@a.example</p>"],
    ["<mailto:ann@a.example>", 'href="mailto:ann@a.example"'],
  ])("writes %j safely", (text, part) => {
    const html = htmlOf(readMarkdown(text));
    expect(html).toContain(part);
    expect(html).not.toMatch(/<script|href="(?!https?:|mailto:)/);
  });

  it("never throws, makes no tags of its own, and its ranges lie within each other or apart", () => {
    const pieces = fc.constantFrom(
      ..."**|__|_|*|~~|`|||#|>|- |1. |\n|\n\n|[|](|)|https://a.b|<b>|@[|x|&|```|😀|\\".split("|"),
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
        const blocks = readMarkdown(parts.join(""));
        const html = htmlOf(blocks);
        expect(
          html.replace(
            /<\/?(?:p|h\d|ul|li|strong|em|del|code|pre|blockquote|br|hr|ol|a)(?: (?:href|start)="[^"]*")?>/g,
            "",
          ),
        ).not.toMatch(/[<>]/);
        const { text, ranges } = rangesOf(blocks);
        for (const [at, range] of ranges.entries()) {
          expect(range.end).toBeLessThanOrEqual(text.length);
          for (const other of ranges.slice(at + 1)) expect(isFitting(range, other)).toBe(true);
        }
      }),
    );
  });

  it.each([
    ["quotations that can be read", "> ".repeat(1_000)],
    ["lists that can be read", "- ".repeat(1_000)],
    ["quotations", "> ".repeat(9_000)],
    ["lists", "- ".repeat(9_000)],
    ["emphasis", "*a **b ".repeat(3_000)],
    ["brackets", "[".repeat(20_000)],
    ["mentions", "@[".repeat(10_000)],
    ["bars", "||".repeat(10_000)],
  ])("reads many %s within each other", (_what, text) => {
    const blocks = readMarkdown(text);
    expect(htmlOf(blocks)).not.toBe("");
    expect(rangesOf(blocks).text).not.toBe("");
  });
});

describe("a platform that reads Markdown itself", () => {
  const text = "**a** || b ||c|| @[Ann](7)";

  it("shows the bars of what it does not take for hidden", () => {
    expect(shownThere(text, "markdown")).toEqual({ body: "a || b ||c|| @Ann" });
    expect(shownAs("markdown").write?.(text)).toBe("a  b c|| @Ann");
    expect([shownThere(text, "plain"), shownThere(null, "markdown")]).toEqual([{}, { body: "" }]);
  });

  it("counts the characters that it is sent", () => {
    const caption = { maxLength: 9, unit: "weighted" } as const;
    expect(captionAs(caption, "plain")).toBe(caption);
    expect(captionAs(caption, "markdown")).toEqual({ maxLength: 9, unit: "characters" });
  });
});

describe("readText", () => {
  it("reads a plain text character by character, but for those who are mentioned", () => {
    const text = " *a*\r\n\n# @[Ann B](7) <b>@[c](8)";
    expect(textSeen(text, "plain")).toBe(" *a*\r\n\n# @Ann B <b>@c");
    expect(rangesOf(readText(text, undefined)).ranges).toEqual([
      { kind: "mention", id: "7", start: 9, end: 15 },
      { kind: "mention", id: "8", start: 19, end: 21 },
    ]);
    expect(textSeen("*a* @[Ann B](7)", "markdown")).toBe("a @Ann B");
  });

  it("leaves every text without mentions as it is", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => textSeen(text, "plain") === text));
  });
});

function isFitting(one: Range, other: Range): boolean {
  return (
    other.start >= one.end || other.end <= one.start || (other.start >= one.start && other.end <= one.end)
  );
}

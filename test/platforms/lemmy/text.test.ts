import { expect, it } from "vitest";
import { bodyOf, measure, plainMarkdown } from "../../../src/platforms/lemmy/metadata.ts";
import { shownOf } from "./reader.ts";

it.each([
  ["no markup: don't (x), 12:30, a - b, {x}, $5, A & B", null],
  ["*it* **bold** snake_case", "\\*it\\* \\*\\*bold\\*\\* snake\\_case"],
  ["<b>x</b> [a](https://a.example)", "\\<b\\>x\\</b\\> \\[a\\](https://a.example)"],
  ["https://a.example/b_c_d and https://a.example/x.", "<https://a.example/b_c_d> and https://a.example/x."],
  ["# one\n- two\n1. three\n> four", "\\# one  \n\\- two  \n1\\. three  \n\\> four"],
  ["::: spoiler", "\\::: spoiler"],
  ["x^2^ ~y~ `z`", "x\\^2\\^ \\~y\\~ \\`z\\`"],
  ["&amp; &#35;", "\\&amp; \\&#35;"],
  ["one\n\ntwo", "one\n\ntwo"],
  ["a|b\n-|-", "a\\|b  \n\\-\\|-"],
  ["\\*", "\\\\\\*"],
])("keeps %j from being markup", (text, expected) => {
  expect(plainMarkdown(text)).toBe(expected ?? text);
  expect(shownOf(plainMarkdown(text))).toBe(text);
});

it("counts code points, and what keeps markup away", () => {
  expect([measure("🐎é"), measure("*a*"), measure("a\nb")]).toEqual([2, 5, 5]);
});

it("leaves Markdown to the server where it is asked for", () => {
  const body = (format?: "plain" | "markdown") =>
    bodyOf({ caption: "A **horn**", metadata: { format } } as never);
  expect([body("markdown"), body("plain"), body()]).toEqual([
    "A **horn**",
    "A \\*\\*horn\\*\\*",
    "A \\*\\*horn\\*\\*",
  ]);
});

import { expect, it } from "vitest";
import { measure, plainMfm, shownText, writerOf } from "../../../src/platforms/misskey/metadata.ts";
import { shownOf } from "./reader.ts";

const plain = (sign: string): string => `<plain>${sign}</plain>`;

it.each([
  ["no markup: 5 * 3, a_b_c, 1 < 2, 12:30, (x), ~, \\", null],
  ["https://a.example/_x_?a=b #tag_x_y @bob_x@b.example", null],
  ["**bold** and *it*", `${plain("**")}bold${plain("**")} and ${plain("*")}it*`],
  ["_it_ is snake_case_x", `${plain("_")}it_ is snake_case_x`],
  ["<b>x</b> <https://a.example>", `${plain("<")}b>x${plain("<")}/b> ${plain("<")}https://a.example>`],
  ["$[x2 big] \\(x\\)", `${plain("$")}${plain("[")}x2 big] ${plain("\\")}(x\\)`],
  ["[a](https://a.example)", `${plain("[")}a](https://a.example)`],
  ["one\n> two", `one\n${plain(">")} two`],
  [":horn: `x`", `${plain(":")}horn: ${plain("`")}x${plain("`")}`],
  ["horns Search", `horns ${plain("Search")}`],
  ["horns 検索\nmore", `horns ${plain("検索")}\nmore`],
  ["</plain>", `${plain("<")}/plain>`],
])("keeps %j from being markup", (text, expected) => {
  expect(plainMfm(text)).toBe(expected ?? text);
  expect(shownOf(plainMfm(text))).toBe(text);
});

it("counts code points, and what keeps markup away", () => {
  expect(measure("🐎é")).toBe(2);
  expect(measure("*a*")).toBe(3 + "<plain></plain>".length);
});

it.each([
  ["# News", "**News**", "News"],
  ["**b** *i* ~~s~~ ||h||", "**b** <i>i</i> ~~s~~ $[blur h]", "b i s h"],
  ["a_b\\*c <b>", `a_b*c ${plain("<")}b>`, "a_b*c <b>"],
  ["- one\n- two", "• one\n• two", "• one\n• two"],
  ["> said\n> so", "> said\n> so", "said\nso"],
  ["[a horn](https://a.example) `x`", "[a horn](https://a.example) `x`", "a horn x"],
  ["```js\n1 < 2\n```", "```js\n1 < 2\n```", "1 < 2"],
  ["@[Bob](@bob@b.example)!", "@bob@b.example!", "@bob@b.example!"],
  [
    "@bob@b.example and https://a.example",
    "@bob@b.example and https://a.example",
    "@bob@b.example and https://a.example",
  ],
])("writes the Markdown %j in Misskey's markup", (text, mfm, shown) => {
  expect(writerOf({ format: "markdown" })(text)).toBe(mfm);
  expect(shownText(text, "markdown")).toBe(shown);
});

it("leaves Markdown alone unless it is asked for", () => {
  expect(shownOf(writerOf({})("**b** @[Bob](@bob@b.example)"))).toBe("**b** @bob@b.example");
  expect(shownText("**b**", "plain")).toBe("**b**");
});

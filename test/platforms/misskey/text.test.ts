import { expect, it } from "vitest";
import { measure, plainMfm } from "../../../src/platforms/misskey/metadata.ts";
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

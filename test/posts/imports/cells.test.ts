import { expect, it } from "vitest";
import { guardCell, guardCells, readCell } from "../../../src/posts/imports/cells.ts";

const SIGNS = ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"];

it.each(SIGNS)(
  "a text that begins with %j begins with an apostrophe in a table, and is itself again",
  (sign) => {
    for (const text of [sign, `${sign}1+1`, `'${sign}cmd`, `''${sign}`]) {
      expect(guardCell(text)).toBe(`'${text}`);
      expect(readCell(guardCell(text))).toBe(text);
    }
  },
);

it.each(["", "'", "''", "'tis", "a=b", " =1", "''quoted''", "x\n=1", "0", "’=1"])(
  "%j is itself again",
  (text) => {
    expect(readCell(guardCell(text))).toBe(text);
  },
);

it("takes away only an apostrophe that guards something", () => {
  expect(["'tis", "''", "'=1", "=1", "@alice", "'"].map(readCell)).toEqual([
    "'tis",
    "'",
    "=1",
    "=1",
    "@alice",
    "",
  ]);
});

it("guards what a spreadsheet that separates by semicolons or tabs would take for a cell", () => {
  expect(guardCells('hello;=HYPERLINK("x");\t@a;b=c;')).toBe("hello;'=HYPERLINK(\"x\");'\t'@a;b=c;");
  expect(guardCells("")).toBe("");
});

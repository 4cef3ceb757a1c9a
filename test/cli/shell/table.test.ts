import { describe, expect, it } from "vitest";
import { type Column, cutText, textWidth, toTable } from "../../../src/cli/shell/table.ts";

describe("the width of a text on a terminal", () => {
  it.each([
    ["", 0],
    ["plain", 5],
    ["日本語", 6],
    ["ｱｲｳ", 3],
    ["한국어", 6],
    ["Ｆｕｌｌ", 8],
    ["é", 1],
    ["e\u0301", 1],
    ["👍", 2],
    ["👍🏽", 2],
    ["👩‍👩‍👧", 2],
    ["🇩🇪", 2],
    ["1️⃣", 2],
    ["❤️", 2],
    ["a\u200bb", 2],
    ["Ελ Жд", 5],
  ])("%j takes %d", (text, width) => {
    expect(textWidth(text)).toBe(width);
  });

  it.each([
    ["plain", 5, "plain"],
    ["plain", 4, "pla…"],
    ["日本語", 5, "日本…"],
    ["日本語", 4, "日…"],
    ["a👩‍👩‍👧b", 3, "a…"],
    ["one two", 5, "one…"],
  ])("%j in %d is %j", (text, width, cut) => {
    expect(cutText(text, width)).toBe(cut);
    expect(textWidth(cut)).toBeLessThanOrEqual(width);
  });
});

describe("a table", () => {
  interface Row {
    readonly name: string | null;
    readonly text: string;
    readonly id: string;
  }
  const COLUMNS: readonly Column<Row>[] = [
    { title: "NAME", of: ({ name }) => name, isCut: true },
    { title: "TEXT", of: ({ text }) => text, isCut: true },
    { title: "ID", of: ({ id }) => id },
  ];

  it("stands in columns, whatever the texts are of", () => {
    const rows = [
      { name: "日本", text: "👍🏽 yes", id: "id_1" },
      { name: null, text: "two\n lines", id: "id_2" },
    ];
    expect(toTable(COLUMNS, rows, 80).split("\n")).toEqual([
      "NAME  TEXT       ID",
      "日本  👍🏽 yes     id_1",
      "      two lines  id_2",
      "",
    ]);
  });

  it("keeps ids whole and cuts texts until the line fits, no further than they say something", () => {
    const rows = [
      { name: "A channel with a name", text: "word ".repeat(40), id: "post_01k0000000000000000000000" },
    ];
    for (const width of [60, 80, 120]) {
      const lines = toTable(COLUMNS, rows, width).trimEnd().split("\n");
      expect(Math.max(...lines.map(textWidth))).toBeLessThanOrEqual(width);
      expect(lines[1]).toMatch(/ {2}post_01k0000000000000000000000$/);
    }
    expect(toTable(COLUMNS, rows, 20).split("\n")[1]).toBe(
      "A chann…  word wo…  post_01k0000000000000000000000",
    );
  });

  it("keeps names apart that differ only at their ends", () => {
    const rows = [
      "Fjord Bakery on Mastodon (fjord@a.example)",
      "Fjord Bakery on Mastodon (fjordbuns@a.example)",
    ].map((name) => ({ name, text: "word ".repeat(40), id: "id" }));
    const columns = [{ ...COLUMNS[0], isName: true }, ...COLUMNS.slice(1)] as typeof COLUMNS;
    const cut = toTable(columns, rows, 30).split("\n").slice(1, 3);
    expect(cut.map((line) => line.split("  ")[0])).toEqual(["…fjord@a.ex…", "…fjordbuns@…"]);
    for (const width of [24, 40, 60, 80]) {
      const [one, other] = toTable(columns, rows, width).split("\n").slice(1, 3);
      expect(one).not.toBe(other);
      expect(Math.max(textWidth(one ?? ""), textWidth(other ?? ""))).toBeLessThanOrEqual(width);
    }
  });

  it("keeps apart those that are alike in part, and those that differ within a long word", () => {
    const columns = [{ ...COLUMNS[0], isName: true }, ...COLUMNS.slice(1)] as typeof COLUMNS;
    const long = "a".repeat(60);
    for (const names of [
      ["one.example", "two.example"].map((server) => `Fjord Bakery on Mastodon (@fjord@${server})`),
      [`${long}1`, `${long}2`],
    ]) {
      const rows = [...names, "Fjord Bakery on Misskey"].map((name) => ({ name, text: "t", id: "id" }));
      for (const width of [20, 30, 40]) {
        const lines = toTable(columns, rows, width).split("\n").slice(1, 4);
        expect(new Set(lines).size).toBe(3);
      }
    }
  });

  it("shows what a terminal would obey, and still fits", () => {
    const rows = [{ name: "\u001b[31mred\u202e", text: "x", id: "id" }];
    expect(toTable(COLUMNS, rows, 80)).toContain(String.raw`\u001b[31mred\u202e  x     id`);
  });
});

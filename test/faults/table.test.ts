import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { mergeResults, readRows, renderReliability, type Result } from "../../scripts/reliability-table.ts";

const PAGE = readFileSync(join(import.meta.dirname, "..", "..", "docs", "reliability.md"), "utf8");

describe("the table of results", () => {
  it("has every fault of the plan", () => {
    const faults = new Set(readRows(PAGE).map(([fault]) => fault));
    expect(Array.from({ length: 18 }, (_, n) => `F${n + 1}`).filter((fault) => !faults.has(fault))).toEqual(
      [],
    );
  });

  it("replaces the rows that were run anew and keeps the others", () => {
    const page =
      "# Results\n\n<!-- begin results -->\n\n| fault |\n| --- |\n| F2 | a \\| b | 1 |\n| F9 | c | 2 |\n\n<!-- end results -->\n";
    const result: Result = {
      fault: "F2",
      how: "a | b",
      runs: "7 kills",
      seen: "nothing",
      seed: 5,
      at: "today",
      scale: 0.5,
    };
    const rows = mergeResults(page, [
      { ...result, runs: "3 kills" },
      result,
      { ...result, fault: "F10", seed: null, scale: 1 },
    ]);
    expect(rows).toEqual([
      ["F2", "a \\| b", "7 kills (0.5 of the plan)", "nothing", "5", "today"],
      ["F9", "c", "2"],
      ["F10", "a \\| b", "7 kills", "nothing", "–", "today"],
    ]);
    expect(mergeResults(renderReliability(page, rows), [])).toEqual(rows);
  });
});

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  mergeResults,
  readRows,
  renderReliability,
  type Result,
  SIMULATION,
} from "../../scripts/reliability-table.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const PAGE = readFileSync(join(ROOT, "docs", "reliability.md"), "utf8");

describe("the table of results", () => {
  it("has a row of each fault that is tried in a long form, and of no other", () => {
    const tests = ["faults", "faults/both-engines", "postgres/faults"].flatMap((folder) =>
      readdirSync(join(ROOT, "test", folder))
        .filter((name) => name.endsWith(".test.ts") && !import.meta.filename.endsWith(name))
        .map((name) => readFileSync(join(ROOT, "test", folder, name), "utf8")),
    );
    const told = tests.flatMap((text) => [
      ...text.matchAll(/\b(?:fault:|fault =|,) "(F\d+|Fuzzing|Mixed load)"/g),
    ]);
    const faults = new Set(told.map(([, fault]) => fault));
    expect(new Set(readRows(PAGE).map(([fault]) => fault))).toEqual(faults);
    expect(readRows(PAGE, SIMULATION).length).toBeGreaterThan(5);
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

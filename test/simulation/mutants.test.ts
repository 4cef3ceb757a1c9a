import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { applyMutant, MUTANTS } from "./mutants.ts";

describe("planted faults", () => {
  it("are many, and each has a name of its own", () => {
    expect(MUTANTS.length).toBeGreaterThanOrEqual(40);
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
  });

  it.each(MUTANTS)("$name: applies", (mutant) => {
    const text = readFileSync(new URL(`../../${mutant.file}`, import.meta.url), "utf8");
    expect(applyMutant(mutant, text)).not.toBe(text);
  });
});

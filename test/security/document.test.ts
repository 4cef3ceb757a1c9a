import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const ROOT = new URL("../../", import.meta.url);
const text = readFileSync(new URL("docs/scope.md", ROOT), "utf8");
const protections = text.split("## The protections")[1]?.match(/^- \*\*.*\n(?:  .*\n)*/gm) ?? [];

describe("docs/scope.md", () => {
  it("names a test for each protection, and the test is there", () => {
    expect(protections.length).toBeGreaterThan(9);
    for (const protection of protections) {
      const paths = [...protection.matchAll(/`(test\/[^`]+)`/g)].map(([, path]) => path ?? "");
      expect([protection, paths.length > 0]).toEqual([protection, true]);
      for (const path of paths) expect([path, existsSync(new URL(path, ROOT))]).toEqual([path, true]);
    }
  });
});

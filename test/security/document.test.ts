import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const ROOT = new URL("../../", import.meta.url);
const text = readFileSync(new URL("docs/security.md", ROOT), "utf8");
const rows = [...text.matchAll(/^\| (S\d+) +\|(.*)\|(.*)\|$/gm)];

describe("docs/security.md", () => {
  it("has each line of the checklist, in order", () => {
    expect(rows.map(([, name]) => name)).toEqual(Array.from({ length: 14 }, (_, at) => `S${at + 1}`));
  });

  it("names tests that are there", () => {
    for (const [, name, , tests = ""] of rows) {
      const paths = [...tests.matchAll(/`(test\/[^`]+)`/g)].map(([, path]) => path ?? "");
      expect([name, paths.length > 0]).toEqual([name, true]);
      for (const path of paths) expect([path, existsSync(new URL(path, ROOT))]).toEqual([path, true]);
    }
  });
});

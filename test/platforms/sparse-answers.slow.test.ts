import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { loadCatalog } from "../../src/app/setup.ts";
import { readStage } from "../support/contract/read-stage.ts";
import { neededKeys } from "../support/contract/stage.ts";
import { testSparse } from "../support/contract/test-sparse.ts";

const { platforms } = await loadCatalog();

it("requires no key of an answer whose value is not looked at", () => {
  const required = /^\s*\w+: z\.(?:unknown|any)\(\)(?!\.(?:optional|nullish)\()/m;
  const folder = new URL("../../src/platforms/", import.meta.url);
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => name.endsWith(".ts"));
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((file) => required.test(readFileSync(new URL(file, folder), "utf8")))).toEqual([]);
});

for (const platform of platforms) {
  const fixture = await readStage(platform.name);
  describe(`${platform.name}, where answers lack keys`, () =>
    testSparse(platform, fixture, neededKeys(fixture)));
}

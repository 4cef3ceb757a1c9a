import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { describeStages } from "../support/contract/read-stage.ts";
import { neededKeys } from "../support/contract/stage.ts";
import { testSparse } from "../support/contract/test-sparse.ts";

it("requires no key of an answer whose value is not looked at", () => {
  const required = /^\s*\w+: z\.(?:unknown|any)\(\)(?!\.(?:optional|nullish)\()/m;
  const folder = new URL("../../src/platforms/", import.meta.url);
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => name.endsWith(".ts"));
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((file) => required.test(readFileSync(new URL(file, folder), "utf8")))).toEqual([]);
});

await describeStages("where answers lack keys", (platform, fixture) =>
  testSparse(platform, fixture, neededKeys(fixture)),
);

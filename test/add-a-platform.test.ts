import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { settingsOf } from "../src/ports/platform-setup.ts";
import photobox from "./fixtures/photobox/index.ts";

const read = (path: string): string => readFileSync(join(import.meta.dirname, path), "utf8");

const SOURCE = read("fixtures/photobox/index.ts")
  .replaceAll("../../../src/platforms/", "../")
  .replaceAll("../../../src/", "../../");

it("shows a whole platform in at most 220 lines, as it compiles", () => {
  const shown = /<!-- photobox -->\n\n```ts\n(.*?)```/s.exec(read("../docs/add-a-platform.md"))?.[1];
  expect(shown).toBe(SOURCE);
  expect(SOURCE.split("\n").length).toBeLessThanOrEqual(220);
});

it("gives it the settings that come by themselves", () => {
  expect(settingsOf(photobox)).toEqual([
    {
      name: "BASE_URL",
      meaning: "Where the API is asked",
      kind: "address",
      default: "https://photobox.example/api/v1",
      isRequired: false,
    },
  ]);
});

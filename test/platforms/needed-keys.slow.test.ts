import { describe, expect, it } from "vitest";
import { loadCatalog } from "../../src/app/setup.ts";
import { readStage } from "../support/contract/read-stage.ts";
import { testNeeded } from "../support/contract/test-sparse.ts";
import { NEEDED_KEYS } from "./needed-keys.ts";

const { platforms } = await loadCatalog();

it("says of each platform what its answers may not lack", () => {
  expect(Object.keys(NEEDED_KEYS).sort()).toEqual(platforms.map(({ name }) => name).sort());
});

for (const platform of platforms) {
  const fixture = await readStage(platform.name);
  const needed = Object.values(NEEDED_KEYS[platform.name] ?? {}).flat();
  if (needed.length > 0)
    describe(`${platform.name}, by what its answers must hold,`, () => testNeeded(platform, fixture, needed));
}

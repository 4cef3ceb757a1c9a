import { describe } from "vitest";
import { loadCatalog } from "../../src/app/setup.ts";
import { readStage } from "../support/contract/read-stage.ts";
import { neededKeys } from "../support/contract/stage.ts";
import { testNeeded } from "../support/contract/test-sparse.ts";

const { platforms } = await loadCatalog();

for (const platform of platforms) {
  const fixture = await readStage(platform.name);
  const needed = neededKeys(fixture);
  if (needed.length > 0)
    describe(`${platform.name}, by what its answers must hold,`, () => testNeeded(platform, fixture, needed));
}

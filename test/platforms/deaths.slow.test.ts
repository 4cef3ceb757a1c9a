import { describe } from "vitest";
import { loadCatalog } from "../../src/app/setup.ts";
import { readStage } from "../support/contract/read-stage.ts";
import { testDeaths } from "../support/contract/test-publishing.ts";

const { platforms } = await loadCatalog();

for (const platform of platforms) {
  const fixture = await readStage(platform.name);
  describe(`${platform.name}, when the process dies`, () => testDeaths(platform, fixture));
}

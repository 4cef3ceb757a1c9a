import { describe } from "vitest";
import { loadCatalog } from "../../src/app/setup.ts";
import { readStage } from "../support/contract/read-stage.ts";
import { testData } from "../support/contract/test-data.ts";
import { testPublishing } from "../support/contract/test-publishing.ts";

const { platforms } = await loadCatalog();

for (const platform of platforms) {
  const fixture = await readStage(platform.name);
  describe(`${platform.name}, as data`, () => testData(platform));
  describe(`${platform.name}, publishing`, () => testPublishing(platform, fixture));
}

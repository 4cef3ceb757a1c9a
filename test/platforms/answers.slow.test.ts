import { describe } from "vitest";
import { loadCatalog } from "../../src/app/setup.ts";
import { readStage } from "../support/contract/read-stage.ts";
import { testAnswers } from "../support/contract/test-answers.ts";

const { platforms } = await loadCatalog();

for (const platform of platforms) {
  const fixture = await readStage(platform.name);
  describe(`${platform.name}, when requests meet trouble`, () => testAnswers(platform, fixture));
}

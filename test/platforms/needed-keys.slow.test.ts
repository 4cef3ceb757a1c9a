import { describeStages } from "../support/contract/read-stage.ts";
import { neededKeys } from "../support/contract/stage.ts";
import { testNeeded } from "../support/contract/test-sparse.ts";

await describeStages(
  "by what its answers must hold,",
  (platform, fixture) => testNeeded(platform, fixture, neededKeys(fixture)),
  (fixture) => neededKeys(fixture).length > 0,
);

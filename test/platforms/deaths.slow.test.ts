import { describeStages } from "../support/contract/read-stage.ts";
import { testDeaths } from "../support/contract/test-publishing.ts";

await describeStages("when the process dies", testDeaths);

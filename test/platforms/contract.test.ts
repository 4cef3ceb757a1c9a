import { describeStages } from "../support/contract/read-stage.ts";
import { testData } from "../support/contract/test-data.ts";
import { testPublishing } from "../support/contract/test-publishing.ts";

await describeStages("as data", testData);
await describeStages("publishing", testPublishing);

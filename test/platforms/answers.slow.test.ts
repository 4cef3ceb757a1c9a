import { describeStages } from "../support/contract/read-stage.ts";
import { testAnswers } from "../support/contract/test-answers.ts";

await describeStages("when requests meet trouble", testAnswers);

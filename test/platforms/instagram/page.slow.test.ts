import { describe } from "vitest";
import instagram from "../../../src/platforms/instagram/index.ts";
import { testAnswers } from "../../support/contract/test-answers.ts";
import { testDeaths } from "../../support/contract/test-publishing.ts";
import fixture from "./page-stage.ts";

describe("instagram through a Page, when the process dies", () => testDeaths(instagram, fixture));
describe("instagram through a Page, when requests meet trouble", () => testAnswers(instagram, fixture));

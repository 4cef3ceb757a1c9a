import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Without knowledge of earlier runs the largest files come first; some of the smallest run longest, and would
 * keep one worker busy when all others are done. In the order of their seconds.
 */
const LONGEST = [
  "test/faults/soak.test.ts",
  "test/faults/bluesky-kill.test.ts",
  "test/platforms/answers.test.ts",
  "test/faults/kill.test.ts",
  "test/faults/fuzz-media.test.ts",
  "test/faults/many-grants.test.ts",
  "test/platforms/contract.test.ts",
  "test/faults/upkeep-kill.test.ts",
  "test/faults/guilty-post.test.ts",
  "test/mcp/transports/memory.test.ts",
  "test/mcp/transports/product.test.ts",
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = LONGEST.findIndex((file) => moduleId.endsWith(file));
  return rank === -1 ? LONGEST.length : rank;
}

import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/longest-first.ts";
import { shared, SLOW } from "./vitest.slow.config.ts";

const ALONE = [
  // They start and kill processes, or build the whole program.
  "test/*.test.ts",
  "test/faults/**/*.test.ts",
  // They set the clock, which ids never go behind.
  "test/platforms/webhook/webhook.test.ts",
  "test/webhooks/webhooks.test.ts",
];

const { globalSetup, ...parts } = shared;

export default defineConfig({
  test: {
    maxWorkers: parts.maxWorkers,
    globalSetup: [...globalSetup, "test/support/built-program.ts"],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...parts,
          name: "together",
          include: ["test/**/*.test.ts"],
          exclude: [...parts.exclude, ...SLOW, ...ALONE],
          // Nothing in these files outlives them, so that those of one process load the product once.
          isolate: false,
        },
      },
      { test: { ...parts, name: "alone", include: ALONE, exclude: [...parts.exclude, ...SLOW] } },
    ],
  },
});

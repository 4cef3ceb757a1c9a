import { defineConfig } from "vitest/config";
import { shared, SLOW } from "./vitest.slow.config.ts";

/** Nothing in these files outlives them, so that those of one process load the product once. */
const TOGETHER = [
  "test/platforms/**/*.test.ts",
  "test/services/**/*.test.ts",
  "test/publisher/**/*.test.ts",
  "test/store/**/*.test.ts",
  "test/toolkit/**/*.test.ts",
  "test/tools/**/*.test.ts",
  "test/mcp/**/*.test.ts",
  "test/http/**/*.test.ts",
  "test/contract/**/*.test.ts",
  "test/security/**/*.test.ts",
];

const parts = { ...shared, globalSetup: [...shared.globalSetup] };

export default defineConfig({
  test: {
    maxWorkers: shared.maxWorkers,
    projects: [
      {
        test: {
          ...parts,
          name: "together",
          include: TOGETHER,
          exclude: [...shared.exclude, ...SLOW],
          isolate: false,
        },
      },
      {
        test: {
          ...parts,
          name: "alone",
          include: ["test/**/*.test.ts"],
          exclude: [...shared.exclude, ...SLOW, ...TOGETHER],
        },
      },
    ],
  },
});

import { defineConfig } from "vitest/config";

/** The fault plan in its long form; started by scripts/torture.ts. */
export default defineConfig({
  test: {
    include: ["test/faults/*.test.ts"],
    pool: "forks",
    maxWorkers: 2,
    globalSetup: ["test/support/pds-workspace.ts", "test/support/built-program.ts"],
    testTimeout: 6 * 3_600_000,
    hookTimeout: 300_000,
  },
});

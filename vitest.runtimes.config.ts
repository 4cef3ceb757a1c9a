import { defineConfig } from "vitest/config";

/** What needs other releases of Node and npm: slow, and therefore not in every run. */
export default defineConfig({
  test: {
    include: ["test/runtimes/*.test.ts"],
    pool: "forks",
    // One installs, which may compile on one core and waits much, while another runs tests.
    maxWorkers: 2,
    globalSetup: ["test/support/runtimes-workspace.ts", "test/support/built-program.ts"],
    testTimeout: 600_000,
    hookTimeout: 300_000,
  },
});

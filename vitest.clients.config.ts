import { defineConfig } from "vitest/config";

/** Programs and libraries that others wrote to talk to MCP servers, which come with a newer Node. */
export default defineConfig({
  test: {
    include: ["test/clients/*.test.ts"],
    pool: "forks",
    maxConcurrency: 3,
    globalSetup: ["test/support/clients-workspace.ts", "test/support/built-program.ts"],
    testTimeout: 120_000,
    hookTimeout: 300_000,
  },
});

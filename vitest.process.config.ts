import { defineConfig } from "vitest/config";

/** What starts the program or another process, and takes seconds; run by `npm run test:process`. */
export default defineConfig({
  test: {
    include: ["test/**/*.process.test.ts"],
    exclude: ["**/node_modules/**", "test/postgres/**"],
    globalSetup: ["test/support/has-driver.ts", "test/support/built-program.ts"],
    pool: "forks",
    // Tests make much that is soon garbage.
    execArgv: ["--max-semi-space-size=64"],
    // Nothing in these files outlives them, so that those of one process load the product once.
    isolate: false,
    // Much time goes into waiting for other processes, so more run than there are cores.
    maxWorkers: 4,
    // A busy machine takes its time to show what a step did.
    expect: { poll: { timeout: 10_000 } },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});

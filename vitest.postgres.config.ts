import { configDefaults, defineConfig } from "vitest/config";

/**
 * The rooms whose suites ask nothing of one engine: the same promises, kept on a PostgreSQL of their own. A file
 * among them that does skips itself (`isOnPostgres`).
 */
const ON_BOTH = [
  "test/{access,channels,contract,files,posts,publishing,reporting}/**",
  "test/store/{conformance,publishing,queries}/**",
  "test/faults/both-engines/**",
].map((room) => `${room}/*.test.ts`);

/** What needs a PostgreSQL server, which the run starts; run by `npm run test:postgres`. */
export default defineConfig({
  test: {
    include: ["test/postgres/**/*.test.ts", ...ON_BOTH],
    exclude: configDefaults.exclude,
    env: { POSTHORN_TEST_ENGINE: "postgres" },
    globalSetup: [
      "test/support/has-driver.ts",
      "test/support/postgres-run.ts",
      "test/support/built-program.ts",
    ],
    pool: "forks",
    // Tests make much that is soon garbage.
    execArgv: ["--max-semi-space-size=64"],
    // Nothing in these files outlives them, so that those of one process load the product once.
    isolate: false,
    // Much time goes into waiting for the server and other processes, so more run than there are cores.
    maxWorkers: 4,
    // A busy machine takes its time to show what a step did.
    expect: { poll: { timeout: 10_000 } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

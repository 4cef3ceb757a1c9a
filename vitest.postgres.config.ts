import { configDefaults, defineConfig } from "vitest/config";

/**
 * The rooms whose suites ask nothing of one engine: the same promises, kept on a PostgreSQL of their own. A file
 * among them that does skips itself (`isOnPostgres`).
 */
const ON_BOTH = [
  "test/{access,accounts,connecting,contract,files,health,platform-io,posts,publishing,results,webhooks}/**",
  "test/store/publishing/**",
  "test/faults/both-engines/**",
].map((room) => `${room}/*.test.ts`);

/** Processes that are killed, stopped and cut off: they stand apart from the suites. */
const FAULTS = "test/postgres/faults/**/*.test.ts";

const shared = {
  pool: "forks",
  // Nothing in these files outlives them, so that those of one process load the product once.
  isolate: false,
  testTimeout: 60_000,
  hookTimeout: 60_000,
} as const;

/** What needs a PostgreSQL server, which the run starts; run by `npm run test:postgres`. */
export default defineConfig({
  test: {
    maxWorkers: 3,
    globalSetup: ["test/support/postgres-run.ts", "test/support/built-program.ts"],
    projects: [
      {
        test: {
          ...shared,
          name: "postgres",
          include: ["test/postgres/**/*.test.ts"],
          exclude: [...configDefaults.exclude, FAULTS],
        },
      },
      { test: { ...shared, name: "faults", include: [FAULTS] } },
      {
        test: {
          ...shared,
          name: "both engines",
          include: ON_BOTH,
          env: { POSTHORN_TEST_ENGINE: "postgres" },
        },
      },
    ],
  },
});

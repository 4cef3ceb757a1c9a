import { configDefaults, defineConfig } from "vitest/config";

/** Suites that ask nothing of one engine: the same promises, kept on a PostgreSQL of their own. */
const ON_BOTH = [
  "test/faults/file-races.test.ts",
  "test/faults/restored-copy.test.ts",
  "test/faults/tokens.test.ts",
  "test/contract/**/*.test.ts",
  "test/publishing/**/*.test.ts",
  "test/{access,accounts,connecting,files,health,platform-io,posts,results,webhooks}/**/*.test.ts",
  "test/store/publishing/**/*.test.ts",
];

/** They break the file, or look at SQLite's own way of writing. */
const ONLY_SQLITE = [
  "test/contract/fuzz.test.ts",
  // The faces against each other, whatever stands below them.
  "test/contract/parity.test.ts",
  "test/publishing/full-disk.test.ts",
  "test/publishing/maintenance.test.ts",
  // It moves the time by hand while timers of the driver's are under way.
  "test/publishing/passes.test.ts",
];

/** Processes that are killed, stopped and cut off: they take longest, and stand apart from the suites. */
const FAULTS = ["test/postgres/faults/**/*.test.ts", "test/postgres/processes.test.ts"];

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
          exclude: [...configDefaults.exclude, ...FAULTS],
        },
      },
      { test: { ...shared, name: "faults", include: FAULTS } },
      {
        test: {
          ...shared,
          name: "both engines",
          include: ON_BOTH,
          exclude: [...configDefaults.exclude, ...ONLY_SQLITE],
          env: { POSTHORN_TEST_ENGINE: "postgres" },
        },
      },
    ],
  },
});

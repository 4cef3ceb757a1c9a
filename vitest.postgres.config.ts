import { configDefaults, defineConfig } from "vitest/config";

/** What needs a PostgreSQL server, which the run starts; run by `npm run test:postgres`. */
export default defineConfig({
  test: {
    include: ["test/postgres/**/*.test.ts"],
    exclude: [...configDefaults.exclude],
    pool: "forks",
    maxWorkers: 2,
    globalSetup: ["test/support/postgres-run.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});

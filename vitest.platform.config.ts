import { configDefaults, defineConfig } from "vitest/config";

/** All that is tried on every platform, for one of them: `npm run test:platform <name>`. */
export default defineConfig({
  test: {
    include: ["test/platforms/*.test.ts"],
    exclude: configDefaults.exclude,
    pool: "forks",
    execArgv: ["--max-semi-space-size=64"],
    isolate: false,
    maxWorkers: 4,
    globalSetup: ["test/support/has-driver.ts", "test/support/pds-server.ts"],
    testTimeout: 120_000,
    hookTimeout: 300_000,
  },
});

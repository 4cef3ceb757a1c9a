import { configDefaults, defineConfig } from "vitest/config";

/**
 * The unit run, `npm test`: no process and no browser. What starts a process is named `*.process.test.ts` and belongs
 * to `npm run test:process`; what takes long is named `*.slow.test.ts` and belongs to `npm run test:slow`.
 */
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: [
      ...configDefaults.exclude,
      "test/**/*.process.test.ts",
      "test/**/*.slow.test.ts",
      "test/postgres/**",
    ],
    pool: "forks",
    // Tests make much that is soon garbage.
    execArgv: ["--max-semi-space-size=64"],
    // Nothing in these files outlives them, so that those of one process load the product once. A module that is
    // mocked would.
    isolate: false,
    // Much time goes into waiting for disks and peers, so more run than there are cores.
    maxWorkers: 4,
    globalSetup: ["test/support/has-driver.ts", "test/support/pds-server.ts"],
    setupFiles: ["test/support/no-process.ts"],
    // A busy machine takes its time to show what a step did.
    expect: { poll: { timeout: 10_000 } },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});

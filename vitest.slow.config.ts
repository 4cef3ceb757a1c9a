import { configDefaults, defineConfig } from "vitest/config";
import { findBrowser } from "./test/support/find-browser.ts";

/** Pages are looked at in a real browser, which not every machine has; continuous integration installs one. */
const hasBrowser = findBrowser() !== null;

/** `npm run torture` runs all faults in their long form, with those that are quick otherwise. */
const isTorture = process.env["TORTURE_SCALE"] !== undefined;

const FAULTS = "test/faults/**/*.test.ts";
/** Programs and libraries that others wrote to talk to MCP servers, which come with a newer Node. */
const CLIENTS = "test/clients/*.test.ts";
/** Other releases of Node and npm. */
const RUNTIMES = "test/runtimes/*.test.ts";

const shared = {
  pool: "forks",
  // Tests make much that is soon garbage.
  execArgv: ["--max-semi-space-size=64"],
  // Nothing in these files outlives them but a browser, so that those of one process load the product once.
  isolate: false,
  testTimeout: 120_000,
  hookTimeout: 300_000,
  // A busy machine takes its time to show what a click did.
  expect: { poll: { timeout: 10_000 } },
} as const;

/** What takes long; run by `npm run test:slow` and by continuous integration. */
export default defineConfig({
  test: {
    // Much time goes into waiting for disks and other processes, so more run than there are cores.
    maxWorkers: 4,
    globalSetup: ["test/support/has-driver.ts", "test/support/built-program.ts"],
    projects: [
      {
        test: {
          ...shared,
          name: "slow",
          globalSetup: ["test/support/pds-server.ts"],
          include: isTorture
            ? [FAULTS]
            : ["test/**/*.slow.test.ts", ...(hasBrowser ? ["test/**/*.browser-test.ts"] : [])],
          exclude: [...configDefaults.exclude, CLIENTS, RUNTIMES],
        },
      },
      {
        test: {
          ...shared,
          name: "clients",
          maxConcurrency: 3,
          globalSetup: ["test/support/clients-workspace.ts"],
          include: [CLIENTS],
        },
      },
      {
        test: {
          ...shared,
          name: "runtimes",
          globalSetup: ["test/support/runtimes-workspace.ts"],
          include: [RUNTIMES],
          testTimeout: 600_000,
        },
      },
    ],
  },
});

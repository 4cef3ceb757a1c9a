import { existsSync } from "node:fs";
import { configDefaults, defineConfig } from "vitest/config";

/** Pages are looked at in a real browser, which not every machine has; continuous integration installs one. */
const hasBrowser = existsSync(process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium");

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", ...(hasBrowser ? ["test/**/*.browser-test.ts"] : [])],
    exclude: [...configDefaults.exclude, "test/runtimes/**"],
    pool: "forks",
    // Most of the time goes into waiting for disks and other processes, so more run than there are cores.
    maxWorkers: 3,
    globalSetup: ["test/support/pds-workspace.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});

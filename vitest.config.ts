import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    pool: "forks",
    // Most of the time goes into waiting for disks and other processes, so more run than there are cores.
    maxWorkers: 3,
    globalSetup: ["test/support/pds-workspace.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});

import { existsSync } from "node:fs";
import { configDefaults, defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/longest-first.ts";

/** Pages are looked at in a real browser, which not every machine has; continuous integration installs one. */
export const hasBrowser = existsSync(process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium");

/** What takes long; run by `npm run test:slow` and by continuous integration. */
export const SLOW = [
  "test/container-build.test.ts",
  "test/contract/fuzz.test.ts",
  "test/faults/bluesky-kill.test.ts",
  "test/faults/file-races.test.ts",
  "test/faults/first-start.test.ts",
  "test/faults/fuzz-media.test.ts",
  "test/faults/guilty-post.test.ts",
  "test/faults/kill.test.ts",
  "test/faults/many-grants.test.ts",
  "test/faults/many-processes.test.ts",
  "test/faults/renewal-race.test.ts",
  "test/faults/restored-copy.test.ts",
  "test/faults/small-disk.test.ts",
  "test/faults/soak.test.ts",
  "test/faults/tiktok-film.test.ts",
  "test/faults/tus-kill.test.ts",
  "test/faults/two-processes.test.ts",
  "test/faults/unread-program.test.ts",
  "test/faults/upkeep-kill.test.ts",
  "test/faults/upload-kill.test.ts",
  "test/faults/webhook-kill.test.ts",
  "test/faults/youtube-kill.test.ts",
  "test/mcp/transports/memory.test.ts",
  "test/models/wire.test.ts",
  "test/oidc/oauth.test.ts",
  "test/platforms/bluesky/faults.test.ts",
  "test/platforms/answers.test.ts",
  "test/platforms/needed-keys.test.ts",
  "test/platforms/hostile-answers.test.ts",
  "test/regular-expressions.test.ts",
  "test/security/hostile-media.test.ts",
];

export const shared = {
  exclude: [...configDefaults.exclude, "test/clients/**", "test/postgres/**", "test/runtimes/**"],
  pool: "forks",
  // Most of the time goes into waiting for disks and other processes, so more run than there are cores.
  maxWorkers: 3,
  globalSetup: ["test/support/pds-workspace.ts"],
  testTimeout: 30_000,
  hookTimeout: 60_000,
} as const;

export default defineConfig({
  test: {
    ...shared,
    exclude: [...shared.exclude],
    globalSetup: [...shared.globalSetup, "test/support/built-program.ts"],
    sequence: { sequencer: LongestFirst },
    include: [...SLOW, ...(hasBrowser ? ["test/**/*.browser-test.ts"] : [])],
  },
});

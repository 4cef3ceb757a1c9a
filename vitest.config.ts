import { configDefaults, defineConfig } from "vitest/config";

const SLOW = "test/**/*.slow.test.ts";
const NEEDS_POSTGRES = "test/postgres/**";
/** They start and kill processes, or build the whole program: each file has a process of its own. */
const APART = ["test/*.test.ts", "test/faults/**/*.test.ts"];

const shared = {
  pool: "forks",
  testTimeout: 30_000,
  hookTimeout: 60_000,
} as const;

/** The unit run, `npm test`. What takes long is named `*.slow.test.ts` and belongs to `npm run test:slow`. */
export default defineConfig({
  test: {
    // Much time goes into waiting for disks and other processes, so more run than there are cores.
    maxWorkers: 3,
    globalSetup: ["test/support/pds-workspace.ts", "test/support/built-program.ts"],
    projects: [
      {
        test: {
          ...shared,
          name: "together",
          include: ["test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, SLOW, NEEDS_POSTGRES, ...APART],
          // Nothing in these files outlives them, so that those of one process load the product once.
          isolate: false,
        },
      },
      {
        test: { ...shared, name: "apart", include: APART, exclude: [...configDefaults.exclude, SLOW] },
      },
    ],
  },
});

import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/longest-first.ts";
import { shared, SLOW } from "./vitest.slow.config.ts";

/** Nothing in these files outlives them, so that those of one process load the product once. */
const TOGETHER = [
  "contract",
  "http",
  "mcp",
  "platforms",
  "security",
  "services",
  "store",
  "toolkit",
  "tools",
];

/** They set the clock, which ids never go behind. */
const CLOCK_SETTING = ["test/platforms/webhook/webhook.test.ts", "test/services/webhooks/webhooks.test.ts"];

const parts = { ...shared, globalSetup: [...shared.globalSetup] };

export default defineConfig({
  test: {
    maxWorkers: shared.maxWorkers,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...parts,
          name: "together",
          include: TOGETHER.map((folder) => `test/${folder}/**/*.test.ts`),
          exclude: [...shared.exclude, ...SLOW, ...CLOCK_SETTING],
          isolate: false,
        },
      },
      {
        test: {
          ...parts,
          name: "alone",
          include: ["test/*.test.ts", `test/!(${TOGETHER.join("|")})/**/*.test.ts`, ...CLOCK_SETTING],
          exclude: [...shared.exclude, ...SLOW],
        },
      },
    ],
  },
});

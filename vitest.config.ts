import { defineConfig } from "vitest/config";
import { shared, SLOW } from "./vitest.slow.config.ts";

export default defineConfig({
  test: {
    ...shared,
    globalSetup: [...shared.globalSetup],
    include: ["test/**/*.test.ts"],
    exclude: [...shared.exclude, ...SLOW],
  },
});

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { plainEnvironment } from "./workspace.ts";

/**
 * Of somebody with an empty home. What this machine's npm needs to fetch and build packages stands in the
 * settings of whoever runs the tests.
 */
export function strangerEnvironment(home: string): Record<string, string> {
  const nodedir = npmSetting("nodedir");
  // What npx installs stays in this home; only packages as they were fetched are taken from outside.
  const fetched = join(home, ".npm", "_cacache");
  if (!existsSync(fetched)) {
    mkdirSync(join(home, ".npm"), { recursive: true });
    symlinkSync(join(homedir(), ".npm", "_cacache"), fetched);
  }
  return {
    ...plainEnvironment(),
    HOME: home,
    npm_config_prefer_offline: "true",
    ...(nodedir !== "undefined" && nodedir !== "" && { npm_config_nodedir: nodedir }),
  };
}

function npmSetting(name: string): string {
  return execFileSync("npm", ["config", "get", name], { encoding: "utf8" }).trim();
}

import { existsSync } from "node:fs";
import { homedir, platform } from "node:os";
import { join } from "node:path";
import type { ProgramPlace } from "../cli/host.ts";
import { locateDataFolder, PROGRAM_ROOT, type Environment } from "../app/data-folder.ts";
import { AppError } from "../domain/errors.ts";

/** How others start this installation. Throws `unavailable` where it will not stay, or was not built. */
export function locateProgram(env: Environment, execPath: string): ProgramPlace {
  const script = join(PROGRAM_ROOT, "dist", "posthorn.js");
  if (/[\\/]_npx[\\/]/.test(script)) {
    throw new AppError(
      "unavailable",
      "npx runs Posthorn from a cache, which may be emptied at any time. Install it with npm install --global posthorn, then run this again.",
    );
  }
  if (!existsSync(script)) {
    throw new AppError("unavailable", `There is no ${script} yet. Run npm ci in that folder first.`);
  }
  // Without them, whoever starts it finds the same folder.
  const isMoved = [env["POSTHORN_DATA_DIR"], env["XDG_DATA_HOME"]].some((value) => (value ?? "") !== "");
  return { node: findLastingNode(execPath), script, dataFolder: isMoved ? locateDataFolder(env) : null };
}

/** The person's home folder, by the variables that Node reads. */
export function homeOf(env: Environment): string {
  return env[platform() === "win32" ? "USERPROFILE" : "HOME"] || homedir();
}

/** Homebrew's link to the Node of a formula, which stays when another release takes the place of this one. */
export function findLastingNode(node: string): string {
  const link = node.replace(/\/Cellar\/([^/]+)\/[^/]+\//, "/opt/$1/");
  return existsSync(link) ? link : node;
}

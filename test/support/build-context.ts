import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..");

/** What of this repository is sent to who builds the image: the file leaves out everything, and names what goes. */
export function readBuildContext(): string[] {
  const lines = readFileSync(join(ROOT, ".dockerignore"), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  if (lines[0] !== "*" || lines.at(-1) !== "**/node_modules") throw new Error("It is read in another way.");
  return lines.slice(1, -1).map((line) => line.replace(/^!/, ""));
}

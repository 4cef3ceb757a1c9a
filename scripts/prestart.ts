import { readdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** What the program is made of. */
const SOURCES = ["src", "tools", "apps", "scripts", "package.json", "package-lock.json"];

function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function newest(path: string): number {
  const isFolder = statSync(path).isDirectory();
  const below = isFolder ? readdirSync(path, { recursive: true, encoding: "utf8" }) : [];
  return Math.max(changedAt(path), ...below.map((name) => changedAt(`${path}/${name}`)));
}

/* `npm ci` has built it, so a start builds only what was changed since. */
const builtAt = changedAt(`${ROOT}dist/posthorn.js`);
if (SOURCES.some((path) => newest(ROOT + path) > builtAt)) await import("./build.ts");

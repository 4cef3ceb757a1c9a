import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const GRAPHILE_WORKER = "graphile-worker@0.17.3";

/** The queue on PostgreSQL that others use: the manifest of a folder that has it. */
export function installGraphile(): string {
  const folder = join(import.meta.dirname, "..", "..", "node_modules", ".cache", "posthorn-graphile-worker");
  const manifest = join(folder, "package.json");
  if (existsSync(join(folder, "node_modules", "graphile-worker"))) return manifest;
  mkdirSync(folder, { recursive: true });
  writeFileSync(manifest, "{}");
  execFileSync("npm", ["install", "--no-package-lock", GRAPHILE_WORKER], { cwd: folder, stdio: "ignore" });
  return manifest;
}

export function graphileCommand(manifest: string): string {
  return join(manifest, "..", "node_modules", ".bin", "graphile-worker");
}

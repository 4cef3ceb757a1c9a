import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

/**
 * How late posts go out that are all due at one moment, with a platform that does nothing and every step durable
 * (synchronous = FULL). Runs as a bundle: tsx keeps the name of every function, which the posts pay for.
 *
 *   npx tsx bench/publish.ts [posts]
 */
const root = join(import.meta.dirname, "..");
// Below `node_modules`, where it finds the libraries.
const outfile = join(root, "node_modules", ".cache", `posthorn-bench-publish-${process.pid}.mjs`);
const entryPoints = [join(root, "bench", "support", "publish-run.ts")];
try {
  await build({
    entryPoints,
    outfile,
    bundle: true,
    minify: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20.19",
  });
  const run = spawn(process.execPath, [outfile, ...process.argv.slice(2)], { stdio: "inherit" });
  [process.exitCode] = (await once(run, "exit")) as [number];
} finally {
  await rm(outfile, { force: true });
}

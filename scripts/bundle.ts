import { readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { zipSync } from "fflate";
import { loadCatalog } from "../src/app/catalog.ts";
import { BUNDLE_ENTRY, bundleManifest } from "./packages.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Equal contents make an equal file. */
const OPTIONS = { level: 9, mtime: new Date(1980, 0, 1) } as const;

/** Writes the built program as an MCP bundle: `npm run bundle [FILE [FOLDER]]`. */
const [file = join(ROOT, "posthorn.mcpb"), program = join(ROOT, "dist")] = process.argv.slice(2);
const { tools } = await loadCatalog();
const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const contents: Record<string, Uint8Array> = {
  "manifest.json": text(`${JSON.stringify(bundleManifest(tools), null, 2)}\n`),
  "server/index.mjs": text(BUNDLE_ENTRY),
};
for (const path of ["package.json", "LICENSE", "README.md"])
  contents[path] = await readFile(join(ROOT, path));
const built = await readdir(program, { recursive: true, withFileTypes: true });
// Maps are half of it, and nobody reads them there.
for (const entry of built.filter((one) => one.isFile() && !one.name.endsWith(".map"))) {
  const path = join(entry.parentPath, entry.name);
  contents[`dist/${relative(program, path).replaceAll("\\", "/")}`] = await readFile(path);
}
await writeFile(file, zipSync(contents, OPTIONS));

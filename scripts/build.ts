import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { VERSION } from "../src/app/version.ts";
import { readSwaggerUi } from "../src/http/openapi/swagger-ui.ts";
import { readCalendarHtml } from "../src/mcp/resources/calendar-html.ts";
import { leanLibraries } from "./lean-libraries.ts";
import { LICENSES, writeLicenses } from "./licenses.ts";
import { staticCatalog } from "./static-catalog.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Native code, and what only some need; npm installs these beside the bundle. */
const EXTERNAL = ["better-sqlite3", "pg", "sharp"];

/**
 * Libraries in CommonJS ask for Node's own modules with `require`, which a module of the language does not
 * have.
 */
const REQUIRE =
  'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);';

const ENTRY = "posthorn.js";

/** Puts the finished page, and the version alone, in the place of the modules that make or look it up. */
const finishedModules: Plugin = {
  name: "finished-modules",
  setup(builder) {
    builder.onLoad({ filter: /[\\/]src[\\/]app[\\/]version\.ts$/ }, () => ({
      contents: `export const VERSION = ${JSON.stringify(VERSION)};`,
      loader: "ts",
    }));
    builder.onLoad({ filter: /[\\/]src[\\/]http[\\/]openapi[\\/]swagger-ui\.ts$/ }, async () => ({
      contents: `export async function readSwaggerUi() { return ${JSON.stringify(await readSwaggerUi())}; }`,
      loader: "js",
    }));
    builder.onLoad({ filter: /[\\/]src[\\/]mcp[\\/]resources[\\/]calendar-html\.ts$/ }, async () => ({
      contents: `export async function readCalendarHtml() { return ${JSON.stringify(await readCalendarHtml())}; }`,
      loader: "js",
    }));
  },
};

const [folder = `${ROOT}dist`] = process.argv.slice(2);
const { outputFiles, metafile } = await build({
  absWorkingDir: ROOT,
  entryPoints: { posthorn: "src/main.ts" },
  outdir: folder,
  chunkNames: "chunks/[name]-[hash]",
  bundle: true,
  splitting: true,
  write: false,
  platform: "node",
  format: "esm",
  target: "node20.19",
  external: EXTERNAL,
  // Its main file is UMD, whose parts no bundler finds.
  alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" },
  plugins: [staticCatalog, finishedModules, leanLibraries],
  banner: { js: REQUIRE },
  minify: true,
  // Lines a person can look at. The maps stay behind when this is packed; `scripts/read-stack.ts` reads them.
  lineLimit: 4_000,
  sourcemap: "external",
  sourcesContent: false,
  metafile: true,
  logLevel: "warning",
});

/** Whole or not at all: a program that is running may read the file in this moment. */
async function replace(path: string, contents: Uint8Array, mode: number): Promise<void> {
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, contents, { mode });
  await rename(draft, path);
}

// A chunk is named after what it holds: those of the last build stay as they are until the new program is
// complete.
const chunksFolder = `${folder}/chunks`;
const chunks = outputFiles.filter(({ path }) => basename(path) !== ENTRY);
const names = new Set(chunks.map(({ path }) => basename(path)));
await mkdir(chunksFolder, { recursive: true });
for (const { path, contents } of chunks) await replace(path, contents, 0o644);
await replace(`${folder}/${LICENSES}`, new TextEncoder().encode(await writeLicenses(ROOT, metafile)), 0o644);
for (const { path, contents } of outputFiles)
  if (basename(path) === ENTRY) await replace(path, contents, 0o755);
for (const name of await readdir(chunksFolder))
  if (!names.has(name)) await rm(`${chunksFolder}/${name}`, { force: true });

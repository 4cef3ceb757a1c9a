import { chmod } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { readCalendarHtml } from "../src/mcp/apps/calendar-html.ts";
import { lazyBuiltins } from "./lazy-builtins.ts";
import { mergedLibraries, smallLibraries } from "./lean-libraries.ts";
import { staticCatalog } from "./static-catalog.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Native code and what belongs to it; npm installs these beside the bundle. */
const EXTERNAL = ["better-sqlite3", "sharp"];

const TARGET = "node20.19";

/** CommonJS packages inside an ES module still call `require` for Node's own modules. */
const BANNER =
  'import { createRequire as createBundleRequire } from "node:module"; globalThis.require ??= createBundleRequire(import.meta.url);';

/** Puts the finished page in the place of the module that makes it. */
const finishedCalendar: Plugin = {
  name: "finished-calendar",
  setup(builder) {
    builder.onLoad({ filter: /[\\/]src[\\/]mcp[\\/]apps[\\/]calendar-html\.ts$/ }, async () => ({
      contents: `export async function readCalendarHtml() { return ${JSON.stringify(await readCalendarHtml())}; }`,
      loader: "js",
    }));
  },
};

const [folder = `${ROOT}/dist`] = process.argv.slice(2);
const outfile = `${folder}/posthorn.js`;
await build({
  entryPoints: [`${ROOT}/src/main.ts`],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  target: TARGET,
  external: EXTERNAL,
  plugins: [staticCatalog, finishedCalendar, lazyBuiltins, mergedLibraries(TARGET), smallLibraries(TARGET)],
  banner: { js: BANNER },
  // Names stay and lines stay short: stacks in the log must lead somewhere. Comments and indentation cost time at every start.
  minifyWhitespace: true,
  lineLimit: 140,
  legalComments: "external",
  logLevel: "warning",
});
await chmod(outfile, 0o755);

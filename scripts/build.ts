import { chmod, readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { readCalendarHtml } from "../src/mcp/apps/calendar-html.ts";
import { lazyBuiltins } from "./lazy-builtins.ts";
import { mergedLibraries, smallLibraries } from "./lean-libraries.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Native code and what belongs to it; npm installs these beside the bundle. */
const EXTERNAL = ["better-sqlite3", "sharp"];

const TARGET = "node20.19";

/** Folders whose files are found at run time in a checkout; in the bundle they are imported by name. */
const FOLDERS = { tools: "tools", platforms: "src/platforms" } as const;

/** CommonJS packages inside an ES module still call `require` for Node's own modules. */
const BANNER =
  'import { createRequire as createBundleRequire } from "node:module"; globalThis.require ??= createBundleRequire(import.meta.url);';

/** Puts static imports in the place of `src/catalog.ts`, which looks into folders. */
const staticCatalog: Plugin = {
  name: "static-catalog",
  setup(builder) {
    builder.onLoad({ filter: /[\\/]src[\\/]catalog\.ts$/ }, async () => ({
      contents: await writeCatalog(),
      loader: "ts",
      resolveDir: ROOT,
    }));
  },
};

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

async function writeCatalog(): Promise<string> {
  const lists = await Promise.all(
    Object.entries(FOLDERS).map(async ([list, folder]) => ({ list, folder, names: await listModules(`${ROOT}/${folder}`) })),
  );
  const imports = lists.flatMap(({ list, folder, names }) => names.map((name) => `import ${list}_${name} from "./${folder}/${name}.ts";`));
  const entries = lists.map(({ list, names }) => `${list}: [${names.map((name) => `${list}_${name}`).join(", ")}]`);
  return `${imports.join("\n")}\nexport async function loadCatalog() { return { ${entries.join(", ")} }; }\n`;
}

async function listModules(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => entry.name.replace(/\.ts$/, ""))
    .sort();
}

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

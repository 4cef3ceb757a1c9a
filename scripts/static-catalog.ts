import { fileURLToPath } from "node:url";
import type { Plugin } from "esbuild";
import { listPlatformSettings, loadCatalog } from "../src/app/catalog.ts";
import { describeTools } from "../src/toolkit/toolbox.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

const MODULES = "catalog-modules";

/**
 * Puts what `src/app/catalog.ts` finds in folders in its place: imports by name, in a module that is loaded
 * when it is asked for, and the finished list of tools, whose JSON Schema would take a good part of a start
 * to write.
 */
export const staticCatalog: Plugin = {
  name: "static-catalog",
  setup(builder) {
    builder.onResolve({ filter: new RegExp(`^${MODULES}$`) }, ({ path }) => ({ path, namespace: MODULES }));
    builder.onLoad({ filter: /.*/, namespace: MODULES }, async () => ({
      contents: await writeModules(),
      loader: "ts",
      resolveDir: ROOT,
    }));
    builder.onLoad({ filter: /[\\/]src[\\/]app[\\/]catalog\.ts$/ }, async () => ({
      contents: await writeCatalog(),
      loader: "ts",
      resolveDir: ROOT,
    }));
  },
};

async function writeCatalog(): Promise<string> {
  const { tools } = await loadCatalog();
  // Text of JSON is parsed faster than an object of the language.
  const listings = JSON.stringify(JSON.stringify(describeTools(tools, {})));
  const settings = JSON.stringify(JSON.stringify(await listPlatformSettings()));
  return `
    export const loadCatalog = () => import("${MODULES}");
    export async function listPlatformSettings() { return JSON.parse(${settings}); }
    export async function readListings() { return JSON.parse(${listings}); }`;
}

async function writeModules(): Promise<string> {
  const { tools, platforms } = await loadCatalog();
  const lists = {
    tools: tools.map(({ name }) => `tools/${name}`),
    platforms: platforms.map(({ name }) => `src/platforms/${name}/index`),
  };
  return Object.entries(lists)
    .map(([list, paths]) => {
      const imports = paths.map((path, index) => `import ${list}${index} from "./${path}.ts";`);
      return `${imports.join("\n")}\nexport const ${list} = [${paths.map((_, index) => `${list}${index}`).join()}];`;
    })
    .join("\n");
}

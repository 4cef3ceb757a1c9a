import { fileURLToPath } from "node:url";
import type { Plugin } from "esbuild";
import { listPlatformNames, loadCatalog } from "../src/catalog.ts";
import { describeTools } from "../src/toolkit/toolbox.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/**
 * Puts what `src/catalog.ts` finds in folders in its place: imports by name, which are evaluated when they are asked for, and the
 * finished list of tools, whose JSON Schema would take a good part of a start to write.
 */
export const staticCatalog: Plugin = {
  name: "static-catalog",
  setup(builder) {
    builder.onLoad({ filter: /[\\/]src[\\/]catalog\.ts$/ }, async () => ({
      contents: await writeCatalog(),
      loader: "ts",
      resolveDir: ROOT,
    }));
  },
};

async function writeCatalog(): Promise<string> {
  const { tools } = await loadCatalog();
  const platforms = await listPlatformNames();
  const toolImports = tools.map(({ name }) => importOf(`tools/${name}`));
  const platformImports = platforms.map((name) => importOf(`src/platforms/${name}`));
  // Text of JSON is parsed faster than an object of the language.
  const listings = JSON.stringify(JSON.stringify(describeTools(tools, {})));
  return `
    const load = (modules) => Promise.all(modules.map(async (module) => (await module).default));
    export async function loadCatalog() {
      const [tools, platforms] = await Promise.all([load([${toolImports.join()}]), load([${platformImports.join()}])]);
      return { tools, platforms };
    }
    export async function listPlatformNames() { return ${JSON.stringify(platforms)}; }
    export async function readListings() { return JSON.parse(${listings}); }`;
}

function importOf(path: string): string {
  return `import("./${path}.ts")`;
}

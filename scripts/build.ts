import { chmod, mkdir, mkdtemp, readdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { PLATFORMS, TOOLS } from "../src/app/setup.ts";
import { readPageFiles } from "../src/http/page/page-files.ts";
import { readSwaggerUi } from "../src/http/openapi/swagger-ui.ts";
import { APPS, readAppHtml } from "../src/mcp/resources/app-html.ts";
import { readSkillText } from "../src/mcp/resources/skill-text.ts";
import { listModules } from "../src/toolkit/load-folder.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** The folder of the page's files in a build, which has no folders in it. */
const PAGE = "page";
const pageFiles = readPageFiles();

/** Puts what was read in the place of the modules that read it with packages for development. */
const finishedPages: Plugin = {
  name: "finished-pages",
  setup(builder) {
    const finish = (name: string, write: () => Promise<string>): void =>
      builder.onLoad({ filter: new RegExp(`[\\\\/]${name}\\.ts$`) }, async () => ({
        contents: await write(),
      }));
    finish("app-html", async () => {
      const pages = await Promise.all(APPS.map(async (app) => [app, await readAppHtml(app)]));
      return `const pages = ${JSON.stringify(Object.fromEntries(pages))};export const readAppHtml = async (app) => pages[app];`;
    });
    finish(
      "skill-text",
      async () => `export const readSkillText = async () => ${JSON.stringify(await readSkillText())};`,
    );
    finish(
      "swagger-ui",
      async () => `export const readSwaggerUi = async () => (${JSON.stringify(await readSwaggerUi())});`,
    );
    // Read when the page is first asked for: as a text in the program it would be in every start's way.
    finish("page-files", async () => {
      const kept = [...(await pageFiles)].flatMap(([name, { isImmutable }]) => (isImmutable ? name : []));
      return `
        import { readdir, readFile } from "node:fs/promises";
        const folder = new URL("../../${PAGE}/", import.meta.url);
        const kept = new Set(${JSON.stringify(kept)});
        const read = async (name) => [name, { bytes: await readFile(new URL(name, folder)), isImmutable: kept.has(name) }];
        export const readPageFiles = async () => new Map(await Promise.all((await readdir(folder)).map(read)));`;
    });
  },
};

/** The only package in the build: it comes as 262 small files, which take Node 0.1 s at each start. */
const bundleKysely: Plugin = {
  name: "bundle-kysely",
  setup(builder) {
    builder.onResolve({ filter: /^kysely$/ }, () => ({ path: fileURLToPath(import.meta.resolve("kysely")) }));
  },
};

/** The files of a folder from which modules are loaded at run time, from the top of the checkout. */
async function modulesIn(folder: URL): Promise<string[]> {
  const names = await listModules(folder);
  return names.map((name) => relative(ROOT, fileURLToPath(new URL(name, folder))).replaceAll("\\", "/"));
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.flatMap((one) => (one.isFile() ? relative(folder, join(one.parentPath, one.name)) : []));
}

const [folder = `${ROOT}dist`] = process.argv.slice(2);
const startedAt = new Date();
// Files are moved into their places when all are written: another build may run in this moment, and a program.
await mkdir(dirname(folder), { recursive: true });
const draft = await mkdtemp(`${folder}.draft-`);
try {
  const modules = [...(await modulesIn(TOOLS)), ...(await modulesIn(PLATFORMS))];
  await build({
    absWorkingDir: ROOT,
    entryPoints: [
      { in: "src/main.ts", out: "posthorn" },
      ...modules.map((file) => ({ in: file, out: file.replace(/\.ts$/, "") })),
    ],
    outdir: draft,
    // As deep as `src/app`, so that folders have the same relative addresses as in the sources.
    chunkNames: "src/chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20.19",
    plugins: [finishedPages, bundleKysely],
    logLevel: "warning",
  });
  await chmod(join(draft, "posthorn.js"), 0o755);
  // What is changed from here on is newer than the program.
  await utimes(join(draft, "posthorn.js"), startedAt, startedAt);
  await mkdir(join(draft, PAGE));
  for (const [name, { bytes }] of await pageFiles) await writeFile(join(draft, PAGE, name), bytes);
  const files = await filesIn(draft);
  // The entry last: until then it is the one of the program before.
  for (const file of files.toSorted(
    (a, b) => Number(a.startsWith("posthorn")) - Number(b.startsWith("posthorn")),
  )) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await rename(join(draft, file), join(folder, file));
  }
  const stale = (await filesIn(folder)).filter((file) => !files.includes(file));
  for (const file of stale) await rm(join(folder, file), { force: true });
} finally {
  await rm(draft, { recursive: true, force: true });
}

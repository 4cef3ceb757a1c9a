import { chmod, mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { readCalendarHtml } from "../src/mcp/resources/calendar-html.ts";
import { mergedLibraries, smallLibraries } from "./lean-libraries.ts";
import { joinParts } from "./one-file.ts";
import { staticCatalog } from "./static-catalog.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Native code and what belongs to it; npm installs these beside the bundle. */
const EXTERNAL = ["better-sqlite3", "sharp"];

const TARGET = "node20.19";

/** The program itself, and what an agent waits for. */
const EAGER = ["src/main.ts", "src/app/start/start-stdio.ts"];

/** Puts the finished page in the place of the module that makes it. */
const finishedCalendar: Plugin = {
  name: "finished-calendar",
  setup(builder) {
    builder.onLoad({ filter: /[\\/]src[\\/]mcp[\\/]resources[\\/]calendar-html\.ts$/ }, async () => ({
      contents: `export async function readCalendarHtml() { return ${JSON.stringify(await readCalendarHtml())}; }`,
      loader: "js",
    }));
  },
};

const [folder = `${ROOT}/dist`] = process.argv.slice(2);
const outfile = `${folder}/posthorn.js`;
const result = await build({
  absWorkingDir: ROOT,
  entryPoints: EAGER.slice(0, 1),
  outdir: folder,
  bundle: true,
  splitting: true,
  write: false,
  metafile: true,
  platform: "node",
  format: "esm",
  target: TARGET,
  external: EXTERNAL,
  plugins: [staticCatalog, finishedCalendar, mergedLibraries(TARGET), smallLibraries(TARGET)],
  legalComments: "external",
  logLevel: "warning",
});
const { code, licenses } = await joinParts(result, { target: TARGET, eager: EAGER });
await mkdir(folder, { recursive: true });
await writeFile(outfile, code);
await writeFile(`${outfile}.LEGAL.txt`, licenses);
await chmod(outfile, 0o755);

import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { format } from "prettier";
import { serverEntry } from "./packages.ts";
import { pluginFiles } from "./plugins.ts";
import { PAGES_WITH_PARTS, renderDocs, renderParts } from "./readme-parts.ts";

const ROOT = new URL("../", import.meta.url);
const DOCS = new URL("../docs/", import.meta.url);
const GUIDES = new URL("platforms/", DOCS);

const markdown = (text: string): Promise<string> => format(text, { parser: "markdown", printWidth: 140 });

for (const page of PAGES_WITH_PARTS) {
  const file = new URL(page, ROOT);
  await writeFile(file, await markdown(await renderParts(await readFile(file, "utf8"))));
}
for (const [path, value] of [["server.json", serverEntry()] as const, ...pluginFiles()]) {
  const file = new URL(path, ROOT);
  await mkdir(new URL(".", file), { recursive: true });
  await writeFile(file, await format(JSON.stringify(value, null, 2), { parser: "json", printWidth: 110 }));
}
const pages = await renderDocs();
await mkdir(GUIDES, { recursive: true });
// Guides of platforms that are gone.
for (const name of await readdir(GUIDES))
  if (!pages.has(`platforms/${name}`)) await rm(new URL(name, GUIDES));
for (const [path, text] of pages) await writeFile(new URL(path, DOCS), await markdown(text));

import { readFile, writeFile } from "node:fs/promises";
import { format } from "prettier";
import { renderReadme } from "./readme-parts.ts";

const FILE = new URL("../README.md", import.meta.url);

const text = await renderReadme(await readFile(FILE, "utf8"));
await writeFile(FILE, await format(text, { parser: "markdown", printWidth: 140 }));

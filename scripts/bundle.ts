import { readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { zipSync } from "fflate";
import * as z from "zod";
import { loadCatalog } from "../src/app/setup.ts";
import { BUNDLE_ENTRY, bundleManifest } from "./packages.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Equal contents make an equal file. */
const OPTIONS = { level: 9, mtime: new Date(1980, 0, 1) } as const;

const Lock = z.object({ packages: z.record(z.string(), z.record(z.string(), z.unknown())) });

/** The folders of the packages that every user needs: none for development, and none with native code. */
async function listPackages(): Promise<string[]> {
  const { packages } = Lock.parse(JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8")));
  return Object.entries(packages).flatMap(([folder, entry]) => {
    const isLeftOut = ["dev", "optional", "devOptional", "peer"].some((mark) => entry[mark] === true);
    return folder === "" || isLeftOut ? [] : folder;
  });
}

const contents: Record<string, Uint8Array> = {};

/** Takes a folder's files; those of packages inside of it come by themselves. */
async function add(folder: string, as: string, isTaken: RegExp): Promise<void> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of found) {
    const path = relative(folder, join(entry.parentPath, entry.name)).replaceAll("\\", "/");
    if (entry.isFile() && isTaken.test(path)) contents[`${as}/${path}`] = await readFile(join(folder, path));
  }
}

/** Writes the built program with its packages as an MCP bundle: `npm run bundle [FILE [FOLDER]]`. */
const [file = join(ROOT, "posthorn.mcpb"), program = join(ROOT, "dist")] = process.argv.slice(2);
const { tools } = await loadCatalog();
const text = (value: string): Uint8Array => new TextEncoder().encode(value);
contents["manifest.json"] = text(`${JSON.stringify(bundleManifest(tools), null, 2)}\n`);
contents["server/index.mjs"] = text(BUNDLE_ENTRY);
for (const path of ["package.json", "LICENSE", "README.md"])
  contents[path] = await readFile(join(ROOT, path));
await add(program, "dist", /./);
// Their types and maps are half of them, and a program reads none.
for (const folder of await listPackages())
  await add(join(ROOT, folder), folder, /^(?!node_modules\/)(?!.*\.([cm]?ts|map)$)/);
await writeFile(file, zipSync(contents, OPTIONS));

import { readdir } from "node:fs/promises";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Imports the default export of each `.ts` file of a folder, and of the `index.ts` of each folder in it, so
 * that adding one is adding a file or a folder. One whose object has another name is refused. The bundle gets
 * the same lists at build (`scripts/static-catalog.ts`).
 */
export async function loadFolder<T extends { readonly name: string }>(folder: URL): Promise<T[]> {
  const entries = await readdir(fileURLToPath(folder), { withFileTypes: true });
  const paths = entries.flatMap((entry) => {
    if (entry.isFile()) return entry.name.endsWith(".ts") ? [entry.name] : [];
    const index = `${entry.name}/index.ts`;
    return existsSync(new URL(index, folder)) ? [index] : [];
  });
  return Promise.all(paths.sort().map((path) => loadOne<T>(folder, path)));
}

async function loadOne<T extends { readonly name: string }>(folder: URL, path: string): Promise<T> {
  const module: { default?: T } = await import(new URL(path, folder).href);
  const object = module.default;
  const wanted = path.replace(/(?:\/index)?\.ts$/, "");
  if (object === undefined || object.name !== wanted) {
    throw new Error(`${path} must export, as its default, an object named "${wanted}".`);
  }
  return object;
}

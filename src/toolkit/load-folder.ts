import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/**
 * Imports the default export of each `.ts` file of a folder, so that adding one is adding a file.
 * A file whose object has another name is refused. The one-file bundle gets the same lists at build (`scripts/build.ts`).
 */
export async function loadFolder<T extends { readonly name: string }>(folder: URL): Promise<T[]> {
  const entries = await readdir(fileURLToPath(folder), { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith(".ts")).map((entry) => entry.name);
  return Promise.all(files.sort().map((file) => loadOne<T>(folder, file)));
}

async function loadOne<T extends { readonly name: string }>(folder: URL, file: string): Promise<T> {
  const module: { default?: T } = await import(new URL(file, folder).href);
  const object = module.default;
  const wanted = file.replace(/\.ts$/, "");
  if (object === undefined || object.name !== wanted) {
    throw new Error(`${file} must export, as its default, an object named "${wanted}".`);
  }
  return object;
}

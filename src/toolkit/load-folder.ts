import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/**
 * Imports the default export of each `.ts` file of a folder, so that adding one is adding a file. A file
 * whose object has another name is refused. The bundle gets the same lists at build
 * (`scripts/static-catalog.ts`).
 */
export async function loadFolder<T extends { readonly name: string }>(folder: URL): Promise<T[]> {
  const names = await listModules(folder);
  return Promise.all(names.map((name) => loadOne<T>(folder, name)));
}

/** The names of a folder's `.ts` files, in order, without their ending. */
export async function listModules(folder: URL): Promise<string[]> {
  const entries = await readdir(fileURLToPath(folder), { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith(".ts"));
  return files.map(({ name }) => name.replace(/\.ts$/, "")).sort();
}

async function loadOne<T extends { readonly name: string }>(folder: URL, wanted: string): Promise<T> {
  const module: { default?: T } = await import(new URL(`${wanted}.ts`, folder).href);
  const object = module.default;
  if (object === undefined || object.name !== wanted) {
    throw new Error(`${wanted}.ts must export, as its default, an object named "${wanted}".`);
  }
  return object;
}

import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

/** `.ts` in a checkout, `.js` in a build, which has the same folders. */
const ENDING = extname(import.meta.url);

/** Imports the default exports of a folder's files, and of the `index` of each folder in it. */
export async function loadFolder<T extends { readonly name: string }>(folder: URL): Promise<T[]> {
  const paths = await listModules(folder);
  return Promise.all(paths.map((path) => loadOne<T>(folder, path)));
}

/** The paths of a folder's modules, in order. */
export async function listModules(folder: URL): Promise<string[]> {
  const entries = await readdir(fileURLToPath(folder), { withFileTypes: true });
  const paths = entries.flatMap((entry) => {
    if (entry.isFile()) return entry.name.endsWith(ENDING) ? [entry.name] : [];
    const index = `${entry.name}/index${ENDING}`;
    return existsSync(new URL(index, folder)) ? [index] : [];
  });
  return paths.sort();
}

async function loadOne<T extends { readonly name: string }>(folder: URL, path: string): Promise<T> {
  const module: { default?: T } = await import(new URL(path, folder).href);
  const object = module.default;
  const wanted = path.replace(/(?:\/index)?\.[jt]s$/, "");
  if (object === undefined || object.name !== wanted) {
    throw new Error(`${path} must export, as its default, an object named "${wanted}".`);
  }
  return object;
}

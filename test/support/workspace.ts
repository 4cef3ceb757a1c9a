import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * Installs a workspace of its own below `test/` when it is missing or its lockfile changed; costs nothing
 * otherwise.
 */
export async function installWorkspace(name: string): Promise<string> {
  const folder = fileURLToPath(new URL(`../${name}/`, import.meta.url));
  const marker = `${folder}node_modules/.installed`;
  const wanted = createHash("sha256")
    .update(await readFile(`${folder}package-lock.json`))
    .digest("hex");
  if ((await readFile(marker, "utf8").catch(() => "")) === wanted) return folder;
  await run("npm", ["ci"], { cwd: folder, env: plainEnvironment() });
  await writeFile(marker, wanted);
  return folder;
}

/**
 * Without npm's own settings of the run that started us (npm_config_*), which would be taken for the other
 * npm's.
 */
export function plainEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^npm_(?!config_(registry|nodedir))|^POSTHORN_|^DEBUG$/i.test(name),
  );
  return Object.fromEntries(entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

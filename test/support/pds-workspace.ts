import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const folder = fileURLToPath(new URL("../pds/", import.meta.url));
const marker = `${folder}node_modules/.installed`;

/**
 * Installs the Bluesky server's own workspace when it is missing or its lockfile changed; costs nothing otherwise. Without a
 * registry within reach, the tests that need it say so, and the others run.
 */
export async function setup(): Promise<void> {
  try {
    await install();
  } catch (error) {
    process.stderr.write(`The workspace test/pds could not be installed: ${String(error)}\n`);
  }
}

async function install(): Promise<void> {
  const wanted = createHash("sha256")
    .update(await readFile(`${folder}package-lock.json`))
    .digest("hex");
  if ((await readFile(marker, "utf8").catch(() => "")) === wanted) return;
  // npm's own settings of the run that started us (npm_config_*) would be taken for this workspace's.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_(?!config_(registry|cache|nodedir))/i.test(name)));
  await promisify(execFile)("npm", ["ci"], { cwd: folder, env });
  // The root's compiled copy of the same version is found in its place: it is built once.
  await rm(`${folder}node_modules/better-sqlite3`, { recursive: true, force: true });
  await writeFile(marker, wanted);
}

import { rm } from "node:fs/promises";
import { installWorkspace } from "./workspace.ts";

/**
 * Installs the Bluesky server's own workspace. Without a registry within reach, the tests that need it say
 * so, and the others run.
 */
export async function setup(): Promise<void> {
  try {
    const folder = await installWorkspace("pds");
    // The root's compiled copy of the same version is found in its place: it is built once.
    await rm(`${folder}node_modules/better-sqlite3`, { recursive: true, force: true });
  } catch (error) {
    process.stderr.write(`The workspace test/pds could not be installed: ${String(error)}\n`);
  }
}

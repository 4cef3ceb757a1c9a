import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A disk of so many megabytes; null where this process may not mount one. */
export async function mountSmallDisk(path: string, megabytes: number): Promise<AsyncDisposable | null> {
  try {
    await run("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", path]);
  } catch {
    return null;
  }
  return { [Symbol.asyncDispose]: async () => void (await run("umount", ["-l", path])) };
}

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createWorkerLocks } from "../../../src/store/local/locks.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const HOLDER = fileURLToPath(new URL("lock-holder.ts", import.meta.url));

/** Another process that holds the lock of `wrk_other` until it ends. */
async function startHolder(folder: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ["--expose-gc", "--import", "tsx", HOLDER, folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return child;
}

describe("worker locks", () => {
  it("tell a living process from a dead one, a stopped one counting as alive", async () => {
    using folder = temporaryFolder();
    const locks = createWorkerLocks(folder.path);
    const holder = await startHolder(folder.path);
    expect(locks.isAlive("wrk_other")).toBe(true);
    holder.kill("SIGSTOP");
    expect(locks.isAlive("wrk_other")).toBe(true);
    holder.kill("SIGKILL");
    await once(holder, "close");
    expect(locks.isAlive("wrk_other")).toBe(false);
    expect(existsSync(join(folder.path, "wrk_other.lock"))).toBe(false);
  });

  it("hold within one process, until released", () => {
    using folder = temporaryFolder();
    const locks = createWorkerLocks(folder.path);
    const lock = locks.hold("wrk_one");
    expect(locks.isAlive("wrk_one")).toBe(true);
    lock.release();
    expect(locks.isAlive("wrk_one")).toBe(false);
    expect(locks.isAlive("wrk_never")).toBe(false);
  });
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createWorkerLocks } from "../../src/store/worker-lock.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Another process that holds the lock of `wrk_other` until it ends. */
async function startHolder(folder: string): Promise<import("node:child_process").ChildProcess> {
  const file = JSON.stringify(join(folder, "wrk_other.lock"));
  const script = `const db = new (require("better-sqlite3"))(${file}); db.exec("BEGIN EXCLUSIVE"); console.log("held"); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
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

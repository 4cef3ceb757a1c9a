import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, inject, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";

const PROGRAM = inject("program");
const made = temporaryFolder();
const BLOCKER = join(made.path, "blocker.cjs");

/** Asked to end, the loop turns a last time and never again; as with a log that nobody reads. */
const BLOCK = `
  if (require("node:worker_threads").isMainThread)
    process.on("SIGTERM", () => setImmediate(() => { for (;;); }));`;

writeFileSync(BLOCKER, BLOCK);

afterAll(() => made[Symbol.dispose]());

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "list_accounts", arguments: {} },
};

describe("a process whose loop stands still when it is asked to end", { timeout: 90_000 }, () => {
  it.concurrent.each(["serve", "stdio"])("is ended by its watchdog: %s", async (command) => {
    using folder = temporaryFolder();
    const child = spawn(process.execPath, ["--require", BLOCKER, PROGRAM, command], {
      env: { PATH: process.env["PATH"], ...folder.env, POSTHORN_PORT: "0", POSTHORN_LOG_LEVEL: "warn" },
      stdio: ["pipe", "pipe", "pipe"],
    });
    const stderr = text(child.stderr);
    const ended = once(child, "exit");
    child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
    await once(child.stdout, "data");
    // Until the watchdog is there, too, which is the last of all.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const askedAt = performance.now();
    child.kill("SIGTERM");
    expect(await ended).toEqual([null, "SIGKILL"]);
    expect(performance.now() - askedAt).toBeLessThan(60_000);
    expect(await stderr).toContain("although it was asked to end");
  });
});

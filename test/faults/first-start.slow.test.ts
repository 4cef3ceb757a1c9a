import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";

const PROGRAM = inject("program");

/** One kill of so many is tried, beginning at any of them. */
const EVERY = 20;

interface Started {
  readonly signal: string | null;
  readonly stderr: string;
  /** As it was printed; null where none was. */
  readonly key: string | null;
  /** The status of a request with this key. */
  ask(key: string): Promise<number>;
  stop(): Promise<void>;
}

/**
 * The shipped server on this data folder, until it listens or ends; its n-th change of the disk is its last.
 */
async function serve(data: string, killAt?: number): Promise<Started> {
  const killing = killAt === undefined ? [] : ["--require", join(import.meta.dirname, "kill-at.cjs")];
  const child = spawn(process.execPath, [...killing, PROGRAM, "serve"], {
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      POSTHORN_DATA_DIR: data,
      POSTHORN_PORT: "0",
      POSTHORN_LOG_LEVEL: "warn",
      KILL_AT: String(killAt),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = once(child, "close");
  const listening = new Promise<void>((resolve) => {
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
      if (stdout.includes("Data folder") && stdout.endsWith("\n")) resolve();
    });
  });
  await Promise.race([listening, ended]);
  const address = /listening on (\S+)/.exec(stdout)?.[1];
  return {
    signal: child.signalCode,
    stderr,
    key: /API key\s+(phk_\S+)/.exec(stdout)?.[1] ?? null,
    async ask(key) {
      const answer = await fetch(`${address}/api/v1/accounts`, {
        headers: { Authorization: `Bearer ${key}` },
      });
      await answer.arrayBuffer();
      return answer.status;
    },
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** A start on what was left: one key works, and it stands in its file; the secret key is whole. */
async function assertRepaired(data: string): Promise<void> {
  const started = await serve(data);
  try {
    expect(started.stderr).toBe("");
    const kept = readFileSync(join(data, "api.key"), "utf8").trim();
    if (started.key !== null) expect(started.key).toBe(kept);
    expect(await started.ask(kept)).toBe(200);
    expect(readFileSync(join(data, "secret.key"), "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
    for (const name of ["api.key", "secret.key"]) expect(statSync(join(data, name)).mode & 0o777).toBe(0o600);
  } finally {
    await started.stop();
  }
}

describe("the first start", { timeout: 240_000 }, () => {
  it("is repaired by the next one, wherever it is killed", async () => {
    using folder = temporaryFolder();
    let kills = 0;
    for (let n = 1 + Math.floor(Math.random() * EVERY); ; n += EVERY) {
      const data = join(folder.path, `data-${n}`);
      const started = await serve(data, n);
      if (started.signal === null) {
        await started.stop();
        break;
      }
      expect(started.signal, started.stderr).toBe("SIGKILL");
      kills += 1;
      await assertRepaired(data);
    }
    expect(kills * EVERY).toBeGreaterThan(20);
  });

  it("goes on from an empty secret.key and an empty api.key that a killed one left", async () => {
    using folder = temporaryFolder();
    const data = join(folder.path, "data");
    mkdirSync(data, { mode: 0o700 });
    writeFileSync(join(data, "secret.key"), "", { mode: 0o600 });
    writeFileSync(join(data, "api.key"), "", { mode: 0o600 });
    await assertRepaired(data);
  });

  it("makes one account and one key for several at once", async () => {
    using folder = temporaryFolder();
    const data = join(folder.path, "data");
    const started = await Promise.all(Array.from({ length: 4 }, () => serve(data)));
    const keys = started.flatMap(({ key }) => key ?? []);
    expect(started.map(({ stderr }) => stderr).join("")).toBe("");
    expect(keys).toEqual([readFileSync(join(data, "api.key"), "utf8").trim()]);
    for (const one of started) expect(await one.ask(keys[0]!)).toBe(200);
    await Promise.all(started.map((one) => one.stop()));
    expect(readdirSync(data).filter((name) => name.startsWith(".new-"))).toEqual([]);
    expect(existsSync(join(data, "posthorn.db"))).toBe(true);
  });
});

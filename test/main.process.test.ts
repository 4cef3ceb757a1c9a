import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, inject, it } from "vitest";
import { temporaryFolder } from "./support/temporary-folder.ts";

/** The real process, as a shell or an agent's client starts it. */
function start(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [inject("program"), ...args], {
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = once(child, "close").then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as string | null,
  }));
  // A test that closes a stream early has no use for its text.
  const read = (stream: NodeJS.ReadableStream): Promise<string> => text(stream).catch(() => "");
  return { child, ended, stdout: read(child.stdout), stderr: read(child.stderr) };
}

async function untilWritten(stream: NodeJS.ReadableStream, wanted: string): Promise<void> {
  let seen = "";
  await new Promise<void>((resolve, reject) => {
    stream.on("data", (chunk: Buffer) => {
      seen += chunk.toString();
      if (seen.includes(wanted)) resolve();
    });
    stream.on("end", () => reject(new Error(`ended after: ${seen}`)));
  });
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

describe("the process", () => {
  it("ends with 1 and a sentence for what was refused", async () => {
    using folder = temporaryFolder();
    const run = start(["call", "get_post", '{"id":"post_none"}'], folder.env);
    expect(await run.ended).toEqual({ code: 1, signal: null });
    expect(await run.stdout).toBe("");
    expect(await run.stderr).toMatch(/^There is no post "post_none".*\n$/);
  });

  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("stops serving at %s, with 0", async (signal) => {
    using folder = temporaryFolder();
    const run = start(["serve"], { ...folder.env, POSTHORN_PORT: "0", POSTHORN_LOG_LEVEL: "warn" });
    await untilWritten(run.child.stdout, "Data folder");
    run.child.kill(signal);
    expect(await run.ended).toEqual({ code: 0, signal: null });
    expect(await run.stderr).toBe("Posthorn is stopping. What is under way is finished first.\n");
  });

  it("writes MCP frames alone to standard output, and ends with its input", async () => {
    using folder = temporaryFolder();
    const run = start(["stdio"], { ...folder.env, POSTHORN_LOG_LEVEL: "debug" });
    run.child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
    await untilWritten(run.child.stdout, '"serverInfo"');
    run.child.stdin.end();
    expect(await run.ended).toEqual({ code: 0, signal: null });
    for (const line of (await run.stdout).trim().split("\n"))
      expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
  });

  it("keeps what it makes from other users, whatever the shell allows", async () => {
    using folder = temporaryFolder();
    const run = start(["call", "list_accounts"], folder.env);
    expect(await run.ended).toMatchObject({ code: 0 });
    for (const name of ["", "posthorn.db", "secret.key"])
      expect(statSync(join(folder.path, "data", name)).mode & 0o077).toBe(0);
  });

  it("ends quietly when nobody reads its output", async () => {
    using folder = temporaryFolder();
    const run = start(["tools"], folder.env);
    run.child.stdout.destroy();
    await run.ended;
    expect(await run.stderr).toBe("");
  });
});

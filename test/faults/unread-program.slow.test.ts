import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { createInterface } from "node:readline";
import { describe, expect, inject, it } from "vitest";
import { addressOf, API_KEY, callTool, startProgram } from "../support/program.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const PROGRAM = inject("program");

/** A pipe whose reader never reads until it is asked to; 64 KiB fit. */
function openUnreadPipe(folder: string): Disposable & { readonly fd: number; readAll(): string } {
  const path = join(folder, "log.pipe");
  execFileSync("mkfifo", [path]);
  // Both ends, so that opening waits for nobody; the child gets an end that blocks, as a shell gives it.
  const reader = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const fd = openSync(path, "w");
  return {
    fd,
    readAll() {
      let text = "";
      const part = Buffer.alloc(65_536);
      for (;;) {
        try {
          text += part.toString("utf8", 0, readSync(reader, part));
        } catch {
          return text;
        }
      }
    },
    [Symbol.dispose]() {
      closeSync(reader);
      closeSync(fd);
    },
  };
}

const INITIALIZE = {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
};

/** Sends requests one after another, as a client does. */
function openClient(stdin: Writable, stdout: Readable) {
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  let id = 0;
  return async (method: string, params: object): Promise<any> => {
    id += 1;
    stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) throw new Error("It ended.");
      const message: any = JSON.parse(value);
      if (message.id === id) return message.result;
    }
  };
}

/** Answers to nothing, each of which is noted. */
const LINES = 2_000;

describe("a log that nobody reads", () => {
  const kinds = ["pipe", "socket"] as const;
  const ends: [string, (stdin: Writable, kill: () => void) => void][] = [
    ["the end of its input", (stdin) => void stdin.end()],
    ["SIGTERM", (_stdin, kill) => kill()],
  ];

  it.each(kinds.flatMap((kind) => ends.map(([name, end]) => [kind, name, end] as const)))(
    "(a %s) lets a client's process answer, and end by %s",
    async (kind, _name, end) => {
      using folder = temporaryFolder();
      using pipe = openUnreadPipe(folder.path);
      using run = startProgram({
        file: PROGRAM,
        args: ["stdio"],
        env: { ...folder.env, POSTHORN_LOG_LEVEL: "debug" },
        // What Node calls a pipe is a socket.
        stdio: ["pipe", "pipe", kind === "pipe" ? pipe.fd : "pipe"],
      });
      const { stdin, stdout } = run.child;
      if (stdin === null || stdout === null) throw new Error("The streams are missing.");
      const ask = openClient(stdin, stdout);
      await ask("initialize", INITIALIZE);
      for (let count = 0; count < LINES; count += 100) {
        stdin.write(`{"jsonrpc":"2.0","id":"none-${count}","result":{}}\n`.repeat(100));
        const answer = await ask("tools/call", { name: "list_posts", arguments: {} });
        expect(answer.structuredContent).toMatchObject({ posts: [] });
      }
      const ended = await run.endBy(() => end(stdin, () => run.child.kill("SIGTERM")));
      expect(ended).toMatchObject({ code: 0, signal: null });
      expect(ended.ms).toBeLessThan(5_000);
    },
  );

  it("lets a server publish, answer and end", async () => {
    using folder = temporaryFolder();
    using pipe = openUnreadPipe(folder.path);
    using run = startProgram({
      file: PROGRAM,
      args: ["serve"],
      env: { ...folder.env, POSTHORN_PORT: "0", POSTHORN_API_KEY: API_KEY, POSTHORN_LOG_LEVEL: "debug" },
      stdio: ["ignore", "pipe", pipe.fd],
    });
    if (run.child.stdout === null) throw new Error("The streams are missing.");
    const address = await addressOf(run.child.stdout);
    // Each makes a line of 3 kB: more than waits for a reader.
    const chatter = async (): Promise<void> => {
      for (let count = 0; count < 600; count += 50)
        await Promise.all(Array.from({ length: 50 }, () => fetch(`${address}/api/${"x".repeat(3_000)}`)));
    };
    await chatter();
    const { account } = await callTool(address, "connect_channel", { provider: "feed", name: "News" });
    const posts = Array.from({ length: 20 }, (_, at) => ({ accountId: account.id, caption: `News ${at}` }));
    await callTool(address, "schedule_posts", { posts });
    for (;;) {
      const { counts } = await callTool(address, "get_status", {});
      if (counts.scheduled === 0 && counts.publishing === 0) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    // Its lines are whole when they are read again.
    const log = pipe.readAll();
    for (const line of log.trim().split("\n").slice(0, -1)) expect(() => JSON.parse(line)).not.toThrow();
    await chatter();
    const ended = await run.endBy((child) => child.kill("SIGTERM"));
    expect(ended).toMatchObject({ code: 0, signal: null });
  });

  it("keeps the last line of a process that breaks down", async () => {
    using folder = temporaryFolder();
    using run = startProgram({
      file: PROGRAM,
      args: ["serve"],
      env: { ...folder.env, POSTHORN_PORT: "0", NODE_OPTIONS: `--import=${BREAKS}` },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let text = "";
    run.child.stderr?.on("data", (part) => (text += String(part)));
    await once(run.child, "close");
    expect(text).toContain("it broke down");
  });
});

describe("answers that nobody reads", () => {
  const COUNT = 20_000;

  it("stop a client's process reading, which goes on when they are read and ends when it is asked to", async () => {
    using folder = temporaryFolder();
    using run = startProgram({
      file: PROGRAM,
      args: ["stdio"],
      env: folder.env,
      stdio: ["pipe", "pipe", "ignore"],
    });
    const { stdin, stdout } = run.child;
    if (stdin === null || stdout === null) throw new Error("The streams are missing.");
    const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
    stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: INITIALIZE })}\n`);
    await lines.next();
    stdout.pause();
    // What is still to be written when the process ends.
    stdin.on("error", () => {});
    for (let id = 1; id <= COUNT; id++)
      stdin.write(`{"jsonrpc":"2.0","id":${id},"method":"tools/list","params":{}}\n`);
    // Twenty thousand lists of tools are more than a gigabyte.
    let most = 0;
    for (let looks = 0; looks < 40; looks++) {
      most = Math.max(most, memoryOf(run.child.pid));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(most).toBeLessThan(400);
    stdout.resume();
    for (let id = 1; id <= 1_000; id++) {
      const { value } = await lines.next();
      expect(JSON.parse(value ?? "null")).toMatchObject({ id });
    }
    const ended = await run.endBy((child) => {
      stdout.pause();
      child.kill("SIGTERM");
    });
    expect(ended).toMatchObject({ signal: null });
  });
});

/** MiB of memory that a process has now. */
function memoryOf(pid: number | undefined): number {
  const [, kib = "0"] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kib) / 1024;
}

const BREAKS = `data:text/javascript,${encodeURIComponent(
  'import { isMainThread } from "node:worker_threads"; if (isMainThread) setTimeout(() => { throw new Error("it broke down"); }, 1500);',
)}`;

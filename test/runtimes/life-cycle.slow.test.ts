import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import { environmentOf, RUNTIMES, type Runtime } from "../support/runtimes.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const PROGRAM = inject("program");

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "hand", version: "1" } },
};
const PING = { jsonrpc: "2.0", id: 1, method: "ping" };
const LIST = {
  jsonrpc: "2.0",
  id: 2,
  method: "tools/call",
  params: { name: "list_accounts", arguments: {} },
};
const CONNECT = {
  jsonrpc: "2.0",
  id: 3,
  method: "tools/call",
  params: { name: "connect_channel", arguments: { provider: "bluesky" } },
};

/** It has 2 seconds by its own clocks; the rest is for a machine that is busy with other things. */
const ENDS_WITHIN_MS = 5_000;

type Child = ReturnType<typeof start>;

const ENDINGS: readonly (readonly [string, (child: Child) => void])[] = [
  ["the end of its input", (child) => void child.stdin.end()],
  ["SIGTERM", (child) => void child.kill("SIGTERM")],
  ["SIGINT", (child) => void child.kill("SIGINT")],
  ["SIGHUP", (child) => void child.kill("SIGHUP")],
  ["a reader that is gone", stopReading],
];

const MATRIX = RUNTIMES.flatMap((runtime) =>
  ENDINGS.map(([way, end]) => ({ runtime, release: runtime.release, way, end })),
);

describe("the bundle on standard streams", () => {
  it.each(MATRIX)(
    "ends soon by $way on Node $release, with nothing but frames on its output",
    async ({ runtime, end }) => {
      using folder = temporaryFolder();
      const child = start(runtime, folder);
      child.stdin.on("error", () => {});
      const closed = once(child, "exit");
      const lines = read(child);
      for (const message of [INITIALIZE, LIST]) send(child, message);
      await lines.has((frame) => frame.id === 2);
      const endedAt = performance.now();
      end(child);
      expect((await closed)[0]).toBe(0);
      expect(performance.now() - endedAt).toBeLessThan(ENDS_WITHIN_MS);
      expect(lines.frames.every(({ jsonrpc }) => jsonrpc === "2.0")).toBe(true);
      expect(lines.frames.find(({ id }) => id === 2).result.structuredContent.accounts).toHaveLength(1);
    },
  );

  it.each(RUNTIMES)("keeps what Node $release has compiled, if that can", async (runtime) => {
    using folder = temporaryFolder();
    const child = start(runtime, folder);
    child.stdin.end();
    expect((await once(child, "exit"))[0]).toBe(0);
    const kept = await readdir(join(folder.path, ".cache", "posthorn")).catch(() => []);
    expect(kept.length).toBe(runtime.release === "20" ? 0 : 1);
  });

  it.each(RUNTIMES)("ends with its parent on Node $release, though its input stays open", async (runtime) => {
    using folder = temporaryFolder();
    const inherit = `require("node:child_process").spawn(process.execPath, [${JSON.stringify(PROGRAM)}, "stdio"], { stdio: "inherit" })`;
    const parent = start(runtime, folder, ["-e", inherit]);
    const lines = read(parent);
    send(parent, INITIALIZE);
    await lines.has((frame) => frame.id === 0);
    const endedAt = performance.now();
    parent.kill("SIGKILL");
    await once(parent.stdout, "end");
    expect(performance.now() - endedAt).toBeLessThan(ENDS_WITHIN_MS);
  });

  it.each(RUNTIMES)(
    "does not wait on Node $release for somebody who is still filling in its page",
    async (runtime) => {
      using folder = temporaryFolder();
      const child = start(runtime, folder);
      const lines = read(child);
      for (const message of [INITIALIZE, CONNECT]) send(child, message);
      await lines.has((frame) => frame.id === 3);
      const socket = await beginPost(lines.frames.find(({ id }) => id === 3).result.structuredContent.url);
      const endedAt = performance.now();
      child.stdin.end();
      expect((await once(child, "exit"))[0]).toBe(0);
      expect(performance.now() - endedAt).toBeLessThan(ENDS_WITHIN_MS);
      socket.destroy();
    },
  );
});

/** A request that the process has begun to read; its body never comes. */
async function beginPost(address: string): Promise<Socket> {
  const { hostname, port, host, pathname } = new URL(address);
  const socket = connect(Number(port), hostname);
  const head = `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n`;
  socket.on("error", () => {});
  // The server says that it has read the head.
  socket.write(`${head}Expect: 100-continue\r\n\r\n`);
  await once(socket, "data");
  return socket;
}

function stopReading(child: Child): void {
  child.stdout.destroy();
  send(child, PING);
}

/** In a folder with an `.env` that would change much, and with everybody's debug output switched on. */
function start(
  runtime: Runtime,
  folder: ReturnType<typeof temporaryFolder>,
  args: readonly string[] = [PROGRAM, "stdio"],
) {
  writeFileSync(join(folder.path, ".env"), "POSTHORN_LOG_LEVEL=trace\nPOSTHORN_PORT=nonsense\nDEBUG=*\n");
  const home = { HOME: folder.path, XDG_CACHE_HOME: undefined };
  const env = {
    ...environmentOf(runtime, folder.path),
    ...folder.env,
    ...home,
    POSTHORN_PORT: "0",
    DEBUG: "*",
  };
  const child = spawn(runtime.node, [...args], { cwd: folder.path, env, stdio: ["pipe", "pipe", "pipe"] });
  // Whoever does not read its log must not stop it.
  child.stderr.resume();
  return child;
}

function send(child: Child, message: object): void {
  child.stdin.write(`${JSON.stringify(message)}\n`);
}

/** Every line of the output; one that is no JSON fails the test. */
function read(child: Child) {
  const frames: any[] = [];
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) frames.push(JSON.parse(line));
  });
  return {
    frames,
    async has(fits: (frame: any) => boolean): Promise<void> {
      while (!frames.some(fits)) await once(child.stdout, "data");
    },
  };
}

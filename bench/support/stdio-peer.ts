import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";

const INITIALIZE = {
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
};

/** A server in a process of its own, spoken to in bare frames: a client library would be measured too. */
export class StdioPeer implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #waiting = new Map<number, (result: unknown) => void>();
  readonly #closed: Promise<unknown>;
  #nextId = 1;
  #rest = "";

  constructor(args: readonly string[], env: Readonly<Record<string, string>>) {
    this.#child = spawn(process.execPath, args, {
      env: { PATH: process.env["PATH"], ...env },
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#closed = once(this.#child, "close");
    this.#child.stdout.setEncoding("utf8").on("data", (text: string) => this.#read(text));
  }

  async open(): Promise<void> {
    await this.#request(INITIALIZE);
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  }

  listTools(): Promise<unknown> {
    return this.#request({ method: "tools/list" });
  }

  callTool(name: string): Promise<unknown> {
    return this.#request({ method: "tools/call", params: { name, arguments: {} } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end();
    await this.#closed;
  }

  #request(message: object): Promise<unknown> {
    const id = this.#nextId++;
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...message })}\n`);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const { id, result, error } = JSON.parse(line) as { id?: number; result?: unknown; error?: unknown };
      if (id === undefined) continue;
      if (error !== undefined) throw new Error(`The server answered ${JSON.stringify(error)}`);
      this.#waiting.get(id)?.(result);
      this.#waiting.delete(id);
    }
  }
}

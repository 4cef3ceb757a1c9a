import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const ENTRY = fileURLToPath(new URL("./memory-entry.ts", import.meta.url));
const WARM_UP = 2_000;
const IN_FLIGHT = 64;

/** 10,000 calls may leave 10 MB behind. */
const MAX_BYTES_A_CALL = 1_000;

const IDENTITY = { name: "hand", version: "1" };
const MODERN = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": IDENTITY,
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Speaks by hand: a client would need more time for the calls than the server. */
class Caller {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #waiting = new Map<number, (message: any) => void>();
  readonly #meta: object;
  stderr = "";
  #id = 0;

  constructor(child: ChildProcessByStdio<Writable, Readable, Readable>, meta: object) {
    this.#child = child;
    this.#meta = meta;
    child.stderr.on("data", (chunk: Buffer) => (this.stderr += chunk.toString("utf8")));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const message = JSON.parse(line);
      this.#waiting.get(message.id)?.(message);
      this.#waiting.delete(message.id);
    });
  }

  request(method: string, params: object): Promise<any> {
    const id = (this.#id += 1);
    const answer = new Promise((resolve) => this.#waiting.set(id, resolve));
    this.#child.stdin.write(
      `${JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, ...this.#meta } })}\n`,
    );
    return answer;
  }

  async call(name: string): Promise<any> {
    const { result } = await this.request("tools/call", { name, arguments: {} });
    expect(result.isError ?? false).toBe(false);
    return result.structuredContent;
  }

  /** Always as many in flight. */
  async callOften(name: string, count: number): Promise<void> {
    let left = count;
    const work = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await this.call(name);
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  }
}

describe.each([
  ["2025-06-18", 10_000],
  ["2026-07-28", 5_000],
])("a client of %s that calls %d times", (version, calls) => {
  let folder: ReturnType<typeof temporaryFolder>;
  let child: ChildProcessByStdio<Writable, Readable, Readable>;

  beforeEach(() => {
    folder = temporaryFolder();
    child = spawn(process.execPath, ["--expose-gc", "--import", "tsx", ENTRY, folder.path], {
      stdio: ["pipe", "pipe", "pipe"],
    });
  });

  afterEach(async () => {
    child.stdin.end();
    await once(child, "close");
    folder[Symbol.dispose]();
  });

  it("leaves nothing behind, and is warned of nothing", { timeout: 300_000 }, async () => {
    const caller = new Caller(child, version === "2026-07-28" ? { _meta: MODERN } : {});
    if (version !== "2026-07-28") {
      await caller.request("initialize", {
        protocolVersion: version,
        capabilities: {},
        clientInfo: IDENTITY,
      });
    }
    await caller.callOften("list_accounts", WARM_UP);
    const before = await caller.call("memory");
    await caller.callOften("list_accounts", calls);
    const after = await caller.call("memory");
    expect(after.heap + after.outside - before.heap - before.outside).toBeLessThan(calls * MAX_BYTES_A_CALL);
    expect(caller.stderr).toBe("");
  });
});

import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";

export const API_KEY = "a-fixed-key-of-forty-characters-or-so-00";

/** A test that failed leaves nobody behind. */
const running = new Set<ChildProcess>();
process.once("exit", () => running.forEach((child) => child.kill("SIGKILL")));

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly ms: number;
}

export interface Program extends Disposable {
  readonly child: ChildProcess;
  /** Does what should end it and waits until it has; kills it after `withinMs` (signal SIGKILL). */
  endBy(how: (child: ChildProcess) => void, withinMs?: number): Promise<Ended>;
}

interface Start {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdio: StdioOptions;
}

export function startProgram({ file, args, env, stdio }: Start): Program {
  const child = spawn(process.execPath, [file, ...args], {
    stdio,
    env: { PATH: process.env["PATH"] ?? "", ...env },
  });
  running.add(child);
  const exited = once(child, "exit").then(([code, signal]) => {
    running.delete(child);
    return { code, signal } as Omit<Ended, "ms">;
  });
  return {
    child,
    async endBy(how, withinMs = 20_000) {
      const at = performance.now();
      const kill = setTimeout(() => child.kill("SIGKILL"), withinMs);
      how(child);
      const ended = await exited;
      clearTimeout(kill);
      return { ...ended, ms: performance.now() - at };
    },
    [Symbol.dispose]: () => void child.kill("SIGKILL"),
  };
}

/** The address that a server prints at its start. */
export async function addressOf(stdout: Readable): Promise<string> {
  let text = "";
  for await (const part of stdout.iterator({ destroyOnReturn: false })) {
    text += String(part);
    const address = /listening on (\S+)/.exec(text)?.[1];
    if (address !== undefined) {
      stdout.resume();
      return address;
    }
  }
  throw new Error(`The server did not start: ${text}`);
}

/** A tool's result over HTTP, with the fixed key. */
export async function callTool(address: string, tool: string, args: object): Promise<any> {
  const answer = await fetch(`${address}/api/v1/tools/${tool}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${API_KEY}`, "Content-Type": "application/json" },
    body: JSON.stringify(args),
    signal: AbortSignal.timeout(20_000),
  });
  const body: any = await answer.json();
  if (answer.status !== 200) throw new Error(`${tool}: ${answer.status} ${JSON.stringify(body)}`);
  return body.result;
}

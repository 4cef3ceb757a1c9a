import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { send, type Answer, type Ask } from "./http.ts";

const MAIN = join(import.meta.dirname, "..", "..", "src", "main.ts");
const KEY = "k".repeat(32);

export interface RealServer extends AsyncDisposable {
  readonly port: number;
  readonly key: string;
  ask(target: string, ask?: Ask): Promise<Answer>;
  kill(): Promise<void>;
}

/** `posthorn serve` as a shell starts it, with a key that may do everything. */
export async function startRealServer(env: Readonly<Record<string, string>>): Promise<RealServer> {
  const child = spawn(process.execPath, ["--import", "tsx", MAIN, "serve"], {
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      ...env,
      POSTHORN_PORT: "0",
      POSTHORN_API_KEY: KEY,
      POSTHORN_LOG_LEVEL: "silent",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  let said = "";
  while (!/127\.0\.0\.1:\d+/.test(said)) {
    const part = await Promise.race([once(child.stdout, "data"), exit.then(() => null)]);
    if (part === null) throw new Error(`The server ended: ${said}`);
    said += String(part[0]);
  }
  const port = Number(/127\.0\.0\.1:(\d+)/.exec(said)?.[1]);
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exit;
  };
  return {
    port,
    key: KEY,
    ask: (target, ask = {}) => send(port, target, { key: KEY, ...ask }),
    kill,
    [Symbol.asyncDispose]: kill,
  };
}

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { runCli } from "../support/cli.ts";
import { send, type Answer } from "../support/http.ts";

const KEY = "a-fixed-key-of-forty-characters-or-so-00";

export interface ServersOptions {
  /** The built program. */
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  readonly processes: number;
}

/** Servers on one database, each of which may be killed and started again. */
export interface Servers extends AsyncDisposable {
  /** Ids of the accounts that there are. */
  readonly accounts: readonly string[];
  /** Calls a tool at one of them, once; null: it was killed. */
  ask(at: number, tool: string, args: object, idempotencyKey?: string): Promise<Answer | null>;
  /** Calls a tool at one of them, again and again where it is killed meanwhile. A refusal is answered as its text. */
  call(at: number, tool: string, args: object, idempotencyKey?: string): Promise<any>;
  kill(at: number): Promise<void>;
}

interface Running {
  readonly child: ChildProcess;
  readonly port: number;
}

export async function startServers(options: ServersOptions): Promise<Servers> {
  const env = {
    ...options.env,
    POSTHORN_PORT: "0",
    POSTHORN_API_KEY: KEY,
    POSTHORN_RATE_LIMIT: "1000000",
    POSTHORN_LOG_LEVEL: "error",
  };
  const { accounts } = JSON.parse((await runCli(["accounts"], { env })).stdout) as {
    accounts: { id: string }[];
  };
  const start = (): Promise<Running> => startOne(options.program, env);
  const servers = await Promise.all(Array.from({ length: options.processes }, start));
  const ask: Servers["ask"] = (at, tool, args, idempotencyKey) =>
    send(servers[at % servers.length]?.port ?? 0, `POST /api/v1/tools/${tool}`, {
      key: KEY,
      json: args,
      headers: idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey },
    }).catch(() => null);
  return {
    accounts: accounts.map(({ id }) => id),
    ask,
    async call(...asked) {
      for (;;) {
        const answer = await ask(...asked);
        if (answer?.status === 200) return answer.json.result;
        // It was killed, or the call is under way still in another one that was.
        const isPassing =
          answer === null || answer.status === 503 || /still running|may have been/.test(answer.text);
        if (!isPassing && answer.status === 409) return answer.text;
        if (!isPassing) throw new Error(`${answer.status} ${answer.text}`);
        await delay(20);
      }
    },
    async kill(at) {
      const victim = at % servers.length;
      servers[victim]?.child.kill("SIGKILL");
      servers[victim] = await start();
    },
    async [Symbol.asyncDispose]() {
      for (const { child } of servers) child.kill("SIGKILL");
      await Promise.all(
        servers.map(({ child }) => child.exitCode ?? child.signalCode ?? once(child, "exit")),
      );
    },
  };
}

async function startOne(program: string, env: Readonly<Record<string, string>>): Promise<Running> {
  const child = spawn(process.execPath, [program, "serve"], {
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const port = await new Promise<number>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`A server ended (${code}): ${output}`)));
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      const found = /listening on http:\/\/[^\s:]+:(\d+)/.exec(output)?.[1];
      if (found !== undefined) resolve(Number(found));
    });
  });
  return { child, port };
}

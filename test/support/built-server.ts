import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, request, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { text } from "node:stream/consumers";
import { temporaryFolder } from "./temporary-folder.ts";
import type { MadeFile } from "./hostile-media.ts";

const MiB = 1024 * 1024;

export interface Told {
  readonly status: number;
  readonly body: any;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly ms: number;
}

interface Asked {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: MadeFile | Buffer;
  /** Breaks the connection off after so many bytes of the body. */
  readonly breakAfterBytes?: number;
}

export interface BuiltServer extends AsyncDisposable {
  readonly processId: number;
  /** "http://127.0.0.1:1234". */
  readonly origin: string;
  /** The key of the first start. */
  readonly key: string;
  /** What another program needs to find its data folder. */
  readonly env: Readonly<Record<string, string>>;
  /** "POST /api/v1/files"; JSON, as long as the answer has a body. */
  ask(target: string, options?: Asked): Promise<Told>;
  /** Of the server alone, and of it with the processes that it started. */
  memoryMiB(): { server: number; all: number };
  openFiles(): number;
  isAlive(): boolean;
  stderr(): string;
}

/** The program as it is published, as a process of its own. */
export async function startBuiltServer(
  file: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<BuiltServer> {
  const folder = temporaryFolder();
  const env = {
    PATH: process.env["PATH"],
    ...folder.env,
    POSTHORN_PORT: "0",
    POSTHORN_ALLOWED_HOSTS: "127.0.0.1",
    POSTHORN_LOG_LEVEL: "warn",
    POSTHORN_RATE_LIMIT: "1000000",
    ...settings,
  };
  const child = spawn(process.execPath, [file, "serve"], { env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "close");
  const processId = child.pid ?? 0;
  let [stdout, stderr] = ["", ""];
  child.stderr.on("data", (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-20_000)));
  await new Promise<void>((resolve, reject) => {
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
      if (stdout.includes("Data folder")) resolve();
    });
    void ended.then(() => reject(new Error(`The server did not start: ${stderr}`)));
  });
  const port = Number(/127\.0\.0\.1:(\d+)/.exec(stdout)?.[1]);
  const key =
    settings["POSTHORN_API_KEY"] ?? readFileSync(join(folder.path, "data", "api.key"), "utf8").trim();
  return {
    processId,
    origin: `http://127.0.0.1:${port}`,
    key,
    env: folder.env,
    ask: (target, options = {}) => ask({ port, key }, target, options),
    memoryMiB() {
      const server = residentMiB(processId);
      return { server, all: server + childrenOf(processId).reduce((sum, id) => sum + residentMiB(id), 0) };
    },
    openFiles: () => readdirSync(`/proc/${processId}/fd`).length,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    stderr: () => stderr,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
      folder[Symbol.dispose]();
    },
  };
}

async function ask(server: { port: number; key: string }, target: string, options: Asked): Promise<Told> {
  const startedAt = performance.now();
  const [method, path] = target.split(" ");
  const body = Buffer.isBuffer(options.body) ? bufferFile(options.body) : options.body;
  const outgoing = request({
    port: server.port,
    host: "127.0.0.1",
    method,
    path,
    agent: false,
    headers: {
      Authorization: `Bearer ${server.key}`,
      ...(body === undefined ? {} : { "Content-Length": String(body.sizeBytes) }),
      ...options.headers,
    },
  });
  const answered = once(outgoing, "response");
  answered.catch(() => {});
  if (body === undefined) outgoing.end();
  else {
    const chunks = upTo(body.chunks(), options.breakAfterBytes ?? Infinity, () => outgoing.destroy());
    // The server may answer, and close, before it has everything.
    await pipeline(Readable.from(chunks, { objectMode: false, highWaterMark: MiB }), outgoing).catch(
      () => {},
    );
  }
  const [response] = (await answered) as [IncomingMessage];
  const isJson = (response.headers["content-type"] ?? "").includes("json");
  const written = await text(response);
  const read: unknown = isJson && written !== "" ? JSON.parse(written) : null;
  const ms = Math.round(performance.now() - startedAt);
  return { status: response.statusCode ?? 0, body: read, headers: response.headers, ms };
}

function* upTo(chunks: Iterable<Buffer>, bytes: number, breakOff: () => void): Generator<Buffer> {
  let left = bytes;
  for (const chunk of chunks) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) return breakOff();
  }
}

function bufferFile(bytes: Buffer): MadeFile {
  return { sizeBytes: bytes.length, chunks: () => [bytes] };
}

function residentMiB(id: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

function childrenOf(id: number): number[] {
  const tasks = readdirSync(`/proc/${id}/task`);
  return tasks.flatMap((task) => {
    const text = readFileSync(`/proc/${id}/task/${task}/children`, "utf8");
    return text.split(" ").filter(Boolean).map(Number);
  });
}

/** Serves files to whoever imports them, at `/<number>`. */
export async function serveFiles(
  files: readonly MadeFile[],
): Promise<{ url(at: number): string } & AsyncDisposable> {
  const server = createServer((asked, answer) => {
    const file = files[Number(asked.url?.slice(1))];
    if (file === undefined) return void answer.writeHead(404).end();
    answer.writeHead(200, { "Content-Length": file.sizeBytes });
    pipeline(Readable.from(file.chunks(), { objectMode: false }), answer).catch(() => {});
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: (at) => `http://127.0.0.1:${port}/${at}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

import { request as httpRequest } from "node:http";
import { createHttpApp, type HttpDeps } from "../../src/http/app.ts";
import { startHttpServer, type HttpServer } from "../../src/http/server.ts";
import { PERMISSIONS } from "../../src/domain/permissions.ts";
import type { AppContext } from "../../src/context.ts";
import { createKey, type KeyInput } from "../../src/access/api-keys.ts";
import type { AnyTool } from "../../src/toolkit/define-tool.ts";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import { callOf, callerOf } from "./context.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body as JSON; undefined where it is none. */
  readonly json: any;
}

export interface Ask {
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON with its content type. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: string | Uint8Array;
}

export interface TestServer extends AsyncDisposable {
  readonly port: number;
  readonly ctx: AppContext;
  readonly server: HttpServer;
  /** `target` as "GET /api/v1/posts"; without `key` the first full key is used, with null none. */
  ask(target: string, ask?: Ask): Promise<Answer>;
  keyFor(ownerId: string, input?: KeyInput): Promise<string>;
}

export async function startTestServer(
  ctx: AppContext,
  tools: readonly AnyTool[],
  options: Partial<Omit<HttpDeps, "ctx" | "toolbox">> = {},
): Promise<TestServer> {
  const app = createHttpApp({
    ctx,
    toolbox: createToolbox(ctx, tools),
    version: "0.0.0-test",
    publicUrl: null,
    rateLimit: 1_000_000,
    fixedApiKey: null,
    isReady: () => true,
    ...options,
  });
  const server = await startHttpServer(app, { host: "127.0.0.1", port: 0 });
  const keyFor = async (ownerId: string, input: KeyInput = {}): Promise<string> =>
    (await createKey(callOf(ctx, callerOf({ ownerId })), { permissions: PERMISSIONS, ...input })).key;
  const fullKey = await keyFor("default");
  return {
    port: server.port,
    ctx,
    server,
    keyFor,
    ask: (target, ask = {}) => send(server.port, target, { key: fullKey, ...ask }),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** Over node:http, because fetch neither sends a Host of one's own nor a body with GET. */
export function send(port: number, target: string, ask: Ask = {}): Promise<Answer> {
  const [method, path] = target.split(/ (.*)/s);
  const body = ask.json === undefined ? ask.body : JSON.stringify(ask.json);
  const headers = {
    ...(ask.key === undefined || ask.key === null ? {} : { Authorization: `Bearer ${ask.key}` }),
    ...(ask.json === undefined ? {} : { "Content-Type": "application/json" }),
    ...(body === undefined || ask.headers?.["Transfer-Encoding"] !== undefined
      ? {}
      : { "Content-Length": String(Buffer.byteLength(body)) }),
    ...ask.headers,
  };
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      { host: "127.0.0.1", port, method, path, headers, agent: false },
      (incoming) => {
        const parts: Buffer[] = [];
        incoming.on("data", (part: Buffer) => parts.push(part));
        incoming.on("error", reject);
        incoming.on("end", () => {
          const text = Buffer.concat(parts).toString("utf8");
          const entries = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]);
          resolve({
            status: incoming.statusCode ?? 0,
            headers: Object.fromEntries(entries),
            text,
            json: asJson(text),
          });
        });
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

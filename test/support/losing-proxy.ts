import {
  createServer,
  request as send,
  type IncomingMessage,
  type RequestOptions,
  type ServerResponse,
} from "node:http";
import { once } from "node:events";
import { buffer } from "node:stream/consumers";
import type { AddressInfo } from "node:net";

/**
 * What goes wrong between us and a server. `lose_answer`: the server acts, its answer never arrives.
 * `half_answer`: it breaks off midway. `garbage`: 200 with something else. `cut_upload`: half of the request
 * arrives. `hang_after`, `hang_before`: silence after or instead of acting. A status: answered by the proxy,
 * before (the server never sees it) or after the server acted.
 */
export type Fault =
  | "lose_answer"
  | "half_answer"
  | "garbage"
  | "cut_upload"
  | "hang_after"
  | "hang_before"
  | {
      readonly status: number;
      readonly when: "before" | "after";
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: object;
    };

interface SeenRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly fault: Fault | null;
}

interface LosingProxy extends AsyncDisposable {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  /** The next `times` requests whose path contains `path` suffer the fault. */
  fail(path: string, fault: Fault, times?: number): void;
  /** How many requests whose path contains `path` came in. */
  count(path: string): number;
  /**
   * Statuses that the server itself answered to requests whose path contains `path`, in the order of the
   * answers.
   */
  answered(path: string): number[];
  /** Runs before a request is passed on; of use to stop a clock or a process at that very moment. */
  onRequest: ((request: SeenRequest) => void | Promise<void>) | null;
}

interface Rule {
  readonly path: string;
  readonly fault: Fault;
  left: number;
}

interface Answer {
  readonly path: string;
  readonly status: number;
}

interface Exchange {
  readonly target: URL;
  readonly answers: Answer[];
  /** The body, where it was read already. */
  readonly body: Buffer | null;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** An HTTP proxy before `target` that loses what it is told to lose, and counts. */
export async function startLosingProxy(target: string): Promise<LosingProxy> {
  const rules: Rule[] = [];
  const seen: SeenRequest[] = [];
  const take = (path: string): Fault | null => {
    const rule = rules.find((one) => one.left > 0 && path.includes(one.path));
    if (rule === undefined) return null;
    rule.left -= 1;
    return rule.fault;
  };
  const answers: Answer[] = [];
  const server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? "/";
    const fault = take(path);
    const request = { method: incoming.method ?? "GET", path, headers: incoming.headers, fault };
    seen.push(request);
    incoming.on("error", () => {});
    outgoing.on("error", () => {});
    void held(incoming, request).then((body) =>
      handle({ target: new URL(target), answers, body, incoming, outgoing }, fault),
    );
  });
  /** What is held back is read whole first: a client that gives up does not take it back. */
  const held = async (incoming: IncomingMessage, request: SeenRequest): Promise<Buffer | null> => {
    if (proxy.onRequest === null) return null;
    const body = await buffer(incoming);
    await proxy.onRequest(request);
    return body;
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const proxy: LosingProxy = {
    url: `http://127.0.0.1:${port}`,
    seen,
    fail: (path, fault, times = 1) => void rules.push({ path, fault, left: times }),
    count: (path) => seen.filter((request) => request.path.includes(path)).length,
    answered: (path) => answers.filter((one) => one.path.includes(path)).map(({ status }) => status),
    onRequest: null,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return proxy;
}

function handle(exchange: Exchange, fault: Fault | null): void {
  const { incoming, outgoing } = exchange;
  if (fault === "hang_before") return void incoming.resume();
  if (fault === "cut_upload") return cutUpload(exchange);
  if (typeof fault === "object" && fault?.when === "before") {
    incoming.resume();
    incoming.once("end", () => answer(outgoing, fault));
    return;
  }
  forward(exchange, (response) => {
    if (fault === null) {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      return void response.pipe(outgoing);
    }
    // The server has acted once its answer is here, whole.
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.once("end", () => spoil(exchange, fault, { response, body: Buffer.concat(chunks) }));
  });
}

function spoil(
  { incoming, outgoing }: Exchange,
  fault: Fault,
  from: { response: IncomingMessage; body: Buffer },
): void {
  if (fault === "hang_after") return;
  if (fault === "lose_answer") return void incoming.socket.destroy();
  if (typeof fault === "object") return answer(outgoing, fault);
  if (fault === "garbage") {
    outgoing.writeHead(200, { "content-type": "text/html" });
    return void outgoing.end("<html>It works!</html>");
  }
  outgoing.writeHead(from.response.statusCode ?? 502, {
    ...from.response.headers,
    "content-length": String(from.body.length),
  });
  outgoing.write(from.body.subarray(0, Math.floor(from.body.length / 2)), () => incoming.socket.destroy());
}

function answer(outgoing: ServerResponse, fault: Exclude<Fault, string>): void {
  outgoing.writeHead(fault.status, { "content-type": "application/json", ...fault.headers });
  outgoing.end(JSON.stringify(fault.body ?? { error: "InternalServerError", message: "The proxy says so." }));
}

function forward(
  { target, answers, body, incoming, outgoing }: Exchange,
  then: (response: IncomingMessage) => void,
): void {
  const upstream = send(optionsOf(target, incoming), (response) => {
    answers.push({ path: incoming.url ?? "", status: response.statusCode ?? 0 });
    then(response);
  });
  upstream.on("error", () => {
    outgoing.destroy();
  });
  if (body === null) incoming.pipe(upstream);
  else upstream.end(body);
}

/** Half of the declared length reaches the server, then both ends break. */
function cutUpload({ target, incoming }: Exchange): void {
  const half = Math.floor(Number(incoming.headers["content-length"] ?? "2") / 2);
  const upstream = send(optionsOf(target, incoming), (response) => response.resume());
  upstream.on("error", () => {});
  let passed = 0;
  incoming.on("data", (chunk: Buffer) => {
    const part = chunk.subarray(0, Math.max(half - passed, 0));
    passed += part.length;
    upstream.write(part);
    if (passed < half) return;
    upstream.destroy();
    incoming.socket.destroy();
  });
}

function optionsOf(target: URL, incoming: IncomingMessage): RequestOptions {
  return {
    host: target.hostname,
    port: target.port,
    method: incoming.method ?? "GET",
    path: incoming.url ?? "/",
    headers: { ...incoming.headers, host: target.host },
  };
}

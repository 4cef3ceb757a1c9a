import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import type { Answer, Arrived } from "../simulation/network.ts";
import { Platforms } from "../simulation/platforms.ts";
import { OUTSIDE, World } from "../simulation/world.ts";
import { listen } from "../support/listen.ts";

/** The simulation's stand-ins for a platform of each reconciliation class, behind real HTTP. */
export interface ClassServers extends AsyncDisposable {
  readonly baseUrl: string;
  /** How often each text became visible. */
  visible(): ReadonlyMap<string, number>;
  /** Asked for the text of every request that changes something; false: the server is gone before it acts. */
  onChange: ((text: string) => boolean) | null;
  /** What a 429 says in its `Retry-After`; default "0". */
  retryAfter: string;
  /** Requests that no careful client would send. */
  readonly violations: readonly string[];
  /** What happens to the next requests that make a post visible, one entry each. */
  misbehave(...faults: Fault[]): void;
}

/** `…-before`: nothing happened; `…-after`: the post is visible, and the client is not told. */
export type Fault =
  | "drop-before"
  | "drop-after"
  | "500-before"
  | "500-after"
  | "429-before"
  | "garbage-after"
  | "truncate-after"
  | "hang-before"
  | "hang-after"
  | "trickle-after";

/** In it time passes by itself, and nothing is left to chance. */
class RealWorld extends World {
  override get now(): number {
    return Date.now();
  }
  override between(min: number): number {
    return min;
  }
  override chance(): boolean {
    return false;
  }
}

/** `delayMs`: how long each answer takes. */
export async function startClassServers(options: { readonly delayMs?: number } = {}): Promise<ClassServers> {
  const { delayMs = 0 } = options;
  const platforms = new Platforms(new RealWorld(1, 0));
  const routes = platforms.servers();
  const faults: Fault[] = [];
  /** Of uploads and containers, by their ids. */
  const texts = new Map<string, string>();
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // A client that died while it sent: nothing of it counts.
    const body = await buffer(request).catch(() => null);
    if (body === null) return;
    await delay(delayMs / 2);
    const arrived = read(request, body.toString());
    if (arrived.method !== "GET" && servers.onChange?.(textOf(arrived, texts)) === false)
      return void response.destroy();
    const fault = isShowing(arrived) ? (faults.shift() ?? null) : null;
    const kind = arrived.url.pathname.split("/")[1] ?? "";
    const act = (): Answer => routes.get(`class-${kind}.example`)?.(arrived) ?? { status: 404, body: {} };
    const answer: Answer = fault?.endsWith("before") === true ? { status: 500, body: {} } : act();
    const { session, container } = answer.body as { session?: string; container?: string };
    texts.set(session ?? container ?? "", textOf(arrived, texts));
    // The deed is done now, the answer comes later: a kill in between leaves the client in doubt.
    await delay(delayMs / 2);
    if (fault !== null) return misbehave(response, fault, servers.retryAfter);
    response.writeHead(answer.status, JSON_TYPE).end(JSON.stringify(answer.body));
  };
  const server = createServer((request, response) => void serve(request, response));
  const listening = await listen(server);
  const servers: ClassServers = {
    baseUrl: listening.origin,
    onChange: null,
    retryAfter: "0",
    visible() {
      const counts = new Map<string, number>();
      for (const { text } of platforms.published) counts.set(text, (counts.get(text) ?? 0) + 1);
      return counts;
    },
    violations: platforms.violations,
    misbehave: (...more) => void faults.push(...more),
    [Symbol.asyncDispose]: listening[Symbol.asyncDispose],
  };
  return servers;
}

const JSON_TYPE = { "content-type": "application/json" };

function read(request: IncomingMessage, body: string): Arrived {
  const url = new URL(request.url ?? "", "http://platform.example");
  const headers = request.headers as Record<string, string>;
  const now = Date.now();
  const sent = { from: OUTSIDE, sentAt: now, leftAt: now, clockAt: now, fault: null };
  return { method: request.method ?? "", url, headers, body, ...sent };
}

/** Whether a post is visible once this is done. An upload is by the last of its three chunks. */
function isShowing({ method, url, headers }: Arrived): boolean {
  if (method === "GET" || url.pathname === "/d/containers") return false;
  return url.pathname.startsWith("/c/") ? headers["x-start"] === "20" : true;
}

/** Whose text a request is about. */
function textOf({ method, url, body }: Arrived, texts: ReadonlyMap<string, string>): string {
  if (method === "GET" || url.pathname.startsWith("/c/uploads/"))
    return texts.get(url.pathname.split("/")[3] ?? "") ?? "";
  const { text, container = "" } = JSON.parse(body) as { text?: string; container?: string };
  return text ?? texts.get(container) ?? "";
}

function misbehave(response: ServerResponse, fault: Fault, retryAfter: string): void {
  switch (fault) {
    case "drop-before":
    case "drop-after":
      return void response.destroy();
    case "hang-before":
    case "hang-after":
      return; // The connection stays open, and nothing comes.
    case "trickle-after":
      return void trickle(response);
    case "500-before":
    case "500-after":
      return void response.writeHead(500, JSON_TYPE).end('{"error":"oops"}');
    case "429-before":
      return void response.writeHead(429, { ...JSON_TYPE, "retry-after": retryAfter }).end("{}");
    case "garbage-after":
      return void response.writeHead(200, JSON_TYPE).end("<html>not json</html>");
    case "truncate-after":
      response.writeHead(200, { ...JSON_TYPE, "content-length": "500" }).write('{"id":"');
      response.destroy();
  }
}

/** A byte now and then, for as long as somebody listens. */
async function trickle(response: ServerResponse): Promise<void> {
  response.writeHead(200, JSON_TYPE);
  while (!response.destroyed) {
    response.write(" ");
    await delay(20);
  }
}

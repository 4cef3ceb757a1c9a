import { createServer, type IncomingHttpHeaders } from "node:http";
import { buffer } from "node:stream/consumers";
import { listen } from "./listen.ts";

export interface Delivery {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What the receiver does with one delivery; "cut" takes it and breaks off without an answer. */
type Reply =
  "cut" | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  /** POSTs as they came. */
  readonly deliveries: Delivery[];
  /** Everything else. */
  readonly looks: Delivery[];
  /** For the next deliveries in order; then 204. */
  readonly replies: Reply[];
  /**
   * What a receiver after Standard Webhooks has processed: each webhook-id that it answered with 2xx, or was
   * cut after, once.
   */
  readonly processed: Set<string>;
}

/** A receiver of webhooks on a real socket. */
export async function startReceiver(): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    const body = (await buffer(request)).toString("utf8");
    const delivery = {
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body,
    };
    if (request.method !== "POST") {
      receiver.looks.push(delivery);
      return void response.writeHead(405).end();
    }
    receiver.deliveries.push(delivery);
    const reply = receiver.replies.shift() ?? { status: 204 };
    if (reply === "cut" || reply.status < 300) receiver.processed.add(String(request.headers["webhook-id"]));
    if (reply === "cut") return void request.socket.destroy();
    response.writeHead(reply.status, reply.headers).end(reply.body);
  });
  const listening = await listen(server);
  const receiver: Receiver = {
    url: `${listening.origin}/hook?token=canary-token`,
    deliveries: [],
    looks: [],
    replies: [],
    processed: new Set(),
    [Symbol.asyncDispose]: listening[Symbol.asyncDispose],
  };
  return receiver;
}

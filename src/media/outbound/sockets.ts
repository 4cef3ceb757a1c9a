import { deadline, SECOND } from "../../domain/time.ts";
import { quote } from "../../domain/text/plain-text.ts";
import { once } from "node:events";
import type { ClientRequestArgs } from "node:http";
import type { buildConnector } from "undici";
import { type ClientOptions, createWebSocketStream, WebSocket } from "ws";
import { AppError } from "../../domain/errors.ts";
import { OutboundFailure } from "../../ports/outbound.ts";
import type { Socket, SocketRequest } from "../../ports/sockets.ts";
import type { AddressPolicy } from "./address-policy.ts";
import { reasonUnreachable } from "./connector.ts";

const TIMEOUT_MS = 30 * SECOND;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_MESSAGES = 1_000;

/** Pings and pongs. Relays ask about every half a minute, which is as long as a conversation lasts. */
const MAX_CONTROLS = 20;

const LIMITS = {
  maxPayload: 1024 * 1024,
  maxFragments: 1_000,
  perMessageDeflate: false,
  followRedirects: false,
  // Waiting some seconds for the other side's goodbye would only hold a connection.
  closeTimeout: SECOND,
  maxHeaderSize: 32 * 1024,
};

const NORMAL_CLOSURE = 1_000;

interface SocketOptions {
  readonly policy: AddressPolicy;
  readonly userAgent: string;
  readonly connectors: Readonly<Record<"open" | "guarded", buildConnector.connector>>;
}

export async function converse<T>(
  options: SocketOptions,
  request: SocketRequest,
  work: (socket: Socket) => Promise<T>,
): Promise<T> {
  const { url, isExcepted } = options.policy.check(httpOf(request.url), false);
  const signal = deadline(request.timeoutMs ?? TIMEOUT_MS, ...(request.signal ? [request.signal] : []));
  const socket = new WebSocket(url.href, {
    ...LIMITS,
    headers: { "user-agent": options.userAgent },
    createConnection: connectionTo(url, options.connectors[isExcepted ? "open" : "guarded"]),
  });
  const spoken = speak(socket, request.maxBytes ?? MAX_BYTES, signal);
  try {
    await failingUnsent(() => once(socket, "open"));
    const result = await work(spoken);
    socket.close(NORMAL_CLOSURE);
    return result;
  } catch (error) {
    socket.terminate();
    throw error;
  }
}

function httpOf(text: string): string {
  if (/^wss?:/i.test(text)) return text.replace(/^ws/i, "http");
  throw new AppError(
    "invalid",
    `The address ${quote(text)} is not one of a WebSocket. Give one that begins with wss://.`,
  );
}

/** As Node's own client asks for it: the connection comes up guarded, TLS with it, before it is handed out. */
function connectionTo(
  { host, hostname, protocol, port }: URL,
  connect: buildConnector.connector,
): NonNullable<ClientOptions["createConnection"]> {
  const create: NonNullable<ClientRequestArgs["createConnection"]> = (_options, onCreate) => {
    const target = { host, hostname: hostname.replace(/^\[|\]$/g, ""), protocol, port };
    connect(target, (error, socket) => {
      // Node takes no connection beside an error; its types want one.
      onCreate(error, socket as NonNullable<typeof socket>);
    });
    return null;
  };
  return create as unknown as NonNullable<ClientOptions["createConnection"]>;
}

async function failingUnsent(step: () => Promise<unknown>): Promise<void> {
  try {
    await step();
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new OutboundFailure(String(error), false, { cause: error, reason: reasonUnreachable(error) });
  }
}

function speak(socket: WebSocket, maxBytes: number, signal: AbortSignal): Socket {
  // What is not taken yet is not read: beyond one message the other side waits.
  const stream = createWebSocketStream(socket, {
    readableObjectMode: true,
    readableHighWaterMark: 1,
    signal,
  });
  // Its user gets its errors. One that comes between must not end the process.
  stream.on("error", () => {});
  socket.on("error", () => {});
  const leave = (why: string): void => {
    // What came along with it is still told, up to 32,000 pings.
    socket.removeAllListeners("ping").removeAllListeners("pong").removeAllListeners("message");
    stream.destroy(new Error(`The other side sent ${why}.`));
  };
  let controls = 0;
  const noteControl = (): void => {
    controls += 1;
    if (controls > MAX_CONTROLS) leave("more pings and pongs than a conversation takes");
  };
  socket.on("ping", noteControl).on("pong", noteControl);
  let bytes = 0;
  let count = 0;
  socket.on("message", (data: Buffer, isBinary) => {
    bytes += data.length;
    count += 1;
    if (isBinary) leave("something else than texts");
    else if (bytes > maxBytes || count > MAX_MESSAGES) leave("more than a conversation takes");
  });
  const messages = stream[Symbol.asyncIterator]();
  let wasSent = false;
  const failing = async <T>(step: () => Promise<T>): Promise<T> => {
    try {
      return await step();
    } catch (cause) {
      throw new OutboundFailure(String(cause), wasSent, { cause });
    }
  };
  return {
    send: (text) =>
      failing(() => {
        wasSent = true;
        return new Promise((resolve, reject) => {
          socket.send(text, (error) => (error ? reject(error) : resolve()));
        });
      }),
    receive: () => failing(async () => (await messages.next()).value ?? null),
  };
}

import { createHash, randomBytes } from "node:crypto";
import type { Duplex } from "node:stream";
import type { Client } from "undici";
import { AppError } from "../../domain/errors.ts";
import { quote, SECOND } from "../../domain/time.ts";
import { OutboundFailure } from "../../ports/outbound.ts";
import type { Socket, SocketRequest } from "../../ports/sockets.ts";
import type { AddressPolicy } from "./address-policy.ts";
import { reasonUnreachable } from "./unreachable.ts";
import { encodeFrame, OPCODE, readFrames } from "./frames.ts";

const TIMEOUT_MS = 30 * SECOND;
const MAX_BYTES = 4 * 1024 * 1024;

/** Put after the client's key by every server (RFC 6455, 1.3). */
const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

interface SocketDoor {
  readonly policy: AddressPolicy;
  readonly userAgent: string;
  single(origin: string, isExcepted: boolean): Client;
}

/** One conversation, see `src/ports/sockets.ts`: an HTTP request that is upgraded (RFC 6455), no extensions. */
export async function converse<T>(
  door: SocketDoor,
  request: SocketRequest,
  work: (socket: Socket) => Promise<T>,
): Promise<T> {
  const { url, isExcepted } = door.policy.check(httpOf(request.url), true);
  const limit = AbortSignal.timeout(request.timeoutMs ?? TIMEOUT_MS);
  const signal = request.signal === undefined ? limit : AbortSignal.any([limit, request.signal]);
  const client = door.single(url.origin, isExcepted);
  try {
    const stream = await open(client, { url, signal, userAgent: door.userAgent });
    const stop = (): unknown => stream.destroy(new Error("The time for the conversation was over."));
    signal.addEventListener("abort", stop, { once: true });
    try {
      const result = await work(speak(stream, request.maxBytes ?? MAX_BYTES));
      await say(stream, OPCODE.close, NORMAL).catch(() => {});
      return result;
    } finally {
      signal.removeEventListener("abort", stop);
      stream.destroy();
    }
  } finally {
    void client.destroy();
  }
}

const NORMAL = Buffer.from([0x03, 0xe8]);

function httpOf(text: string): string {
  if (/^wss?:/i.test(text)) return text.replace(/^ws/i, "http");
  throw new AppError(
    "invalid",
    `The address ${quote(text)} is not one of a WebSocket. Give one that begins with wss://.`,
  );
}

async function open(
  client: Client,
  { url, signal, userAgent }: { url: URL; signal: AbortSignal; userAgent: string },
): Promise<Duplex> {
  const key = randomBytes(16).toString("base64");
  try {
    const { socket, headers } = await client.upgrade({
      path: `${url.pathname}${url.search}`,
      method: "GET",
      protocol: "websocket",
      headers: { "user-agent": userAgent, "sec-websocket-key": key, "sec-websocket-version": "13" },
      signal,
    });
    // Who reads it hears of its errors; nobody must fall over one that comes between.
    socket.on("error", () => {});
    const accepted = createHash("sha1").update(`${key}${GUID}`).digest("base64");
    if (headers["sec-websocket-accept"] === accepted) return socket;
    socket.destroy();
    throw new Error("The other side does not speak WebSocket.");
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new OutboundFailure(String(error), false, { cause: error, reason: reasonUnreachable(error) });
  }
}

function speak(stream: Duplex, maxBytes: number): Socket {
  const messages = readMessages(stream, maxBytes);
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
        return say(stream, OPCODE.text, Buffer.from(text));
      }),
    receive: () => failing(async () => (await messages.next()).value ?? null),
  };
}

function say(stream: Duplex, opcode: number, payload: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(encodeFrame(opcode, payload), (error) => (error ? reject(error) : resolve()));
  });
}

/** Whole texts; pings are answered as they are read. Ends with the other side's close. */
async function* readMessages(stream: Duplex, maxBytes: number): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let parts: Buffer[] | null = null;
  for await (const { opcode, isFinal, payload } of readFrames(stream, maxBytes)) {
    if (opcode === OPCODE.close) return;
    if (opcode === OPCODE.ping) await say(stream, OPCODE.pong, payload);
    if (opcode >= OPCODE.close) continue;
    // A message that begins within another, goes on without one, or is not text.
    if (opcode !== (parts === null ? OPCODE.text : OPCODE.more))
      throw new Error("The other side sent something else than texts.");
    parts ??= [];
    parts.push(payload);
    if (!isFinal) continue;
    yield decoder.decode(Buffer.concat(parts));
    parts = null;
  }
}

import type { Server } from "node:http";
import type { Socket } from "node:net";
import { SECOND } from "../../domain/time.ts";

export interface ReaderLimits {
  /** How often it is looked how much was taken, in milliseconds. */
  readonly lookEveryMs: number;
  /** Whoever did not take 64 KiB, or the rest, within this many looks is left. */
  readonly maxLooks: number;
  /** The same while more waits than `maxWaitingBytes`. */
  readonly maxLooksWhenFull: number;
  /** Of all connections together. */
  readonly maxWaitingBytes: number;
}

/** A minute, which is 1 kB a second; two seconds while more than 128 MiB wait. */
export const READER_LIMITS: ReaderLimits = {
  lookEveryMs: SECOND,
  maxLooks: 60,
  maxLooksWhenFull: 2,
  maxWaitingBytes: 128 * 1024 * 1024,
};

const LEAST_TAKEN_BYTES = 64 * 1024;

/** What is known of a connection whose answer waits to be taken. */
interface Reader {
  readonly socket: Socket;
  readonly waiting: number;
  /** What it had taken when its looks were counted anew. */
  readonly taken: number;
  readonly looks: number;
}

/**
 * Leaves whoever does not take an answer, or takes it drop by drop, whatever the answer is: a page, a file, a
 * stream. Until then it lies in our memory. Ends with the server.
 */
export function leaveSlowReaders(server: Server, limits: ReaderLimits = READER_LIMITS): void {
  const sockets = new Set<Socket>();
  let readers = new Map<Socket, Reader>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const look = (): void => {
    readers = lookAt(sockets, readers);
    for (const { socket } of chooseSlow([...readers.values()], limits)) socket.destroy();
  };
  const timer = setInterval(look, limits.lookEveryMs).unref();
  server.once("close", () => clearInterval(timer));
}

function lookAt(sockets: ReadonlySet<Socket>, before: ReadonlyMap<Socket, Reader>): Map<Socket, Reader> {
  const readers = new Map<Socket, Reader>();
  for (const socket of sockets) {
    const waiting = socket.writableLength;
    if (waiting === 0) continue;
    const last = before.get(socket);
    const taken = takenOf(socket);
    const isSlow = last !== undefined && taken - last.taken < LEAST_TAKEN_BYTES;
    readers.set(
      socket,
      isSlow ? { ...last, waiting, looks: last.looks + 1 } : { socket, waiting, taken, looks: 0 },
    );
  }
  return readers;
}

/** First those who have been slow for longest, then those who hold most. */
function chooseSlow(readers: readonly Reader[], limits: ReaderLimits): Reader[] {
  let total = readers.reduce((sum, { waiting }) => sum + waiting, 0);
  return readers
    .toSorted((a, b) => b.looks - a.looks || b.waiting - a.waiting)
    .filter(({ waiting, looks }) => {
      const max = total > limits.maxWaitingBytes ? limits.maxLooksWhenFull : limits.maxLooks;
      if (looks < max) return false;
      total -= waiting;
      return true;
    });
}

/**
 * How many bytes the system took. Of an answer that was written at once Node counts nothing as taken before
 * all of it is; the socket's handle knows better, and Node's own timeout of sockets asks it too.
 */
function takenOf(socket: Socket): number {
  const handle: unknown = Reflect.get(socket, "_handle");
  if (
    typeof handle === "object" &&
    handle !== null &&
    "bytesWritten" in handle &&
    "writeQueueSize" in handle
  ) {
    const { bytesWritten, writeQueueSize } = handle;
    if (typeof bytesWritten === "number" && typeof writeQueueSize === "number")
      return bytesWritten - writeQueueSize;
  }
  return socket.bytesWritten - socket.writableLength;
}

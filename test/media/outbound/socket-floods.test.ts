import { once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it } from "vitest";
import { createOutbound } from "../../../src/media/outbound/outbound.ts";

const MiB = 1024 * 1024;
const RELAYS = 10;

/**
 * A server of its own thread, so that only what the client does holds up the client. It does the handshake by
 * hand and sends the flood again and again as fast as it is taken.
 */
const HOSTILE = `
const { createServer } = require("node:net");
const { createHash } = require("node:crypto");
const { parentPort, workerData } = require("node:worker_threads");
const flood = Buffer.from(workerData.start);
const server = createServer((socket) => {
  socket.on("error", () => {});
  socket.once("data", (head) => {
    const [, key] = /sec-websocket-key: (\\S+)/i.exec(String(head)) ?? [];
    const accept = createHash("sha1").update(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest("base64");
    socket.write("HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n" +
      "Sec-WebSocket-Accept: " + accept + "\\r\\n\\r\\n");
    socket.write(flood);
    socket.resume();
  });
}).listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

const workers: Worker[] = [];
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.terminate();
});

async function startRelay(flood: Buffer): Promise<string> {
  const worker = new Worker(HOSTILE, { eval: true, workerData: { start: flood } });
  workers.push(worker);
  const [port] = (await once(worker, "message")) as [number];
  return `ws://127.0.0.1:${port}/`;
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function heldBytes(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The most that was held while it ran, and the longest that nothing else was done. */
async function watch(work: () => Promise<void>): Promise<{ heldBytes: number; longestStopMs: number }> {
  collectGarbage();
  const before = heldBytes();
  let most = before;
  let longestStopMs = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const stop = performance.now() - last;
    if (heldBytes() > before + 40 * MiB) collectGarbage();
    most = Math.max(most, heldBytes());
    longestStopMs = Math.max(longestStopMs, stop);
    last = performance.now();
  }, 5);
  await work();
  clearInterval(timer);
  return {
    heldBytes: most - before,
    longestStopMs: Math.max(longestStopMs, performance.now() - last),
  };
}

const ping = Buffer.from([0x89, 0x00]);
const emptyPart = Buffer.from([0x00, 0x00]);
const begun = Buffer.from([0x01, 0x01, 0x78]);
const tiny = Buffer.from([0x81, 0x02, 0x5b, 0x5d]);
const pong = Buffer.from([0x8a, 0x00]);

function repeated(frame: Buffer, bytes: number): Buffer {
  return Buffer.alloc(bytes - (bytes % frame.length), frame);
}

describe("a server that floods", () => {
  it.each([
    ["empty parts of one message", Buffer.concat([begun, repeated(emptyPart, 4.12e6)])],
    ["pings", repeated(ping, 4.12e6)],
    ["pongs", repeated(pong, 4.12e6)],
    ["a million tiny messages", repeated(tiny, 4.12e6)],
  ])("with %s costs little and holds up nobody", async (_what, flood) => {
    await using door = createOutbound({ allowedHosts: [{ host: "127.0.0.1", port: null }] });
    const url = await startRelay(flood);
    const told = await watch(async () => {
      const ends = Array.from({ length: RELAYS }, () =>
        door
          .converse({ url, timeoutMs: 10_000 }, async (socket) => {
            while ((await socket.receive()) !== null);
          })
          .then(
            () => "ended",
            (error: unknown) => String(error),
          ),
      );
      for (const end of await Promise.all(ends)) expect(end).toMatch(/^OutboundFailure: .*(more|many)/i);
    });
    expect(told.heldBytes).toBeLessThan(50 * MiB);
    expect(told.longestStopMs).toBeLessThan(1_000);
  });
});

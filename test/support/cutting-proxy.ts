import { connect, createServer, type Socket } from "node:net";
import { once } from "node:events";
import { listen } from "./listen.ts";

/**
 * When a connection is cut. `before`: the words do not arrive. `during`: they arrive, and nothing is waited for.
 * `after`: the server has answered, and its answer does not arrive. `silence`: as `after`, but nobody is told.
 */
export type Cut = "before" | "during" | "after" | "silence";

export interface CuttingProxy extends AsyncDisposable {
  readonly port: number;
  /** The next connection that says these words is cut. */
  cutAt(words: string, cut: Cut): void;
  /** How many were cut. */
  readonly cuts: number;
  /** From the next cut on nobody gets through any more; undone by `open`. */
  shutWithNextCut(): void;
  open(): void;
}

/** A TCP proxy on loopback before a server on loopback. */
export async function startCuttingProxy(target: number): Promise<CuttingProxy> {
  const open = new Set<Socket>();
  let next: { readonly words: string; readonly cut: Cut } | null = null;
  let cuts = 0;
  let isShut = false;
  let isShutting = false;
  const count = (): void => {
    cuts += 1;
    isShut = isShutting;
  };
  const server = createServer((client) => {
    if (isShut) return void client.destroy();
    const upstream = connect(target, "127.0.0.1");
    const both = [client, upstream];
    for (const socket of both) {
      open.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => {
        open.delete(socket);
        if (!isSilent) for (const other of both) other.destroy();
      });
    }
    let isSilent = false;
    const end = (): void => {
      for (const socket of both) socket.destroy();
    };
    const onAnswer = (cut: Cut): void => {
      upstream.removeAllListeners("data");
      upstream.once("data", () => {
        count();
        isSilent = cut === "silence";
        if (!isSilent) end();
      });
    };
    client.on("data", (chunk: Buffer) => {
      if (next === null || !chunk.includes(next.words)) return void upstream.write(chunk);
      const { cut } = next;
      next = null;
      if (cut === "before" || cut === "during") count();
      if (cut === "before") return end();
      if (cut === "during") return void upstream.write(chunk, end);
      onAnswer(cut);
      upstream.write(chunk);
    });
    upstream.on("data", (chunk: Buffer) => void client.write(chunk));
  });
  const { port } = await listen(server);
  return {
    port,
    cutAt: (words, cut) => {
      next = { words, cut };
    },
    get cuts() {
      return cuts;
    },
    shutWithNextCut: () => {
      isShutting = true;
    },
    open: () => {
      isShut = false;
      isShutting = false;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

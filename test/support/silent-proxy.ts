import { connect, createServer, type Socket } from "node:net";
import { listen } from "./listen.ts";

/** Stands before a server, and can fall silent: nothing passes any more, and nobody is told. */
export interface SilentProxy extends AsyncDisposable {
  readonly port: number;
  silence(): void;
  /** New connections pass again; what was silent stays so. */
  speak(): void;
}

export async function startSilentProxy(target: number): Promise<SilentProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isSilent = false;
  const server = createServer((client) => {
    if (isSilent) return;
    const upstream = connect(target, "127.0.0.1");
    const pair = [client, upstream] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [upstream, client]] as const) {
      from.pipe(to);
      from.on("error", () => to.destroy());
    }
  });
  const { port } = await listen(server);
  return {
    port,
    silence() {
      isSilent = true;
      for (const [client, upstream] of pairs) {
        // Not even the end of one side reaches the other.
        for (const socket of [client, upstream]) socket.unpipe().pause().removeAllListeners("end");
      }
    },
    speak() {
      isSilent = false;
    },
    async [Symbol.asyncDispose]() {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      server.close();
    },
  };
}

import { once } from "node:events";
import { Server as HttpServer } from "node:http";
import type { AddressInfo, Server } from "node:net";

/** Where a server of a test listens: a free port of this machine, until it is disposed of. */
export interface Listening extends AsyncDisposable {
  readonly port: number;
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
}

export async function listen(server: Server): Promise<Listening> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      // In this order: a connection that comes in between would be waited for.
      const closed = once(server.close(), "close");
      if (server instanceof HttpServer) server.closeAllConnections();
      await closed;
    },
  };
}

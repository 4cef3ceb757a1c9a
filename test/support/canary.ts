import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A loopback server that counts who reached it. */
export interface Canary extends AsyncDisposable {
  readonly port: number;
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  readonly requests: {
    readonly method: string;
    readonly url: string;
    readonly headers: IncomingMessage["headers"];
  }[];
  readonly server: Server;
  /** Connections opened, also those on which nothing was asked. */
  connections: number;
}

/** Listens on 127.0.0.1 and, where the machine has IPv6, on ::1 at the same port. */
export async function startCanary(
  listener: RequestListener = (_request, response) => response.end("reached"),
): Promise<Canary> {
  const requests: Canary["requests"] = [];
  const handle: RequestListener = (request, response) => {
    requests.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers });
    listener(request, response);
  };
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const second = createServer(handle);
  await new Promise<void>((resolve) => second.once("error", () => resolve()).listen(port, "::1", resolve));
  const canary: Canary = {
    port,
    origin: `http://127.0.0.1:${port}`,
    requests,
    server,
    connections: 0,
    async [Symbol.asyncDispose]() {
      for (const each of [server, second]) {
        each.closeAllConnections();
        await new Promise((resolve) => each.close(resolve));
      }
    },
  };
  for (const each of [server, second]) each.on("connection", () => (canary.connections += 1));
  return canary;
}

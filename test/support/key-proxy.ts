import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

interface KeyProxy extends AsyncDisposable {
  readonly url: string;
}

/** Adds the key for a client that cannot send one, and leaves everything else alone, Host and Origin too. */
export async function startKeyProxy(port: number, key: string): Promise<KeyProxy> {
  const server = createServer((incoming, response) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${key}` };
    const onward = request(
      { host: "127.0.0.1", port, path: incoming.url, method: incoming.method, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        // A stream that has nothing to say yet is open already.
        response.flushHeaders();
        answer.pipe(response);
      },
    );
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

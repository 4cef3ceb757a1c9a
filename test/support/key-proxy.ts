import { createServer, request } from "node:http";
import { listen } from "./listen.ts";

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
  const listening = await listen(server);
  return {
    url: listening.origin,
    [Symbol.asyncDispose]: listening[Symbol.asyncDispose],
  };
}

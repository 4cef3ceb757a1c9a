import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { readSetup } from "../../src/app/setup.ts";
import { startServer } from "../../src/app/start-server.ts";
import { send } from "./http.ts";
import { cookieOf } from "./page.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const KEY = "a-fixed-key-of-this-test-alone-0123456789";

/** The whole product with OAuth, behind a reverse proxy with https, as people run it. */
export interface PublicServer extends AsyncDisposable {
  /** https, known to those who trust `certificate`. */
  readonly origin: string;
  /** The path of a file, for NODE_EXTRA_CA_CERTS. */
  readonly certificate: string;
  /** What a person's browser does with a program's question: opens it, signs in, says yes. Where it is led then. */
  allow(authorizeUrl: string): Promise<URL>;
}

export async function startPublicServer(): Promise<PublicServer> {
  const folder = temporaryFolder();
  const certificate = join(folder.path, "server.crt");
  await promisify(execFile)("openssl", [
    ..."req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test".split(" "),
    ...["-addext", "subjectAltName=IP:127.0.0.1"],
    ...["-keyout", join(folder.path, "server.key"), "-out", certificate],
  ]);
  const key = await readFile(join(folder.path, "server.key"));
  let port = 0;
  const front = createServer({ key, cert: await readFile(certificate) }, (incoming, answer) => {
    const { method, url, headers } = incoming;
    const outgoing = request({ host: "127.0.0.1", port, method, path: url, headers }, (found) => {
      answer.writeHead(found.statusCode ?? 502, found.headers);
      found.pipe(answer);
    });
    outgoing.on("error", () => answer.destroy());
    incoming.pipe(outgoing);
  });
  front.listen(0, "127.0.0.1");
  await once(front, "listening");
  const origin = `https://127.0.0.1:${(front.address() as AddressInfo).port}`;
  const env = {
    ...folder.env,
    POSTHORN_PORT: "0",
    POSTHORN_LOG_LEVEL: "silent",
    POSTHORN_API_KEY: KEY,
    POSTHORN_OAUTH: "on",
    POSTHORN_PUBLIC_URL: origin,
  };
  const setup = await readSetup(env);
  const server = await startServer({ setup, self: { host: "test", pid: process.pid }, role: "serve" });
  port = Number(new URL(server.address).port);
  return {
    origin,
    certificate,
    async allow(authorizeUrl) {
      const { pathname, search, host } = new URL(authorizeUrl);
      const asked = await send(port, `GET ${pathname}${search}`, { headers: { Host: host } });
      const question = new URL(asked.headers["location"] ?? "about:blank").searchParams.get("request");
      if (question === null) throw new Error(`No question: ${asked.status} ${asked.text}`);
      const headers = { "X-Posthorn-Page": "1", Origin: origin, Host: host };
      const signedIn = await send(port, "POST /app/api/session", { headers, json: { key: KEY } });
      const Cookie = cookieOf(signedIn);
      const json = { decision: "allow", role: "writer" };
      const target = `POST /app/api/consents/${question}`;
      const answer = await send(port, target, { headers: { ...headers, Cookie }, json });
      if (answer.status !== 200) throw new Error(answer.text);
      return new URL(answer.json.redirectUrl);
    },
    async [Symbol.asyncDispose]() {
      front.closeAllConnections();
      front.close();
      await server[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

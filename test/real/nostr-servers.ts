import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { openDoor } from "./door.ts";

const PACKAGES = [
  "@nostr-relay/core@0.0.40",
  "@nostr-relay/validator@0.0.40",
  "@nostr-relay/event-repository-sqlite@0.0.40",
  "nostr-tools@2.25.2",
  "ws@8.23.0",
];

/** As its README has it. `auth`: nobody writes who did not sign in. */
const RELAY = `
import { NostrRelay } from "@nostr-relay/core";
import { EventRepositorySqlite } from "@nostr-relay/event-repository-sqlite";
import { Validator } from "@nostr-relay/validator";
import { WebSocketServer } from "ws";
const needsAuth = process.argv[2] === "auth";
const events = new EventRepositorySqlite(":memory:");
await events.init();
const relay = new NostrRelay(events, needsAuth ? { hostname: "127.0.0.1" } : {});
const validator = new Validator();
const server = new WebSocketServer({ port: 0, host: "127.0.0.1" }, () => console.log(server.address().port));
server.on("connection", (socket) => {
  relay.handleConnection(socket);
  socket.on("message", async (data) => {
    try {
      const message = await validator.validateIncomingMessage(data);
      if (needsAuth && message[0] === "EVENT" && !relay.isAuthorized(socket))
        return socket.send(JSON.stringify(["OK", message[1].id, false, "auth-required: who are you?"]));
      await relay.handleMessage(socket, message);
    } catch (error) {
      socket.send(JSON.stringify(["NOTICE", error.message]));
    }
  });
  socket.on("close", () => relay.handleDisconnect(socket));
});
`;

export function install(folder: string): void {
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  execFileSync("npm", ["install", ...quiet, ...PACKAGES], { cwd: folder, stdio: "inherit" });
  // Its own would have to be compiled.
  const own = join(folder, "node_modules/better-sqlite3");
  rmSync(own, { recursive: true, force: true });
  symlinkSync(join(import.meta.dirname, "../../node_modules/better-sqlite3"), own);
  writeFileSync(join(folder, "relay.js"), RELAY);
}

export async function startRelay(folder: string, kind: "open" | "auth") {
  const child = spawn(process.execPath, ["relay.js", kind], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [port] = await once(child.stdout, "data");
  const door = await openDoor(Number(String(port).trim()));
  return {
    url: `ws://127.0.0.1:${door.port}/`,
    door,
    async [Symbol.asyncDispose]() {
      child.kill();
      await once(child, "exit");
      await door[Symbol.asyncDispose]();
    },
  };
}

type Tools = { verifyEvent(event: unknown): boolean };

/** PUT /upload of BUD-02; the authorization is judged by nostr-tools. */
export async function startFiles({ verifyEvent }: Tools) {
  const files = new Map<string, Buffer>();
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => null);
    if (body === null) return;
    const sha256 = createHash("sha256").update(body).digest("hex");
    const token = (request.headers.authorization ?? "").replace(/^Nostr /, "");
    const event = JSON.parse(Buffer.from(token, "base64").toString() || "{}");
    const isRight =
      request.method === "HEAD" ||
      (verifyEvent(event) && event.tags.some((tag: string[]) => tag[1] === sha256));
    if (!isRight) return void response.writeHead(401).end();
    if (request.method === "HEAD")
      return void response.writeHead(files.has(request.url ?? "") ? 200 : 404).end();
    const path = `/${sha256}.${request.headers["content-type"]?.split("/")[1]}`;
    files.set(path, body);
    response.writeHead(201, { "content-type": "application/json" });
    response.end(JSON.stringify({ url: `${base}${path}`, sha256, size: body.length, type: "", uploaded: 1 }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const door = await openDoor((server.address() as AddressInfo).port);
  const base = `http://127.0.0.1:${door.port}`;
  const close = async (): Promise<void> => {
    server.close();
    await door[Symbol.asyncDispose]();
  };
  return { base, door, files, [Symbol.asyncDispose]: close };
}

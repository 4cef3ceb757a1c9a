import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { WebSocketClientTransport } from "@modelcontextprotocol/sdk/client/websocket.js";
import { programOf } from "./run.mjs";
import { connectSdk, overStdio } from "./sdk.mjs";

const SUPERGATEWAY = programOf("supergateway/dist/index.js");

export const http = ({ origin, key }) => inward("--streamableHttp", `${origin}/mcp`, key);
export const sse = ({ origin, key }) => inward("--sse", `${origin}/sse`, key);
export const stdioToHttp = (server) =>
  outward(
    server,
    ["streamableHttp", "--stateful"],
    (at) => new StreamableHTTPClientTransport(new URL(`http://${at}/mcp`)),
  );
export const stdioToSse = (server) =>
  outward(server, ["sse"], (at) => new SSEClientTransport(new URL(`http://${at}/sse`)));
export const stdioToWebSocket = (server) =>
  outward(server, ["ws"], (at) => new WebSocketClientTransport(new URL(`ws://${at}/message`)));

function inward(kind, url, key) {
  return overStdio([SUPERGATEWAY, kind, url, "--oauth2Bearer", key, "--logLevel", "none"]);
}

async function outward({ command, args, env }, output, transportTo) {
  const port = await freePort();
  const stdio = [command, ...args].join(" ");
  const gateway = spawn(
    process.execPath,
    [SUPERGATEWAY, "--stdio", stdio, "--outputTransport", ...output, "--port", String(port)],
    { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "inherit"] },
  );
  await listening(gateway);
  const session = await connectSdk(transportTo(`127.0.0.1:${port}`));
  return {
    ...session,
    async close() {
      await session.close();
      gateway.kill();
      await once(gateway, "exit");
    },
  };
}

function listening(gateway) {
  return new Promise((resolve, reject) => {
    gateway.stdout.on("data", (chunk) => /Listening on port/.test(chunk) && resolve());
    gateway.once("exit", () => reject(new Error("The gateway ended before it listened.")));
  });
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

import { MCPServerSSE, MCPServerStdio, MCPServerStreamableHttp } from "@openai/agents";
import { readResult } from "./run.mjs";

export const stdio = ({ command, args, env }) => session(new MCPServerStdio({ command, args, env }));
export const http = ({ origin, key }) => session(new MCPServerStreamableHttp(remote(`${origin}/mcp`, key)));
export const sse = ({ origin, key }) => session(new MCPServerSSE(remote(`${origin}/sse`, key)));

function remote(url, key) {
  return { url, requestInit: { headers: { Authorization: `Bearer ${key}` } } };
}

async function session(server) {
  await server.connect();
  return {
    list: async () => (await server.listTools()).map(({ name }) => name),
    call: async (name, args) => readResult(await server.callToolResult(name, args)),
    close: () => server.close(),
  };
}

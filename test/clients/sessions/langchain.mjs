import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { settle } from "./run.mjs";

export const stdio = ({ command, args, env }) => session({ transport: "stdio", command, args, env });
export const http = ({ origin, key }) => session(remote("http", `${origin}/mcp`, key));
export const sse = ({ origin, key }) => session(remote("sse", `${origin}/sse`, key));

function remote(transport, url, key) {
  return { transport, url, headers: { Authorization: `Bearer ${key}` }, automaticSSEFallback: false };
}

async function session(server) {
  const client = new MultiServerMCPClient({ mcpServers: { posthorn: server } });
  const tools = await client.getTools();
  return {
    list: async () => tools.map(({ name }) => name),
    call: (name, args) => settle(tools.find((tool) => tool.name === name).invoke(args), ({ text }) => text),
    close: () => client.close(),
  };
}

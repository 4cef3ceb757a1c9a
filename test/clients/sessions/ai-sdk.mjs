import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as StdioTransport } from "@ai-sdk/mcp/mcp-stdio";
import { readResult } from "./run.mjs";

export const stdio = ({ command, args, env }) => session(new StdioTransport({ command, args, env }));
export const http = ({ origin, key }) => session(remote("http", `${origin}/mcp`, key));
export const sse = ({ origin, key }) => session(remote("sse", `${origin}/sse`, key));

function remote(type, url, key) {
  return { type, url, headers: { Authorization: `Bearer ${key}` } };
}

async function session(transport) {
  const client = await createMCPClient({ transport });
  const tools = await client.tools();
  return {
    list: async () => Object.keys(tools),
    call: async (name, args) =>
      readResult(await tools[name].execute(args, { toolCallId: "1", messages: [] })),
    close: () => client.close(),
  };
}

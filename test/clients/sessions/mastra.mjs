import { MCPClient } from "@mastra/mcp";
import { settle } from "./run.mjs";

export const stdio = ({ command, args, env }) => session({ command, args, env });
export const http = ({ origin, key }) =>
  session({ url: new URL(`${origin}/mcp`), requestInit: { headers: { Authorization: `Bearer ${key}` } } });

async function session(server) {
  const client = new MCPClient({ servers: { posthorn: server } });
  const { posthorn: tools } = await client.listToolsets();
  return {
    list: async () => Object.keys(tools),
    call: (name, args) => settle(tools[name].execute(args, {}), JSON.stringify),
    close: () => client.disconnect(),
  };
}

import { programOf } from "./run.mjs";
import { overStdio } from "./sdk.mjs";

const MCP_REMOTE = programOf("mcp-remote/dist/proxy.js");

export const http = ({ origin, key }) => proxy(`${origin}/mcp`, "http-only", key);
export const sse = ({ origin, key }) => proxy(`${origin}/sse`, "sse-only", key);
/** Its other mode, in which it speaks the newest revision of the protocol to the server. */
export const modern = ({ origin, key }) => proxy(`${origin}/mcp`, "http-only", key, "--protocol", "auto");

function proxy(url, strategy, key, ...more) {
  return overStdio([
    MCP_REMOTE,
    url,
    "--transport",
    strategy,
    "--header",
    `Authorization:Bearer ${key}`,
    ...more,
  ]);
}

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { readResult } from "./run.mjs";

/** A client of the official SDK, as it sits before or behind a proxy. */
export async function connectSdk(transport) {
  const client = new Client({ name: "posthorn-test", version: "1.0.0" });
  await client.connect(transport);
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args) => readResult(await client.callTool({ name, arguments: args })),
    close: () => client.close(),
  };
}

/** Talks to a program of this workspace over its standard input and output. */
export function overStdio(args) {
  return connectSdk(
    new StdioClientTransport({ command: process.execPath, args, env: process.env, stderr: "inherit" }),
  );
}

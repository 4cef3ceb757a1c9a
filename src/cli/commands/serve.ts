import { once } from "node:events";
import { AppError } from "../../domain/errors.ts";
import { PERMISSIONS } from "../../domain/permissions.ts";
import { role, type Row, row, unless } from "../command.ts";
import type { Host, Server } from "../host.ts";
import { readPermissionOptions } from "../options.ts";

const TOOLS_HELP = "all, or the sets of tools that MCP lists (like POSTHORN_TOOLS)";

export const DEMO: Row = row({
  name: "demo",
  about: "watch a post with a picture go out in 15 seconds, with no account anywhere",
  takes: { "--exit": "end when the post is live instead of keeping its page up" },
  help: "\nIt works in a temporary folder on a free port: your own data and a running Posthorn are not touched.",
  async run({ exit }, host) {
    const { runDemo } = await import("../demo/run-demo.ts");
    await runDemo(host, exit === true);
  },
});

export const SERVE: Row = row({
  name: "serve",
  about: "run the HTTP API, MCP over HTTP, the pages and the publisher",
  takes: {
    "--port <port>": "listen on this port, instead of POSTHORN_PORT",
    "--host <address>": "listen on this address, instead of POSTHORN_HOST",
    "--tools <sets>": TOOLS_HELP,
    "--api": unless("publisher", "run no publisher: only HTTP, MCP and pages"),
    "--publisher": "only publish: the port has /healthz, /readyz and /metrics, and nothing else",
  },
  help: `
It listens on POSTHORN_HOST and POSTHORN_PORT (127.0.0.1:4747) and keeps everything in the data folder.
Stop it with Ctrl-C or SIGTERM: what is under way is finished first.
With --api or --publisher it runs one half, for machines with one purpose. Run at least one of each.

Examples:
  posthorn serve --port 8080
  POSTHORN_PORT=8080 POSTHORN_PUBLIC_URL=https://posts.example.com posthorn serve`,
  async run({ api, publisher, ...given }, host) {
    const half = api === true ? "api" : publisher === true ? "publisher" : undefined;
    await using server = await host.startServer({ role: "serve", half, ...given });
    host.terminal.print(greet(host, server));
    const { lost } = server.ctx.store;
    const end = AbortSignal.any([host.stopSignal, lost]);
    if (!end.aborted) await once(end, "abort");
    lost.throwIfAborted();
    host.terminal.tell("Posthorn is stopping. What is under way is finished first.\n");
  },
});

function greet(host: Host, server: Server): string {
  const { publicUrl, feedPage } = server;
  const faces =
    server.half === "publisher"
      ? [`  Publisher    without the API. Health at ${server.address}/readyz`]
      : [
          `  HTTP API     ${publicUrl}/api/v1   described at ${publicUrl}/api/v1/docs`,
          `  MCP          ${publicUrl}/mcp      (older clients: ${publicUrl}/sse)`,
          ...(server.half === "api"
            ? [`  Publisher    none in this process ("${host.findCommand()} serve --publisher" runs one)`]
            : []),
        ];
  return [
    `Posthorn ${host.version} is listening on ${server.address}`,
    ...describePage(server, host.findCommand()),
    ...(feedPage === null ? [] : [`  Your feed    ${feedPage}`]),
    ...faces,
    `  Data folder  ${server.folder}`,
    ...(server.beside === null
      ? []
      : [`               (served already at ${server.beside}: each post goes out once all the same)`]),
    ...server.news.map((sentence) => `  Database     ${sentence}`),
    ...describeKey(server),
    "",
  ].join("\n");
}

function describePage({ signInUrl }: Server, command: string): string[] {
  if (signInUrl === null) return [];
  return [
    `  Page         ${signInUrl}`,
    `               (signs in once, within 10 minutes. Later: ${command} open)`,
  ];
}

function describeKey({ firstKey, apiKeyFile }: Server): string[] {
  const kept = apiKeyFile === null ? [] : [`kept in ${apiKeyFile}`];
  if (firstKey === null) return kept.map((text) => `  API key      ${text}`);
  return [`  API key      ${firstKey}`, `               (${["shown only once", ...kept].join(", ")})`];
}

export const STDIO: Row = row({
  name: "stdio",
  about: "speak MCP on standard input and output, for an agent's client (the default command)",
  isDefault: true,
  takes: {
    "--permissions <list>": "what the agent may do, separated by commas (default: all)",
    "--role <role>": role("a name for permissions, instead of --permissions"),
    "--tools <sets>": TOOLS_HELP,
  },
  help: `
An agent's client starts this; its configuration looks like this:
  { "mcpServers": { "posthorn": { "command": "posthorn" } } }

It needs no key: it works for the default owner. It also publishes, safely beside other Posthorn processes, as long
as it runs. With --role viewer the agent sees everything and changes nothing.`,
  async run({ tools, ...given }, host, command) {
    const [unknown] = command.args;
    if (unknown !== undefined) {
      const names = command.parent?.commands.map((one) => one.name()).join(", ");
      throw new AppError(
        "invalid",
        `There is no command "${unknown.slice(0, 40)}". The commands are ${names}. See posthorn --help.`,
      );
    }
    const permissions = readPermissionOptions(given) ?? PERMISSIONS;
    if (host.terminal.isInteractive)
      host.terminal.tell(
        `Posthorn speaks MCP here: an agent's client should start it. "${host.findCommand()} --help" lists what you can type. Ctrl-C ends this.\n`,
      );
    await host.runStdio({ permissions, tools });
  },
});

import { once } from "node:events";
import { type Command, Option } from "commander";
import type { Host, Server } from "../host.ts";
import { AppError } from "../../domain/errors.ts";
import { PERMISSIONS } from "../../domain/permissions.ts";
import { type PermissionOptions, readPermissionOptions, roleOption } from "../options.ts";

interface ServeOptions {
  readonly port?: string;
  readonly host?: string;
  readonly tools?: string;
  readonly api?: true;
  readonly publisher?: true;
}

export function addDemoCommand(program: Command, host: Host): void {
  program
    .command("demo")
    .description("watch a post with a picture go out in 15 seconds, with no account anywhere")
    .option("--exit", "end when the post is live instead of keeping its page up")
    .addHelpText(
      "after",
      "\nIt works in a temporary folder on a free port: your own data and a running Posthorn are not touched.",
    )
    .action(async (options: { exit?: true }) => {
      const { runDemo } = await import("../demo/run-demo.ts");
      await runDemo(host, options);
    });
}

export function addServeCommand(program: Command, host: Host): void {
  program
    .command("serve")
    .description("run the HTTP API, MCP over HTTP, the pages and the publisher")
    .option("--port <port>", "listen on this port, instead of POSTHORN_PORT")
    .option("--host <address>", "listen on this address, instead of POSTHORN_HOST")
    .option("--tools <sets>", "all, or the sets of tools that MCP lists (like POSTHORN_TOOLS)")
    .addOption(new Option("--api", "run no publisher: only HTTP, MCP and pages").conflicts("publisher"))
    .option("--publisher", "only publish: the port has /healthz, /readyz and /metrics, and nothing else")
    .addHelpText(
      "after",
      `
It listens on POSTHORN_HOST and POSTHORN_PORT (127.0.0.1:4747) and keeps everything in the data folder.
Stop it with Ctrl-C or SIGTERM: what is under way is finished first.
With --api or --publisher it runs one half, for machines with one purpose. Run at least one of each.

Examples:
  posthorn serve --port 8080
  POSTHORN_PORT=8080 POSTHORN_PUBLIC_URL=https://posts.example.com posthorn serve`,
    )
    .action((options: ServeOptions) => serve(host, options));
}

async function serve(host: Host, { api, publisher, ...options }: ServeOptions): Promise<void> {
  const half = api === true ? "api" : publisher === true ? "publisher" : null;
  await using server = await host.startServer({ role: "serve", ...(half !== null && { half }), ...options });
  host.terminal.print(greet(host, server));
  const { lost } = server.ctx.store;
  const end = AbortSignal.any([host.stopSignal, lost]);
  if (!end.aborted) await once(end, "abort");
  lost.throwIfAborted();
  host.terminal.tell("Posthorn is stopping. What is under way is finished first.\n");
}

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

interface Options extends PermissionOptions {
  readonly tools?: string;
}

export function addStdioCommand(program: Command, host: Host): void {
  const command = program
    .command("stdio", { isDefault: true })
    .description("speak MCP on standard input and output, for an agent's client (the default command)")
    .option("--permissions <list>", "what the agent may do, separated by commas (default: all)")
    .addOption(roleOption("a name for permissions, instead of --permissions"))
    .option("--tools <sets>", "all, or the sets of tools that MCP lists (like POSTHORN_TOOLS)")
    // A mistyped command ends up here too. It deserves a better sentence than "too many arguments".
    .allowExcessArguments(true)
    .addHelpText(
      "after",
      `
An agent's client starts this; its configuration looks like this:
  { "mcpServers": { "posthorn": { "command": "posthorn" } } }

It needs no key: it works for the default owner. It also publishes, safely beside other Posthorn processes, as long
as it runs. With --role viewer the agent sees everything and changes nothing.`,
    );
  command.action((options: Options) => stdio(host, program, { ...options, unknown: command.args[0] }));
}

async function stdio(
  host: Host,
  program: Command,
  options: Options & { readonly unknown: string | undefined },
): Promise<void> {
  if (options.unknown !== undefined) {
    const names = program.commands.map((command) => command.name()).join(", ");
    throw new AppError(
      "invalid",
      `There is no command "${options.unknown.slice(0, 40)}". The commands are ${names}. See posthorn --help.`,
    );
  }
  const permissions = readPermissionOptions(options) ?? PERMISSIONS;
  if (host.terminal.isInteractive) {
    host.terminal.tell(
      `Posthorn speaks MCP here: an agent's client should start it. "${host.findCommand()} --help" lists what you can type. Ctrl-C ends this.\n`,
    );
  }
  const { tools } = options;
  await host.runStdio({ permissions, ...(tools === undefined ? {} : { tools }) });
}

import type { Command } from "commander";
import { AppError } from "../../domain/errors.ts";
import { PERMISSIONS } from "../../domain/permissions.ts";
import type { Host } from "../host.ts";
import { readPermissionOptions, roleOption, type PermissionOptions } from "../options.ts";

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
    // A mistyped command ends up here too, because this is the default; it deserves a better sentence than
    // "too many arguments".
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
      'Posthorn speaks MCP here: an agent\'s client should start it. "posthorn --help" lists what you can type. Ctrl-C ends this.\n',
    );
  }
  const { tools } = options;
  await host.runStdio({ permissions, ...(tools === undefined ? {} : { tools }) });
}

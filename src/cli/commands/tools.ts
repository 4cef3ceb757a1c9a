import type { Command } from "commander";
import { AppError } from "../../domain/errors.ts";
import { quote } from "../../domain/time.ts";
import type { ToolListing } from "../../toolkit/toolbox.ts";
import type { Host } from "../host.ts";
import { toJsonText } from "../json.ts";
import { localCaller } from "../local-caller.ts";

interface ToolsOptions {
  readonly short?: true;
  readonly json?: true;
}

export function addToolsCommand(program: Command, host: Host): void {
  program
    .command("tools")
    .description("list the tools with their JSON Schemas")
    .argument("[tool]", "only this one")
    .option("-s, --short", "one line a tool instead of JSON (always so on a terminal)")
    .option("--json", "print JSON on a terminal, too")
    .addHelpText(
      "after",
      `
Examples:
  posthorn tools --short
  posthorn tools schedule_post`,
    )
    .action((name: string | undefined, options: ToolsOptions) => listTools(host, name, options));
}

async function listTools(host: Host, name: string | undefined, options: ToolsOptions): Promise<void> {
  await using session = await host.openSession();
  const all = session.toolbox.list(localCaller());
  const tools = name === undefined ? all : all.filter((tool) => tool.name === name);
  if (name !== undefined && tools.length === 0) {
    throw new AppError(
      "not_found",
      `There is no tool ${quote(name)}. The tools are ${all.map((tool) => tool.name).join(", ")}.`,
    );
  }
  const isShort = options.short === true || (host.terminal.isScreen && name === undefined);
  host.terminal.print(
    isShort && options.json !== true
      ? shortList(tools)
      : toJsonText(name === undefined ? { tools } : tools[0]),
  );
}

function shortList(tools: readonly ToolListing[]): string {
  const width = Math.max(...tools.map((tool) => tool.name.length));
  return tools
    .map((tool) => `${tool.name.padEnd(width)}  ${tool.permission.padEnd(8)}  ${tool.title}\n`)
    .join("");
}

import type { Command } from "commander";
import { unknownTool } from "../../toolkit/nearest-tool.ts";
import type { ToolListing } from "../../toolkit/toolbox.ts";
import type { Host } from "../host.ts";
import { parseJson, toJsonText } from "../options.ts";
import { localCaller, shellCaller } from "../../access/api-keys.ts";
import { alwaysAsked, publishDue } from "../shell/outcomes.ts";
import { printList } from "../shell/views.ts";

interface ToolsOptions {
  readonly short?: true;
  readonly json?: true;
}

export function addToolCommands(program: Command, host: Host): void {
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
  program
    .command("call")
    .description("call a tool and print its result")
    .argument("<tool>", 'name of the tool ("posthorn tools --short" lists them)')
    .argument("[json]", "its arguments as a JSON object, or - to read them from standard input", "{}")
    .option("--json", "print lists as JSON on a terminal, too")
    .addHelpText(
      "after",
      `
The result is JSON. On a terminal, a list is a short table. Where nothing else publishes on the data folder, this command
publishes a post that is due at once, and prints what became of it.

Examples:
  posthorn call list_posts '{"status":["scheduled"],"limit":5}'
  posthorn call get_post '{"id":"post_…","history":true}'
  posthorn call upload_file '{"path":"/home/me/picture.jpg"}'
  posthorn call schedule_posts - < posts.json

The exit status is 1 when the tool refuses, with its reason on standard error.`,
    )
    .action((tool: string, json: string, options: { json?: true }) => call(host, tool, json, options));
}

async function listTools(host: Host, name: string | undefined, options: ToolsOptions): Promise<void> {
  await using session = await host.openSession();
  const all = session.toolbox.list(localCaller());
  const tools = name === undefined ? all : all.filter((tool) => tool.name === name);
  if (name !== undefined && tools.length === 0)
    throw unknownTool(
      name,
      all.map((tool) => tool.name),
    );
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

const ADVICE = `Write it in single quotes, for example '{"limit":5}'.`;

async function call(host: Host, tool: string, json: string, options: { json?: true }): Promise<void> {
  const text = json === "-" ? await host.terminal.readAll() : json;
  const args = parseJson({ source: "json", text: text.trim() === "" ? "{}" : text, advice: ADVICE });
  // Only a listed process may hold an idempotency key: the others must see that it is still at work.
  const isRegistered = typeof args === "object" && args !== null && "idempotencyKey" in args;
  await using session = await host.openSession({ isRegistered });
  const { result, sentences } = await session.toolbox.call(tool, args, shellCaller(), {
    ...alwaysAsked(host, session),
    signal: host.stopSignal,
    progress: (done, total, message) => {
      if (host.terminal.isInteractive)
        host.terminal.tell(`${message} (${total === null ? done : `${done} of ${total}`})\n`);
    },
  });
  const isReadOnly = session.toolbox.tools.find(({ name }) => name === tool)?.hints.readOnly ?? true;
  const ended = isReadOnly ? result : await publishDue({ host, session }, result);
  await printList(host, session, { result: ended, sentences, json: options.json });
  host.stopSignal.throwIfAborted();
}

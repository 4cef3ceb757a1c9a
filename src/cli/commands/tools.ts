import { localCaller } from "../../access/api-keys.ts";
import { unknownTool } from "../../toolkit/nearest-tool.ts";
import type { ToolListing } from "../../toolkit/toolbox.ts";
import { JSON_TOO, preset, type Row, row } from "../command.ts";
import { parseJson, toJsonText } from "../options.ts";
import { alwaysAsked, publishDue } from "../shell/outcomes.ts";
import { inShell, type Shell } from "../shell/shell.ts";
import { showList } from "../shell/views.ts";

export const TOOLS: readonly Row[] = [
  row({
    name: "tools",
    about: "list the tools with their JSON Schemas",
    takes: {
      "[tool]": "only this one",
      "-s, --short": "one line a tool instead of JSON (always so on a terminal)",
      "--json": JSON_TOO,
    },
    help: `
Examples:
  posthorn tools --short
  posthorn tools schedule_post`,
    run: ({ tool: name, short, json }, host) =>
      inShell(host, json, async ({ session, terminal }) => {
        const all = session.toolbox.list(localCaller());
        const tools = all.filter((tool) => name === undefined || tool.name === name);
        const names = all.map((tool) => tool.name);
        if (name !== undefined && tools.length === 0) throw unknownTool(name, names);
        const isShort = short === true || (terminal.isScreen && name === undefined);
        const found = name === undefined ? { tools } : tools[0];
        terminal.print(isShort && json !== true ? shortList(tools) : toJsonText(found));
      }),
  }),
  row({
    name: "call",
    about: "call a tool and print its result",
    takes: {
      "<tool>": 'name of the tool ("posthorn tools --short" lists them)',
      "[json]": preset("its arguments as a JSON object, or - to read them from standard input", "{}"),
      "--json": "print lists as JSON on a terminal, too",
    },
    help: `
The result is JSON. On a terminal, a list is a short table. Where nothing else publishes on the data folder, this command
publishes a post that is due at once, and prints what became of it.

Examples:
  posthorn call list_posts '{"status":["scheduled"],"limit":5}'
  posthorn call get_post '{"id":"post_…","history":true}'
  posthorn call upload_file '{"path":"/home/me/picture.jpg"}'
  posthorn call schedule_posts - < posts.json

The exit status is 1 when the tool refuses, with its reason on standard error.`,
    async run(_, host, command) {
      const [tool = "", typed = "{}"] = command.args;
      const text = typed === "-" ? await host.terminal.readAll() : typed;
      const args = parseJson({ source: "json", text: text.trim() === "" ? "{}" : text, advice: ADVICE });
      // Only a listed process may hold an idempotency key: the others must see that it is still at work.
      const isRegistered = typeof args === "object" && args !== null && "idempotencyKey" in args;
      const json = command.opts<{ json?: true }>().json;
      await inShell(host, json, (at) => call(at, tool, args), { isRegistered });
    },
  }),
];

function shortList(tools: readonly ToolListing[]): string {
  const width = Math.max(...tools.map((tool) => tool.name.length));
  return tools
    .map((tool) => `${tool.name.padEnd(width)}  ${tool.permission.padEnd(8)}  ${tool.title}\n`)
    .join("");
}

const ADVICE = `Write it in single quotes, for example '{"limit":5}'.`;

async function call(at: Shell, tool: string, args: unknown): Promise<void> {
  const { host, session, terminal } = at;
  const result = await at.use(tool, args, {
    ...alwaysAsked(at),
    progress: (done, total, message) => {
      if (terminal.isInteractive)
        terminal.tell(`${message} (${total === null ? done : `${done} of ${total}`})\n`);
    },
  });
  const isReadOnly = session.toolbox.tools.find(({ name }) => name === tool)?.hints.readOnly ?? true;
  const ended = isReadOnly ? result : await publishDue(at, result);
  terminal.print(at.isRead ? await showList(at, ended) : toJsonText(ended));
  host.stopSignal.throwIfAborted();
}

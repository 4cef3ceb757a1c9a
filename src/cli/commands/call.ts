import type { Command } from "commander";
import type { Host } from "../host.ts";
import { parseJson, toJsonText } from "../json.ts";
import { shellCaller } from "../local-caller.ts";
import { publishDue } from "../shell/outcomes.ts";
import { showList } from "../shell/views.ts";

export function addCallCommand(program: Command, host: Host): void {
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

const ADVICE = `Write it in single quotes, for example '{"limit":5}'.`;

async function call(host: Host, tool: string, json: string, options: { json?: true }): Promise<void> {
  const text = json === "-" ? await host.terminal.readAll() : json;
  const args = parseJson({ source: "json", text: text.trim() === "" ? "{}" : text, advice: ADVICE });
  // Only a listed process may hold an idempotency key: the others must see that it is still at work.
  const isEnlisted = typeof args === "object" && args !== null && "idempotencyKey" in args;
  await using session = await host.openSession({ isEnlisted });
  const { result } = await session.toolbox.call(tool, args, shellCaller(), {
    signal: host.stopSignal,
    progress: (done, total, message) => {
      if (host.terminal.isInteractive)
        host.terminal.tell(`${message} (${total === null ? done : `${done} of ${total}`})\n`);
    },
  });
  const isReadOnly = session.toolbox.tools.find(({ name }) => name === tool)?.hints.readOnly ?? true;
  const ended = isReadOnly ? result : await publishDue({ host, session }, result);
  const { isScreen, columns } = host.terminal;
  const table = isScreen && options.json !== true ? await showList(session.ctx, ended, columns) : null;
  host.terminal.print(table ?? toJsonText(ended));
  host.stopSignal.throwIfAborted();
}

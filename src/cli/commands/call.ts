import type { Command } from "commander";
import type { Host } from "../host.ts";
import { parseJson, toJsonText } from "../json.ts";
import { localCaller } from "../local-caller.ts";

export function addCallCommand(program: Command, host: Host): void {
  program
    .command("call")
    .description("call a tool and print its result as JSON")
    .argument("<tool>", 'name of the tool; "posthorn tools --short" lists them')
    .argument("[json]", "its arguments as a JSON object, or - to read them from standard input", "{}")
    .addHelpText(
      "after",
      `
Examples:
  posthorn call list_posts '{"status":["scheduled"],"limit":5}'
  posthorn call get_post '{"id":"post_…","history":true}'
  posthorn call upload_file '{"path":"/home/me/picture.jpg"}'
  posthorn call schedule_posts - < posts.json

The exit status is 1 when the tool refuses, with its reason on standard error.`,
    )
    .action((tool: string, json: string) => call(host, tool, json));
}

async function call(host: Host, tool: string, json: string): Promise<void> {
  const text = json === "-" ? await host.terminal.readAll() : json;
  const args = parseJson("json", text.trim() === "" ? "{}" : text);
  // Only a listed process may hold an idempotency key: the others must see that it is still at work.
  const isEnlisted = typeof args === "object" && args !== null && "idempotencyKey" in args;
  await using session = await host.openSession({ isEnlisted });
  const { result } = await session.toolbox.call(tool, args, localCaller(), {
    signal: host.stopSignal,
    progress: (done, total, message) => {
      if (host.terminal.isInteractive)
        host.terminal.tell(`${message} (${total === null ? done : `${done} of ${total}`})\n`);
    },
  });
  host.terminal.print(toJsonText(result));
}

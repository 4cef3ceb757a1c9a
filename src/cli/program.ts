import { Command, CommanderError } from "commander";
import { AppError, saidOf } from "../domain/errors.ts";
import { agentsWords } from "../toolkit/words.ts";
import { CALENDAR_LINK, OPEN } from "./commands/addresses.ts";
import { CONNECTING } from "./commands/connect.ts";
import { DATA } from "./commands/data.ts";
import { DOCTOR } from "./commands/doctor.ts";
import { KEYS } from "./commands/keys.ts";
import { NOTIFY } from "./commands/notify.ts";
import { DEMO, SERVE, STDIO } from "./commands/serve.ts";
import { SETTING_UP } from "./commands/setup.ts";
import { TOOLS } from "./commands/tools.ts";
import { addRows, type Row } from "./command.ts";
import type { Host, Terminal } from "./host.ts";
import { INSTALL } from "./install/install.ts";
import { SERVICE } from "./service/service.ts";
import { CHANGES } from "./shell/change.ts";
import { ACCOUNTS, REPORT, SLOTS, STATUS } from "./shell/channels.ts";
import { UPLOAD } from "./shell/content.ts";
import { DRAFTING } from "./shell/drafts.ts";
import { IMPORTING } from "./shell/import.ts";
import { LIST } from "./shell/list.ts";
import { POSTING } from "./shell/post.ts";
import { refusalForShell } from "./shell/words.ts";

const UPKEEP = "Look after it:";

/** All commands, in the order of help. */
export const COMMANDS: Readonly<Record<string, readonly Row[]>> = {
  "Start:": [DEMO, SERVE, OPEN, STDIO, INSTALL],
  "Use:": [
    SETTING_UP,
    CONNECTING,
    ...ACCOUNTS,
    POSTING,
    IMPORTING,
    LIST,
    STATUS,
    REPORT,
    ...CHANGES,
    ...DRAFTING,
    ...SLOTS,
    UPLOAD,
    ...TOOLS,
  ],
  [UPKEEP]: [...KEYS, CALENDAR_LINK, ...NOTIFY, DOCTOR, ...SERVICE, ...DATA],
};

/** Runs one command line (without node and script) and answers the exit status. */
export async function runCommandLine(args: readonly string[], host: Host): Promise<number> {
  const told = hearing(host);
  const program = createProgram(told.host);
  let command = program;
  program.hook("preAction", (_, action) => void (command = action));
  try {
    await program.parseAsync([...args], { from: "user" });
    return 0;
  } catch (error) {
    return await explain(error, told.host, command);
  } finally {
    const typed = told.namedCommand() ? host.findCommand() : "posthorn";
    if (typed !== "posthorn") host.terminal.tell(`(Here, type ${typed} in the place of posthorn.)\n`);
  }
}

/** Sentences name commands of `posthorn`, which not every shell has. */
const NAMED = /(?<![\w/.-])posthorn (?:--)?[a-z]/;

/** The host, and whether a sentence for a person named a command. */
function hearing(host: Host): { readonly host: Host; namedCommand(): boolean } {
  let isNamed = false;
  const { terminal } = host;
  const heard: Terminal = {
    ...terminal,
    get columns() {
      return terminal.columns;
    },
    print(text) {
      isNamed ||= terminal.isScreen && NAMED.test(text);
      terminal.print(text);
    },
    tell(text) {
      isNamed ||= NAMED.test(text);
      terminal.tell(text);
    },
  };
  return { host: { ...host, terminal: heard }, namedCommand: () => isNamed };
}

function createProgram(host: Host): Command {
  const program = new Command("posthorn")
    .description("Schedules posts to your channels and publishes each at its time, never twice.")
    .version(host.version, "-v, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .addHelpCommand(
      new Command("help").argument("[command]").description("print help for a command").helpGroup(UPKEEP),
    )
    .configureOutput({
      writeOut: (text) => host.terminal.print(text),
      writeErr: (text) => host.terminal.tell(text),
    })
    .exitOverride()
    .showSuggestionAfterError(true)
    .addHelpText("after", EXAMPLES);
  for (const [heading, rows] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading);
    addRows(program, rows, host);
  }
  // Else groups would take over the program's own, under its heading.
  for (const group of program.commands.filter(({ commands }) => commands.length > 0))
    group.helpCommand("help [command]", "print help for a command");
  return program;
}

const EXAMPLES = `
Examples:
  posthorn demo                                   see a post go out in 15 seconds, without an account anywhere
  posthorn serve                                  HTTP API, MCP over HTTP, pages and the publisher on 127.0.0.1:4747
  posthorn connect bluesky --handle alice.example connect a channel (it asks for the app password)
  posthorn post "Hello" --on bluesky --at "tomorrow 9:00" --media lake.jpg
  posthorn list                                   what is planned
  posthorn move 4kq2zt friday 18:30               another time; so are edit, cancel, retry, show
  posthorn call list_files '{"type":"image"}'     call a tool: the answer is JSON, on a terminal a list is a table

Settings are environment variables, or lines of posthorn.env in the data folder. "posthorn doctor" checks them.`;

/** Commands that take tools and their arguments by name. */
const OF_TOOLS: readonly string[] = ["call", "tools"];

async function explain(error: unknown, host: Host, command: Command): Promise<number> {
  if (error instanceof CommanderError) return error.exitCode;
  if (host.stopSignal.aborted && error === host.stopSignal.reason) return 130;
  const known = error instanceof AppError ? error : await host.explainFailure(error);
  if (known === null) await host.logFailure(error);
  const said = saidOf(known);
  const isOfTools = OF_TOOLS.includes(command.name());
  host.terminal.tell(`${isOfTools ? agentsWords(said) : refusalForShell(said, command)}\n`);
  return 1;
}

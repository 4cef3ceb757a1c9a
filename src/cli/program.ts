import { Command, CommanderError } from "commander";
import { AppError, saidOf } from "../domain/errors.ts";
import { agentsWords } from "../toolkit/words.ts";
import { addCalendarLinkCommand } from "./commands/calendar-link.ts";
import { addConnectCommand } from "./commands/connect.ts";
import { addDoctorCommand } from "./commands/doctor.ts";
import type { Host, Terminal } from "./host.ts";
import { addInstallCommand } from "./install/install.ts";
import { addKeysCommand } from "./commands/keys.ts";
import { addNotifyCommand } from "./commands/notify.ts";
import { addOpenCommand } from "./commands/open.ts";
import { addDemoCommand, addServeCommand, addStdioCommand } from "./commands/serve.ts";
import { addSetupCommand } from "./commands/setup.ts";
import { addServiceCommand } from "./service/service.ts";
import { addToolCommands } from "./commands/tools.ts";
import { addDataCommands } from "./commands/data.ts";
import { addChangeCommands } from "./shell/change.ts";
import { addChannelCommands } from "./shell/channels.ts";
import { addDraftCommands } from "./shell/drafts.ts";
import { addListCommand } from "./shell/list.ts";
import { addImportCommand } from "./shell/import.ts";
import { addPostCommand } from "./shell/post.ts";
import { addReportCommand } from "./shell/report.ts";
import { refusalForShell } from "./shell/words.ts";
import { addStatusCommand } from "./shell/status.ts";
import { addSlotCommands } from "./shell/slots.ts";
import { addUploadCommand } from "./shell/content.ts";

const UPKEEP = "Look after it:";

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
  program.commandsGroup("Start:");
  addDemoCommand(program, host);
  addServeCommand(program, host);
  addOpenCommand(program, host);
  addStdioCommand(program, host);
  addInstallCommand(program, host);
  program.commandsGroup("Use:");
  addSetupCommand(program, host);
  addConnectCommand(program, host);
  addChannelCommands(program, host);
  addPostCommand(program, host);
  addImportCommand(program, host);
  addListCommand(program, host);
  addStatusCommand(program, host);
  addReportCommand(program, host);
  addChangeCommands(program, host);
  addDraftCommands(program, host);
  addSlotCommands(program, host);
  addUploadCommand(program, host);
  addToolCommands(program, host);
  program.commandsGroup(UPKEEP);
  addKeysCommand(program, host);
  addCalendarLinkCommand(program, host);
  addNotifyCommand(program, host);
  addDoctorCommand(program, host);
  addServiceCommand(program, host);
  addDataCommands(program, host);
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

import { AppError } from "../../domain/errors.ts";
import type { Host } from "../host.ts";
import { type CommandArgs, role, type Row, row } from "../command.ts";
import type { Role } from "../../domain/permissions.ts";
import { readPermissionOptions } from "../options.ts";
import { oneLine } from "../shell/table.ts";
import { CLIENTS, showEntry, type Client, type Launch } from "./clients.ts";
import { backupOf, hasPosthorn, planEntry, readConfigFile, writeConfigFile } from "./config-file.ts";

const NAMES = CLIENTS.map(({ name }) => name).join(", ");

const TAKES = {
  "[client]": NAMES,
  "--permissions <list>": "what the agent may do, separated by commas (default: all)",
  "--role <role>": role("a name for permissions, instead of --permissions"),
  "--remove": "take it out again",
  "--dry-run": "show the change and make none",
  "-y, --yes": "do it without asking",
} as const;

type InstallOptions = CommandArgs<typeof TAKES>;

export const INSTALL: Row = row({
  name: "install",
  about: "set Posthorn up in an agent's client (without a name, list those of this machine)",
  takes: TAKES,
  help: `
Shows the client's own command, or what is written into its configuration, and asks. Everything else in the file stays,
and the old file is kept beside it. The paths are absolute, so that a client without a PATH finds them. Run by npx, it
writes that npx starts Posthorn. Without --role and --permissions you are asked what the agent may do. With --yes, or where
no person can be asked, it may do all.

Examples:
  posthorn install
  posthorn install claude-code
  posthorn install cursor --role writer`,
  run: (given, host) =>
    given.client === undefined ? list(host) : install(host, clientOf(given.client), given),
});

function clientOf(name: string): Client {
  const client = CLIENTS.find((one) => one.name === name);
  if (client !== undefined) return client;
  throw new AppError(
    "invalid",
    `There is no client "${name.slice(0, 40)}". The clients are ${NAMES}. docs/clients.md says how others connect.`,
  );
}

async function list(host: Host): Promise<void> {
  for (const client of CLIENTS) {
    const file = await readConfigFile(client.files(host.place)).catch(() => null);
    const state = file !== null && hasPosthorn(client, file.text) ? "set up" : "not set up";
    host.terminal.print(`${client.name.padEnd(15)} ${client.title.padEnd(15)} ${state}\n`);
  }
  host.terminal.tell(
    `\nSet one up with: ${host.findCommand()} install <client>\nPosthorn is a plugin of some, with a skill that teaches their agents: see docs/clients.md.\n`,
  );
}

async function install(host: Host, client: Client, options: InstallOptions): Promise<void> {
  const { terminal } = host;
  const launch = options.remove === true ? null : launchOf(host, await withRole(host, options));
  const { shown, make } = await (client.own === undefined ? changeFile : runOwnCommand)(host, client, launch);
  terminal.print(`${shown}\n`);
  if (make === null || options.dryRun === true) return;
  await requireYes(host, options, `${client.own === undefined ? "Write" : "Run"} this? [y/N] `);
  await make();
  const done = launch === null ? "does not start Posthorn any more" : "starts Posthorn from now on";
  terminal.print(`${client.title} ${done}. ${client.next}\n`);
  if (launch !== null)
    terminal.tell(
      `Posts go out while the client is open. ${host.findCommand()} service install keeps Posthorn running without it.\n`,
    );
}

/** What a person may let an agent do, the first by itself. */
const CHOICES: readonly { readonly role: Role; readonly meaning: string }[] = [
  { role: "writer", meaning: "writes drafts, and a person decides what goes out" },
  { role: "publisher", meaning: "schedules and publishes, too" },
  { role: "viewer", meaning: "sees everything and changes nothing" },
  { role: "admin", meaning: "does everything, connects channels too" },
];
const [FIRST] = CHOICES;

/** Asks for the role where a person is there and none was told. Throws `invalid` for an answer that is none. */
async function withRole(host: Host, options: InstallOptions): Promise<InstallOptions> {
  const { terminal } = host;
  const isTold = options.role !== undefined || options.permissions !== undefined;
  if (isTold || options.yes === true || options.dryRun === true || !terminal.isInteractive) return options;
  const lines = CHOICES.map(({ role, meaning }, at) => `  ${at + 1} ${role.padEnd(9)} ${meaning}\n`);
  terminal.tell(`What may the agent do?\n${lines.join("")}`);
  const answer = await terminal.ask("A number or a name [1] ", { isHidden: false, signal: host.stopSignal });
  const given = answer.trim().toLowerCase();
  const chosen =
    given === "" ? FIRST : CHOICES.find(({ role }, at) => given === role || given === String(at + 1));
  if (chosen !== undefined) return { ...options, role: chosen.role };
  const names = CHOICES.map(({ role }) => role).join(", ");
  throw new AppError(
    "invalid",
    `"${given.slice(0, 40)}" is none of ${names}. Nothing was changed. Give --role, or start again.`,
  );
}

/** What is shown of a change, and what makes it; null where there is nothing to change. */
interface Change {
  readonly shown: string;
  readonly make: (() => Promise<void>) | null;
}

/** `launch` null: Posthorn is taken out. */
async function changeFile({ terminal, place }: Host, client: Client, launch: Launch | null): Promise<Change> {
  const file = await readConfigFile(client.files(place));
  const text = planEntry(client, file.text, launch);
  if (text === file.text) {
    const state = launch === null ? "does not have Posthorn" : "starts Posthorn like this already";
    return { shown: `${client.title} ${state}. Nothing to change in ${file.path}.`, make: null };
  }
  const shown =
    launch === null
      ? `Posthorn's entry is taken out of ${file.path}.`
      : `This is written into ${file.path}:\n${showEntry(client, launch)}`;
  const make = async (): Promise<void> => {
    await writeConfigFile(file, text);
    if (file.exists) terminal.tell(`What it was before Posthorn is kept in ${backupOf(file)}.\n`);
  };
  return { shown, make };
}

async function runOwnCommand(host: Host, { title, own }: Client, launch: Launch | null): Promise<Change> {
  const [command = "", ...args] = own?.(launch) ?? [];
  const shown = `This is run:\n  ${[command, ...args].map(quoteWord).join(" ")}`;
  const make = async (): Promise<void> => {
    const { run } = await host.openMachine();
    // An entry that is there would be in the way.
    if (launch !== null) await run(command, own?.(null).slice(1) ?? []);
    const { status, stdout, stderr } = await run(command, args);
    if (status === 0) return;
    const said = oneLine(stderr.trim() || stdout).slice(0, MAX_REASON_CHARS);
    throw new AppError(
      "unavailable",
      status === null
        ? `The command ${command} of ${title} is not found here. Install it, or run the line above where it is.`
        : `${title} did not do it: ${said} Run the line above yourself once that is mended.`,
    );
  };
  return { shown, make };
}

const MAX_REASON_CHARS = 300;

function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function launchOf(host: Host, options: InstallOptions): Launch {
  const { command, args: before, dataFolder } = host.locateLaunch();
  const { role } = options;
  const permissions = readPermissionOptions(options);
  const listed = permissions === undefined ? [] : ["--permissions", permissions.join(",")];
  // A role stays a name in the entry: what it stands for may grow.
  const args = [...before, "stdio", ...(role === undefined ? listed : ["--role", role])];
  return { command, args, env: dataFolder === null ? {} : { POSTHORN_DATA_DIR: dataFolder } };
}

async function requireYes(host: Host, { yes }: InstallOptions, question: string): Promise<void> {
  if (yes === true) return;
  if (!host.terminal.isInteractive)
    throw new AppError("invalid", "No person can be asked, so nothing was changed. Add --yes to go on.");
  const answer = await host.terminal.ask(question, { isHidden: false, signal: host.stopSignal });
  if (!/^y(es)?$/i.test(answer.trim())) throw new AppError("conflict", "Nothing was changed.");
}

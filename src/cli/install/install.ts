import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import type { Command } from "commander";
import { AppError } from "../../domain/errors.ts";
import type { Host, Place } from "../host.ts";
import { readPermissionOptions, roleOption, type PermissionOptions } from "../lists.ts";
import { CLIENTS, type Client, type Launch } from "./clients.ts";
import { readConfigFile, writeConfigFile } from "./config-file.ts";
import { showChange } from "./show-change.ts";

interface InstallOptions extends PermissionOptions {
  readonly remove?: true;
  readonly yes?: true;
  readonly dryRun?: true;
}

const NAMES = CLIENTS.map(({ name }) => name).join(", ");

export function addInstallCommand(program: Command, host: Host): void {
  program
    .command("install")
    .description("set Posthorn up in an agent's client (without a name, list those of this machine)")
    .argument("[client]", NAMES)
    .option("--permissions <list>", "what the agent may do, separated by commas (default: all)")
    .addOption(roleOption("a name for permissions, instead of --permissions"))
    .option("--remove", "take it out again")
    .option("--dry-run", "show the change and write nothing")
    .option("-y, --yes", "write it without asking")
    .addHelpText(
      "after",
      `
Shows what changes in the client's configuration, asks, and leaves everything else in it as it is. The old file is
kept beside it until --remove. The paths are absolute, so that a client without a PATH finds them.

Examples:
  posthorn install
  posthorn install claude-code
  posthorn install cursor --role viewer`,
    )
    .action((name: string | undefined, options: InstallOptions) =>
      name === undefined ? list(host) : install(host, clientOf(name), options),
    );
}

function clientOf(name: string): Client {
  const client = CLIENTS.find((one) => one.name === name);
  if (client !== undefined) return client;
  throw new AppError(
    "invalid",
    `There is no client "${name.slice(0, 40)}". The clients are ${NAMES}. docs/clients.md says how others connect.`,
  );
}

async function list(host: Host): Promise<void> {
  const { isSetUp } = await import("./plan.ts");
  const states = await Promise.all(
    CLIENTS.map(async (client) => {
      const { text, exists } = await readConfigFile(client.files(host.place)).catch(() => NOTHING);
      if (exists && isSetUp(client, text)) return "set up";
      return exists || isHere(client, host.place) ? "found" : "not found";
    }),
  );
  for (const [index, { name, title }] of CLIENTS.entries())
    host.terminal.print(`${name.padEnd(15)} ${title.padEnd(15)} ${states[index]}\n`);
  host.terminal.tell("\nSet one up with: posthorn install <client>\n");
}

const NOTHING = { text: "", exists: false };

async function install(host: Host, client: Client, options: InstallOptions): Promise<void> {
  const { planEntry, planRemoval } = await import("./plan.ts");
  const { terminal } = host;
  const isRemoval = options.remove === true;
  const launch = launchOf(host, options);
  const plan = (text: string): string =>
    isRemoval ? planRemoval(client, text, launch) : planEntry(client, text, launch);
  const paths = client.files(host.place);
  const file = await readConfigFile(paths);
  const planned = plan(file.text);
  if (planned === file.text) {
    const state = isRemoval ? "does not have Posthorn" : "starts Posthorn like this already";
    return terminal.print(`${client.title} ${state}. Nothing to change in ${file.path}.\n`);
  }
  terminal.print(`${file.path}:\n${showChange(file.text, planned)}`);
  if (options.dryRun === true) return;
  await requireYes(host, options);
  // The client may have written it while the person thought about it.
  const now = await readConfigFile(paths);
  const backup = await writeConfigFile(now, plan(now.text), { isRemoval });
  if (backup !== null) terminal.tell(`What it was before Posthorn is kept in ${backup}.\n`);
  const done = isRemoval ? "does not start Posthorn any more" : "starts Posthorn from now on";
  terminal.print(`${client.title} ${done}. ${client.next}\n`);
  if (!isRemoval) terminal.tell(KEEP_RUNNING);
}

const KEEP_RUNNING =
  "Posts go out while the client is open. posthorn service install keeps Posthorn running without it.\n";

function launchOf(host: Host, options: InstallOptions): Launch {
  const { node, script, dataFolder } = host.locateProgram();
  const limits = limitsOf(options);
  return {
    command: node,
    args: [script, "stdio", ...limits],
    env: dataFolder === null ? {} : { POSTHORN_DATA_DIR: dataFolder },
  };
}

/** A role stays a name in the entry: what it stands for may grow. */
function limitsOf(options: InstallOptions): readonly string[] {
  if (options.role !== undefined) return ["--role", options.role];
  const permissions = readPermissionOptions(options);
  return permissions === undefined ? [] : ["--permissions", permissions.join(",")];
}

async function requireYes(host: Host, { yes }: InstallOptions): Promise<void> {
  if (yes === true) return;
  if (!host.terminal.isInteractive)
    throw new AppError("invalid", "No person can be asked, so nothing was written. Add --yes to write it.");
  const answer = await host.terminal.ask("Write this? [y/N] ", { isHidden: false, signal: host.stopSignal });
  if (!/^y(es)?$/i.test(answer.trim())) throw new AppError("conflict", "Nothing was written.");
}

/** Whether a client was ever started here, or could be. */
function isHere(client: Client, place: Place): boolean {
  if (client.files(place).some((file) => dirname(file) !== place.home && existsSync(dirname(file))))
    return true;
  const { command } = client;
  if (command === null) return false;
  const names = place.platform === "win32" ? [`${command}.exe`, `${command}.cmd`] : [command];
  const folders = (place.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.some((folder) => names.some((name) => existsSync(join(folder, name))));
}

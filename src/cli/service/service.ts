import { InvalidArgumentError, type Command } from "commander";
import { AppError } from "../../domain/errors.ts";
import type { Host } from "../host.ts";
import type { Machine } from "../machine.ts";
import { chooseManager } from "./choose-manager.ts";
import { assertFolderThere, installService, readOwnFile, versionOf } from "./install.ts";
import { createSteps, type ServiceManager } from "./manager.ts";

const DEFAULT_LINES = 100;

export function addServiceCommand(program: Command, host: Host): void {
  const service = program
    .command("service")
    .description("have the system keep it running: install, status, logs, uninstall")
    .addHelpText(
      "after",
      `
A systemd user unit on Linux, a LaunchAgent on macOS; elsewhere it says what else there is. It runs
"posthorn serve" as you, with the settings of posthorn.env in the data folder.

Examples:
  posthorn service install --dry-run
  posthorn service install           again after an update, or after moving Node or the data folder
  posthorn service logs --follow`,
    );
  service
    .command("install")
    .description("write the service's file, start it, and start it with the machine from now on")
    .option("--dry-run, --print", "print the file and change nothing")
    .action((options: { print?: true }) => installService(host, options));
  service
    .command("status")
    .description("tell whether it runs, since when and where (exit status 1 if it does not run)")
    .action(() => showStatus(host));
  service
    .command("logs")
    .description("show what it logged")
    .option("--lines <count>", "how many of the last lines", readLines, DEFAULT_LINES)
    .option("--follow", "go on showing what it logs until Ctrl-C")
    .action((options: { lines: number; follow?: true }) => showLogs(host, options));
  service
    .command("uninstall")
    .description("stop it and remove the service's file (the data folder stays)")
    .action(() => uninstallService(host));
}

function readLines(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number from 1 to 999999.");
}

async function showStatus(host: Host): Promise<void> {
  const machine = await host.openMachine();
  const manager = await chooseManager(machine);
  const { text, folder } = await requireInstalled(machine, manager);
  assertFolderThere(machine, manager, folder);
  const state = await manager.look();
  const { address, publicUrl } = await machine.openInstance(folder);
  const health = address === null ? null : await machine.probe(address);
  const { program, node } = machine;
  const isCurrent =
    program !== null && manager.render({ version: versionOf(host, machine), node, program, folder }) === text;
  const lines: readonly (readonly [string, string])[] = [
    ["service", `${state.text}, kept by ${manager.name}`],
    ["address", health === null ? "any free port" : `${publicUrl}, ${HEALTH[health]}`],
    ["data", folder],
    ["runs", await manager.describeAbsence()],
    ...(isCurrent
      ? []
      : [
          [
            "note",
            "written by another release or copy of Posthorn (posthorn service install brings it up to date)",
          ] as const,
        ]),
  ];
  host.terminal.print(lines.map(([topic, what]) => `${topic.padEnd(9)}  ${what}\n`).join(""));
  if (state.isRunning && (health === null || health === "ready")) return;
  throw new AppError(
    "unavailable",
    'It does not work as it should. "posthorn service logs" shows what it says.',
  );
}

const HEALTH = { ready: "ready", unready: "answers, but is not ready", none: "does not answer" } as const;

async function requireInstalled(
  machine: Machine,
  manager: ServiceManager,
): Promise<{ readonly text: string; readonly folder: string }> {
  const text = await readOwnFile(machine, manager);
  const folder = text === null ? null : manager.readFolder(text);
  if (text !== null && folder !== null) return { text, folder };
  throw new AppError("not_found", 'No service is installed. "posthorn service install" installs it.');
}

async function showLogs(host: Host, options: { lines: number; follow?: true }): Promise<void> {
  const machine = await host.openMachine();
  const manager = await chooseManager(machine);
  await requireInstalled(machine, manager);
  const [command = "", ...args] = manager.logCommand({
    lines: options.lines,
    follow: options.follow === true,
  });
  const status = await machine.follow(command, args);
  if (status === 0 || host.stopSignal.aborted) return;
  throw new AppError(
    "unavailable",
    `The log cannot be read with "${[command, ...args].join(" ")}". The reason is above, if the command is there at all.`,
  );
}

async function uninstallService(host: Host): Promise<void> {
  const { terminal } = host;
  const machine = await host.openMachine();
  const manager = await chooseManager(machine);
  const text = await readOwnFile(machine, manager);
  if (text === null) return terminal.print(`There is no service to remove: ${manager.file} is not there.\n`);
  const steps = createSteps(machine, (line) => terminal.print(line));
  await manager.stop(steps);
  await machine.remove(manager.file);
  terminal.print(`Removed ${manager.file}\n`);
  await manager.forget(steps);
  terminal.print(
    `Posthorn does not run any more, and scheduled posts wait. Everything stays in ${manager.readFolder(text)}.\n`,
  );
}

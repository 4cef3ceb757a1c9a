import { AppError } from "../../domain/errors.ts";
import { SECOND } from "../../domain/time.ts";
import type { Host, Machine } from "../host.ts";
import { group, type Row, row, whole } from "../command.ts";
import { oneLine } from "../shell/table.ts";
import { MARK, openLaunchd, openSystemd, type RunStep, type ServiceManager } from "./manager.ts";

/** A large database that is brought up to date takes its time. */
const READY_WITHIN_MS = 60 * SECOND;
const POLL_MS = SECOND / 2;
const MAX_REASON_CHARS = 300;

export const SERVICE: readonly Row[] = [
  group(
    "service",
    "have the system keep it running: install, status, logs, uninstall",
    `
A systemd user unit on Linux, a LaunchAgent on macOS; elsewhere it says what else there is. It runs
"posthorn serve" as you, with the settings of posthorn.env in the data folder.

Examples:
  posthorn service install --print
  posthorn service install           again after an update, or after moving Node or the data folder
  posthorn service logs --follow`,
  ),
  row({
    name: "service install",
    about: "write the service's file, start it, and start it with the machine from now on",
    takes: { "--dry-run, --print": "print the file and change nothing" },
    run: ({ print }, host) => installService(host, print === true),
  }),
  row({
    name: "service status",
    about: "tell whether it runs, since when and where (exit status 1 if it does not run)",
    run: (_, host) => showStatus(host),
  }),
  row({
    name: "service logs",
    about: "show what it logged",
    takes: {
      "--lines <count>": whole("how many of the last lines", 999_999, 100),
      "--follow": "go on showing what it logs until Ctrl-C",
    },
    run: ({ lines, follow }, host) => showLogs(host, lines, follow === true),
  }),
  row({
    name: "service uninstall",
    about: "stop it and remove the service's file (the data folder stays)",
    run: (_, host) => uninstallService(host),
  }),
];

/** Throws `unavailable` with the way on where none of ours is. */
function managerOf(host: Host, machine: Machine): ServiceManager {
  const { platform } = machine;
  if (platform === "win32") {
    const { node, script } = host.locateProgram();
    throw new AppError(
      "unavailable",
      String.raw`On Windows the Task Scheduler does it. Run: schtasks /Create /TN Posthorn /SC ONLOGON /TR "\"${node}\" \"${script}\" serve" (schtasks /Run /TN Posthorn starts it now, /Delete removes it). Or run it in Docker (docs/keep-running.md).`,
    );
  }
  return platform === "darwin" ? openLaunchd(machine) : openSystemd(machine);
}

/** Throws `unavailable` or `forbidden` with the way on where nothing here keeps a person's programs running. */
async function openManager(host: Host, machine: Machine): Promise<ServiceManager> {
  const manager = managerOf(host, machine);
  if (machine.user.id === 0)
    throw new AppError(
      "forbidden",
      "root's service would run with every right on this machine, which Posthorn does not need. Sign in as the user that Posthorn is to run as, and run this again. docs/keep-running.md has a service for the whole machine, with a user of its own.",
    );
  const [command = "", ...args] = manager.isThere;
  if ((await machine.run(command, args)).status !== 0) throw new AppError("unavailable", manager.absence);
  return manager;
}

async function installService(host: Host, isPrint: boolean): Promise<void> {
  const { terminal } = host;
  const machine = await host.openMachine();
  const { render } = managerOf(host, machine);
  const { node, script: program } = host.locateProgram();
  const folder = machine.dataFolder;
  const text = render({ node, program, folder });
  if (isPrint) return terminal.print(text);
  const manager = await openManager(host, machine);
  await isInstalled(machine, manager);
  const { address, publicUrl } = await machine.readAddress();
  if (!(await manager.look()).isRunning) await assertFree(machine, address);
  await machine.makeDataFolder();
  await machine.write(manager.file, text);
  terminal.print(`Wrote ${manager.file}:\n\n${text}\n`);
  await manager.start(stepsOf(host, machine));
  terminal.print("Waiting until it is ready …\n");
  await waitUntilReady(machine, manager, address);
  terminal.print(
    `
Posthorn runs${address === null ? "" : ` at ${publicUrl}`}, kept running by ${manager.name}.
  Data folder  ${folder}, with the API key in api.key
  Settings     ${folder}/posthorn.env (after a change: ${manager.restart})
  Runs         ${await manager.whenItRuns()}
  Look at it   posthorn service status, posthorn service logs --follow
`,
  );
}

function stepsOf({ terminal }: Host, machine: Machine): RunStep {
  return async (line, options) => {
    const [command = "", ...args] = line;
    terminal.print(`$ ${line.join(" ")}\n`);
    const { status, stderr, stdout } = await machine.run(command, args);
    if (status === 0 || options?.mayFail === true) return;
    const said = oneLine(stderr.trim() || stdout.trim()).slice(0, MAX_REASON_CHARS);
    throw new AppError(
      "unavailable",
      `"${line.join(" ")}" failed: ${said.replace(/\.?$/, ".")} Mend that and run it again.`,
    );
  };
}

/** Two servers on one port: ours would fail, and the other one would look as if it were ours. */
async function assertFree(machine: Machine, address: string | null): Promise<void> {
  if (address === null || (await machine.probe(address)) === "none") return;
  throw new AppError(
    "conflict",
    `Something that is not this service answers at ${address} already, most likely a Posthorn in a terminal. Stop it (Ctrl-C), or set another POSTHORN_PORT in posthorn.env, then run this again.`,
  );
}

async function waitUntilReady(
  machine: Machine,
  manager: ServiceManager,
  address: string | null,
): Promise<void> {
  for (let waitedMs = 0; waitedMs < READY_WITHIN_MS; waitedMs += POLL_MS) {
    const { isRunning } = await manager.look();
    if (isRunning && (address === null || (await machine.probe(address)) === "ready")) return;
    await machine.sleep(POLL_MS);
  }
  throw new AppError(
    "unavailable",
    `The service was started and is not ready: ${(await manager.look()).text}. "posthorn service logs" shows what it says.`,
  );
}

/** Throws `conflict` where the file is not of our making. */
async function isInstalled(machine: Machine, { file }: ServiceManager): Promise<boolean> {
  const text = await machine.read(file);
  if (text === null || text.includes(MARK)) return text !== null;
  throw new AppError(
    "conflict",
    `${file} is there already and was not written by Posthorn. Look at it, and move it away if it is not needed.`,
  );
}

async function openInstalled(host: Host): Promise<{ machine: Machine; manager: ServiceManager }> {
  const machine = await host.openMachine();
  const manager = await openManager(host, machine);
  if (await isInstalled(machine, manager)) return { machine, manager };
  throw new AppError("not_found", 'No service is installed. "posthorn service install" installs it.');
}

const HEALTH = { ready: "ready", unready: "answers, but is not ready", none: "does not answer" } as const;

async function showStatus(host: Host): Promise<void> {
  const { machine, manager } = await openInstalled(host);
  const state = await manager.look();
  const { address, publicUrl } = await machine.readAddress();
  const health = address === null ? null : await machine.probe(address);
  host.terminal.print(
    `service    ${state.text}, kept by ${manager.name}
address    ${health === null ? "any free port" : `${publicUrl}, ${HEALTH[health]}`}
data       ${machine.dataFolder}
runs       ${await manager.whenItRuns()}
`,
  );
  if (state.isRunning && (health === null || health === "ready")) return;
  throw new AppError(
    "unavailable",
    'It does not work as it should. "posthorn service logs" shows what it says.',
  );
}

async function showLogs(host: Host, lines: number, isFollow: boolean): Promise<void> {
  const { machine, manager } = await openInstalled(host);
  const options = ["-n", String(lines), ...(isFollow ? ["-f"] : [])];
  const [command = "", ...args] = manager.logs(options);
  const status = await machine.follow(command, args);
  if (status === 0 || host.stopSignal.aborted) return;
  throw new AppError(
    "unavailable",
    `The log cannot be read with "${[command, ...args].join(" ")}". The reason is above, if the command is there at all.`,
  );
}

async function uninstallService(host: Host): Promise<void> {
  const { machine, manager } = await openInstalled(host);
  await manager.stop(stepsOf(host, machine));
  await machine.remove(manager.file);
  host.terminal.print(
    `Removed ${manager.file}\nPosthorn does not run any more, and scheduled posts wait. Everything stays in ${machine.dataFolder}.\n`,
  );
}

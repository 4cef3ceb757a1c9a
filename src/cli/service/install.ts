import { AppError } from "../../domain/errors.ts";
import { SECOND } from "../../domain/time.ts";
import type { Host } from "../host.ts";
import type { Machine } from "../machine.ts";
import { chooseManager, findVersionManager, requireLastingProgram } from "./choose-manager.ts";
import { createSteps, type ServiceManager } from "./manager.ts";

/** A large database that is brought up to date takes its time. */
const READY_WITHIN_MS = 60 * SECOND;
const POLL_MS = SECOND / 2;

/** Writes the service's file and starts it; where both is as it should be, nothing. */
export async function installService(host: Host, options: { readonly print?: true }): Promise<void> {
  const { terminal } = host;
  const machine = await host.openMachine();
  const manager = await chooseManager(machine);
  const { node, dataFolder: folder } = machine;
  const program = requireLastingProgram(machine);
  await assertNoStraySettings(machine);
  const text = manager.render({ version: versionOf(host, machine), node, program, folder });
  const found = await readOwnFile(machine, manager);
  if (options.print === true) return terminal.print(text);
  if (found !== null && manager.readFolder(found) === folder) assertFolderThere(machine, manager, folder);
  const instance = await machine.openInstance(folder);
  const state = await manager.look();
  const steps = createSteps(machine, (line) => terminal.print(line));
  if (found === text && state.isRunning && state.isEnabled) {
    terminal.print(`Nothing to change: ${manager.file} is as it should be.\n`);
  } else {
    if (!state.isRunning) await assertFree(machine, instance.address);
    if (found !== text) {
      await machine.write(manager.file, text);
      terminal.print(`${found === null ? "Wrote" : "Changed"} ${manager.file}:\n\n${text}\n`);
    }
    await manager.start(steps);
    terminal.print("Waiting until it is ready …\n");
    await waitUntilReady(machine, manager, instance.address);
  }
  const absence = await manager.describeAbsence(steps);
  const tool = findVersionManager(node) ?? findVersionManager(program);
  terminal.print(
    [
      "",
      `Posthorn runs${instance.address === null ? "" : ` at ${instance.publicUrl}`}, kept running by ${manager.name}.`,
      `  Data folder  ${folder}`,
      `  Settings     ${folder}/posthorn.env (after a change: ${manager.restart})`,
      `  API key      in ${instance.apiKeyFile}, unless POSTHORN_API_KEY is set`,
      `  Runs         ${absence}`,
      ...(tool === null
        ? []
        : [
            `  Note         ${tool} keeps Node or Posthorn at a path with its release in it (${node}); after`,
            "               changing that release, run posthorn service install again.",
          ]),
      "  Look at it   posthorn service status, posthorn service logs --follow",
      "",
    ].join("\n"),
  );
}

/** As the service's file names the program that it starts. */
export function versionOf({ version }: Host, { builtAt }: Machine): string {
  return `${version} of ${builtAt}`;
}

/** Null where there is none. Throws `conflict` for one that is not of our making. */
export async function readOwnFile(machine: Machine, manager: ServiceManager): Promise<string | null> {
  const text = await machine.read(manager.file);
  if (text === null || manager.readFolder(text) !== null) return text;
  throw new AppError(
    "conflict",
    `${manager.file} is there already and was not written by Posthorn. Look at it, and move it away if it is not needed.`,
  );
}

/** A data folder that was used and is gone must not be begun anew: its disk may come back. */
export function assertFolderThere(machine: Machine, manager: ServiceManager, folder: string): void {
  if (machine.isFolder(folder)) return;
  throw new AppError(
    "unavailable",
    `The service's data folder ${folder} is not there, so it does not run. Bring it back (is its disk mounted?) and run: ${manager.restart}`,
  );
}

async function assertNoStraySettings(machine: Machine): Promise<void> {
  const names = await machine.listStraySettings();
  if (names.length === 0) return;
  throw new AppError(
    "conflict",
    `${names.join(", ")}: set only in this shell, which a service does not see. Write them into ${machine.dataFolder}/posthorn.env (a line NAME=value each, chmod 600), unset them in this shell, and run this again.`,
  );
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
    const isReady = address === null || (await machine.probe(address)) === "ready";
    if (isRunning && isReady) return;
    await machine.sleep(POLL_MS);
  }
  throw new AppError(
    "unavailable",
    `The service was started and is not ready: ${(await manager.look()).text}. "posthorn service logs" shows what it says.`,
  );
}

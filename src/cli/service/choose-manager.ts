import { AppError } from "../../domain/errors.ts";
import type { Machine } from "../machine.ts";
import { openLaunchd } from "./launchd.ts";
import type { ServiceManager } from "./manager.ts";
import { isSystemdThere, openSystemd } from "./systemd.ts";

/** Throws `unavailable` or `forbidden` with the way on where nothing here keeps a person's programs running. */
export async function chooseManager(machine: Machine): Promise<ServiceManager> {
  if (machine.enclosure === "container" && !(await isSystemdThere(machine))) {
    throw new AppError(
      "unavailable",
      'A container has no services: what started it keeps it running. Let it run "posthorn serve" and restart it. docs/keep-running.md has an image and a compose file.',
    );
  }
  if (machine.platform === "win32") {
    const command = `"${machine.node}" "${machine.program ?? "posthorn.js"}" serve`;
    throw new AppError(
      "unavailable",
      `On Windows the Task Scheduler does it. Run: schtasks /Create /TN Posthorn /SC ONLOGON /TR "${command.replaceAll('"', '\\"')}" (schtasks /Run /TN Posthorn starts it now, /Delete removes it). Or run it in Docker (docs/keep-running.md).`,
    );
  }
  if (machine.user.id === 0) {
    throw new AppError(
      "forbidden",
      "root's service would run with every right on this machine, which Posthorn does not need. Sign in as the user that Posthorn is to run as, and run this again. docs/keep-running.md has a service for the whole machine, with a user of its own.",
    );
  }
  if (machine.platform === "darwin") return openLaunchd(machine);
  if (machine.platform === "linux") return openSystemd(machine);
  throw new AppError(
    "unavailable",
    `Posthorn knows no service manager of ${machine.platform}. Let the system's own one run "posthorn serve" as your user.`,
  );
}

/** Where tools keep programs that they replace or remove with the next release. */
const VERSIONED =
  /\/\.?(nvm|fnm|volta|asdf|mise|nodenv|Cellar)(?:_multishells)?\/|\/(n)\/versions\/|^\/(nix)\/store\//;

/** The tool that takes a path away with the next release; null: none that is known. */
export function findVersionManager(path: string): string | null {
  const [, ...tools] = VERSIONED.exec(path) ?? [];
  return tools.find((tool) => tool !== undefined)?.replace("Cellar", "Homebrew") ?? null;
}

/** The program's file. Throws `unavailable` for one that is there only for the moment. */
export function requireLastingProgram({ program }: Machine): string {
  if (program === null)
    throw new AppError(
      "unavailable",
      'A service runs the built program, and this runs from its sources. Run "npm run build", then: node dist/posthorn.js service install',
    );
  if (/[\\/](_npx|dlx-?[^\\/]*)[\\/]/.test(program))
    throw new AppError(
      "unavailable",
      "This Posthorn lies in a cache that its package manager empties at will. Install it to stay (npm install --global), then run this again.",
    );
  return program;
}

import { execFile, spawn } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { homedir, platform, userInfo } from "node:os";
import { delimiter, dirname, join, relative, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Machine, ProgramLaunch, ProgramPlace, Ran } from "../cli/host.ts";
import { SECOND } from "../domain/time.ts";
import { createOutbound } from "../media/outbound/outbound.ts";
import { defaultPublicUrl } from "./compose.ts";
import type { Config } from "./config.ts";
import {
  type Environment,
  locateDataFolder,
  openDataFolder,
  readIfThere,
  PROGRAM_ROOT,
} from "./data-folder.ts";
import { readPlace } from "./setup.ts";
import { AppError } from "../domain/errors.ts";

const PROBE_MS = 3 * SECOND;
const MAX_OUTPUT_BYTES = 1024 * 1024;

/** The machine that this process runs on. */
export function openMachine(env: Environment, stopSignal: AbortSignal): Machine {
  const user = findUser();
  const childEnv = withRuntimeFolder(env, user.id);
  const dataFolder = locateDataFolder(env);
  return {
    platform: platform(),
    user,
    dataFolder,
    makeDataFolder: async () => void (await openDataFolder(dataFolder)),
    async readAddress() {
      const { config } = await readPlace({}, dataFolder);
      return { address: addressOf(config), publicUrl: defaultPublicUrl(config) };
    },
    probe,
    run: (command, args) => run(command, args, childEnv),
    follow: (command, args) => follow(command, args, childEnv, stopSignal),
    read: readIfThere,
    async write(file, text) {
      await mkdir(dirname(file), { recursive: true });
      const draft = `${file}.new`;
      await writeFile(draft, text, { mode: 0o644 });
      await rename(draft, file);
    },
    remove: (file) => rm(file, { force: true }),
    sleep: (ms) => delay(ms),
  };
}

/** A container's user may have neither a name nor a home. */
function findUser(): Machine["user"] {
  try {
    const { uid, username } = userInfo();
    return { id: uid, name: username, home: homedir() };
  } catch {
    return { id: -1, name: "this user", home: homedir() };
  }
}

/** In a shell that came by `su` the service manager is there and cannot be found. */
function withRuntimeFolder(env: Environment, uid: number): Environment {
  const usual = `/run/user/${uid}`;
  return (env["XDG_RUNTIME_DIR"] ?? "") === "" && existsSync(usual)
    ? { ...env, XDG_RUNTIME_DIR: usual }
    : env;
}

/** What listens on all addresses is reached on loopback. */
function addressOf({ host, port }: Config): string | null {
  if (port === 0) return null;
  const name = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

async function probe(address: string): Promise<"ready" | "unready" | "none"> {
  const { hostname, port } = new URL(address);
  await using outbound = createOutbound({ allowedHosts: [{ host: hostname, port: Number(port) }] });
  try {
    const { status, body } = await outbound.request({
      method: "GET",
      url: `${address}/readyz`,
      timeoutMs: PROBE_MS,
    });
    body.destroy();
    return status === 200 ? "ready" : "unready";
  } catch {
    return "none";
  }
}

function run(command: string, args: readonly string[], env: Environment): Promise<Ran> {
  return new Promise((resolve) => {
    const options = { env: { ...env, LC_ALL: "C" }, maxBuffer: MAX_OUTPUT_BYTES };
    const child = execFile(command, args, options, (error, stdout, stderr) => {
      const status = error === null ? 0 : typeof error.code === "number" ? error.code : null;
      resolve({ status, stdout, stderr });
    });
    child.stdin?.end();
  });
}

function follow(
  command: string,
  args: readonly string[],
  env: Environment,
  signal: AbortSignal,
): Promise<number | null> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env, stdio: ["ignore", "inherit", "inherit"], signal });
    child.once("error", () => resolve(null));
    child.once("exit", (code) => resolve(code));
  });
}

/** npx runs a package from a cache, which may be emptied at any time. */
const NPX_CACHE = /[\\/]_npx[\\/]/;

const SCRIPT = join(PROGRAM_ROOT, "dist", "posthorn.js");

/** How others start this installation. Throws `unavailable` where it will not stay, or was not built. */
export function locateProgram(env: Environment, execPath: string): ProgramPlace {
  const given = readNpxPackage(env);
  if (given !== null) {
    throw new AppError(
      "unavailable",
      `npx runs Posthorn from a cache, which may be emptied at any time. Install it with npm install --global ${given.at(-1) ?? "posthorn"}, then run this again, without npx.`,
    );
  }
  if (!existsSync(SCRIPT)) {
    throw new AppError("unavailable", `There is no ${SCRIPT} yet. Run npm ci in that folder first.`);
  }
  return { node: findLastingNode(execPath), script: SCRIPT, dataFolder: movedFolder(env) };
}

/** Null where every start finds the same folder without. */
function movedFolder(env: Environment): string | null {
  const isMoved = [env["POSTHORN_DATA_DIR"], env["XDG_DATA_HOME"]].some((value) => (value ?? "") !== "");
  return isMoved ? locateDataFolder(env) : null;
}

/** How a client starts this installation: as `locateProgram` says, and by npx where that started this. */
export function locateLaunch(env: Environment, execPath: string): ProgramLaunch {
  const given = readNpxPackage(env);
  if (given !== null)
    return { command: "npx", args: ["-y", ...given, "posthorn"], dataFolder: movedFolder(env) };
  const { node, script, dataFolder } = locateProgram(env, execPath);
  return { command: node, args: [script], dataFolder };
}

/** What npx was told to take the program from, as its options; null where npx did not start this. */
function readNpxPackage({ npm_config_package: given = "" }: Environment): readonly string[] | null {
  if (!NPX_CACHE.test(SCRIPT)) return null;
  // Several packages come with empty lines between them.
  if (given === "" || given === "posthorn" || given.includes("\n")) return [];
  return ["--package", existsSync(given) ? resolve(given) : given];
}

/** What a person types before a command's name in the shell that they are in. */
export function findCommand(env: Environment): string {
  const given = readNpxPackage(env);
  if (given !== null) return ["npx", ...given, "posthorn"].join(" ");
  const isCheckout = existsSync(join(PROGRAM_ROOT, "src", "main.ts"));
  if (!isCheckout || isOnPath(env)) return "posthorn";
  const path = relative(resolve(), SCRIPT);
  return `node ${path.startsWith("..") ? SCRIPT : path}`;
}

/** A command of another installation has another data folder. */
function isOnPath({ PATH = "" }: Environment): boolean {
  return PATH.split(delimiter).some((folder) => {
    try {
      return realpathSync(join(folder, "posthorn")) === realpathSync(SCRIPT);
    } catch {
      return false;
    }
  });
}

/** The person's home folder, by the variables that Node reads. */
export function homeOf(env: Environment): string {
  return env[platform() === "win32" ? "USERPROFILE" : "HOME"] || homedir();
}

/** Homebrew's link to the Node of a formula, which stays when another release takes the place of this one. */
export function findLastingNode(node: string): string {
  const link = node.replace(/\/Cellar\/([^/]+)\/[^/]+\//, "/opt/$1/");
  return existsSync(link) ? link : node;
}

import type { ChildProcess } from "node:child_process";
import { resolve } from "node:path";
import { ConfigError, readConfig, type Config, type Secrets } from "./config.ts";
import {
  locateDataFolder,
  openDataFolder,
  readEnvironment,
  readKeyFile,
  readSecretKey,
  type DataFolder,
  type Environment,
  type EnvironmentReading,
} from "./data-folder.ts";
import type { ConfigurablePlatform } from "../domain/accounts/platform-settings.ts";
import { AppError } from "../domain/errors.ts";
import type { AnyPlatform } from "../ports/platform.ts";
import { settingsOf } from "../ports/platform-setup.ts";
import type { AnyTool } from "../toolkit/define-tool.ts";
import { loadFolder } from "../toolkit/load-folder.ts";

/** What the environment and the data folder say. */
export interface Settings {
  /** Starts `runMediaReader` in a process with little memory and no secrets. Default: media is read in this one. */
  readonly startMediaReader?: () => ChildProcess;
  readonly config: Config;
  readonly secrets: Secrets;
  readonly folder: DataFolder;
  readonly masterKey: Buffer;
}

/** Everything that is known before the database is opened. */
export interface Setup extends Settings {
  readonly catalog: Catalog;
}

/**
 * Reads settings and data folder. Throws AppError, with all bad settings at once, before anything is started.
 */
export async function readSettings(env: Environment): Promise<Settings> {
  const { place, config, secrets } = await readPlace(env);
  const folder = await openDataFolder(place);
  return { config, secrets, folder, masterKey: await readMasterKey({ config, secrets, folder }) };
}

/** The path of the data folder and the settings that apply there. Nothing is made. Throws as `readSettings`. */
export async function readPlace(
  env: Environment,
  place = locateDataFolder(env),
): Promise<Pick<Settings, "config" | "secrets"> & { readonly place: string }> {
  return { place, ...parseConfig(await readEnvironment(place, env), await listPlatformSettings()) };
}

/**
 * The key of the settings, which every host of a PostgreSQL has, else the data folder's, made where it has
 * none. Throws `unavailable` as `readSecretKey`, and where the file of the settings cannot be used.
 */
export async function readMasterKey({
  config: { secretKeyFile },
  secrets: { secretKey },
  folder,
}: Pick<Settings, "config" | "secrets" | "folder">): Promise<Buffer> {
  if (secretKey !== null) return Buffer.from(secretKey, "hex");
  return secretKeyFile === null ? readSecretKey(folder) : readKeyFile(resolve(secretKeyFile));
}

/** As `readSettings`, with all tools and platforms loaded. */
export async function readSetup(env: Environment): Promise<Setup> {
  const catalog = await loadCatalog();
  return { ...(await readSettings(env)), catalog };
}

/** Default settings in a folder of its own, on loopback and any free port, silent. */
export async function readSandboxSetup(path: string): Promise<Setup> {
  return readSetup({ POSTHORN_DATA_DIR: path, POSTHORN_PORT: "0", POSTHORN_LOG_LEVEL: "silent" });
}

/** As `readConfig`, with one AppError that lists the problems. */
export function parseConfig(
  { env, file }: EnvironmentReading,
  platforms: readonly ConfigurablePlatform[],
): { config: Config; secrets: Secrets } {
  try {
    return readConfig(env, platforms, file);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const count = error.problems.length === 1 ? "One setting is" : `${error.problems.length} settings are`;
    const list = error.problems.map((problem) => `  ${problem}`).join("\n");
    const hint = error.hasUnknown ? "\nThe page docs/settings.md lists all settings." : "";
    throw new AppError("invalid", `${count} wrong, so nothing was started:\n${list}${hint}`, {
      cause: error,
    });
  }
}

/** Everything that is added by adding a file. */
export interface Catalog {
  readonly tools: readonly AnyTool[];
  readonly platforms: readonly AnyPlatform[];
}

export const TOOLS = new URL("../../tools/", import.meta.url);
export const PLATFORMS = new URL("../platforms/", import.meta.url);

const loadTools = once(() => loadFolder<AnyTool>(TOOLS));
const loadPlatforms = once(() => loadFolder<AnyPlatform>(PLATFORMS));

export async function loadCatalog(): Promise<Catalog> {
  const [tools, platforms] = await Promise.all([loadTools(), loadPlatforms()]);
  return { tools, platforms };
}

/** The files do not change while the process runs. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => (loaded ??= load());
}

/** The settings of each platform. */
export async function listPlatformSettings(): Promise<readonly ConfigurablePlatform[]> {
  const platforms = await loadPlatforms();
  return platforms.map((platform) => ({ name: platform.name, settings: settingsOf(platform) }));
}

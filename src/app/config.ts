import type * as z from "zod";
import { platform } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import {
  type ConfigurablePlatform,
  readPlatformSettings,
  settingName,
} from "../domain/accounts/platform-settings.ts";
import { checkPlace, readBucketSettings } from "../domain/files/bucket-settings.ts";
import { readDatabaseSettings } from "../domain/settings/database-settings.ts";
import { explainUnknown, mistypedNames } from "../domain/settings/nearest-name.ts";
import { problemsIn } from "../domain/settings/setting-rows.ts";
import { parseUrl } from "../domain/parse-url.ts";
import { Environment, SETTINGS } from "./settings.ts";

/** Every bad setting at once, one line each. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  /** There are names among them that no setting has. */
  readonly hasUnknown: boolean;

  constructor(problems: readonly string[], hasUnknown: boolean) {
    super(problems.join("\n"));
    this.name = "ConfigError";
    this.problems = problems;
    this.hasUnknown = hasUnknown;
  }
}

/** What stands in `posthorn.env`: the lines that are none, and every name, which all must be settings. */
export interface SettingsFile {
  readonly problems: readonly string[];
  readonly names: readonly string[];
}

const PREFIX = "POSTHORN_";
/** By names that others know. */
const OTHERS = SETTINGS.flatMap(({ name }) => (name.startsWith(PREFIX) ? [] : name));

/**
 * Parses the environment once, with the settings of these platforms. Throws ConfigError that names every bad
 * setting, unknown names of the file, and those of the environment that begin as ours do, among them.
 */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  platforms: readonly ConfigurablePlatform[],
  file: SettingsFile = { problems: [], names: [] },
) {
  const given = Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        (entry[0].startsWith(PREFIX) || OTHERS.includes(entry[0])) &&
        entry[1] !== undefined &&
        entry[1] !== "",
    ),
  );

  const parsed = Environment.safeParse(given);
  const problems = [...file.problems];
  if (!parsed.success) problems.push(...problemsIn(parsed.error));
  const ofBucket = readBucketSettings(given);
  const ofDatabase = readDatabaseSettings(given);
  problems.push(...ofBucket.problems, ...ofDatabase.problems);
  if (ofBucket.problems.length === 0) problems.push(...checkPlace(given, ofBucket.bucket));
  const ofPlatforms = readPlatformSettings(given, platforms);
  problems.push(...ofPlatforms.problems);
  const known = SETTINGS.map(({ name }) => name);
  const mistyped = [...file.names, ...mistypedNames(Object.keys(env), known)];
  const names = [...ofPlatforms.rest, ...mistyped.filter((name) => !name.startsWith(PREFIX))];
  const ofAll = platforms.flatMap(({ name, settings }) => settings.map((one) => settingName(name, one.name)));
  const unknown = explainUnknown(names, known, ofAll);
  problems.push(...unknown);
  if (parsed.success) problems.push(...checkOAuth(parsed.data));
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems, unknown.length > 0);

  const values = parsed.data;
  const logFormat: "json" | "text" | null = values.POSTHORN_LOG_FORMAT ?? null;
  const config = {
    host: values.POSTHORN_HOST,
    port: values.POSTHORN_PORT,
    /** Without a slash at its end. Null: `http://localhost:<port>`, known when the port is. */
    publicUrl: values.POSTHORN_PUBLIC_URL ?? null,
    trustProxy: values.POSTHORN_TRUST_PROXY,
    timezone: values.POSTHORN_TIMEZONE,
    maxLatenessMs: values.POSTHORN_MAX_LATENESS,
    resultsRetentionMs: values.POSTHORN_RESULTS_RETENTION,
    allowedHosts: values.POSTHORN_ALLOWED_HOSTS,
    /** Requests a minute and key. */
    rateLimit: values.POSTHORN_RATE_LIMIT,
    logLevel: values.POSTHORN_LOG_LEVEL,
    /** Null: text where a person reads along, else JSON. */
    logFormat,
    /** Null: those that a person usually has. Set to nothing, no folder is open. */
    uploadFolders: env["POSTHORN_UPLOAD_FOLDERS"] === "" ? [] : (values.POSTHORN_UPLOAD_FOLDERS ?? null),
    /** Called each minute while publishing works. Null: none. */
    heartbeatUrl: values.POSTHORN_HEARTBEAT_URL ?? null,
    /** Where the program may be. Null: films are not converted. */
    ffmpeg: placesOfFfmpeg(values.POSTHORN_FFMPEG, env["PATH"]),
    /** The setting names that place, and not the PATH. */
    isFfmpegSet: values.POSTHORN_FFMPEG !== undefined,
    confirm: values.POSTHORN_CONFIRM,
    /** The page at `/app` is served. */
    hasPage: values.POSTHORN_PAGE,
    /** Programs get access to `/mcp` by OAuth. */
    hasOAuth: values.POSTHORN_OAUTH,
    hasLegacySse: values.POSTHORN_LEGACY_SSE,
    /** The sets of tools that MCP lists. */
    toolSets: values.POSTHORN_TOOLS,
    /** Where the files are kept; null: in the data folder. */
    bucket: values.POSTHORN_FILES === "folder" ? null : ofBucket.bucket,
    /** PostgreSQL; null: SQLite in the data folder. */
    database: ofDatabase.database,
    /** In the place of `secret.key` in the data folder; null: that. */
    secretKeyFile: ofDatabase.secretKeyFile,
    /** By full name (`POSTHORN_<PLATFORM>_<NAME>`); secrets among them are only handed to that platform. */
    platformSettings: ofPlatforms.values,
  };
  const secrets = {
    apiKey: values.POSTHORN_API_KEY ?? null,
    /** What a scraper of `/metrics` shows; null: there is no such page. */
    metricsToken: values.POSTHORN_METRICS_TOKEN ?? null,
    /** The mail server with its password. Null: no e-mail is sent. */
    smtp: values.POSTHORN_SMTP_URL ?? null,
    bucketSecretKey: ofBucket.secretAccessKey,
    /** With passwords in them; null: SQLite. */
    database: ofDatabase.addresses,
    /** In hexadecimal digits; null: it stands in a file. */
    secretKey: ofDatabase.secretKey,
  };
  return { config, secrets };
}

/** Settings of one process, read once; `SETTINGS` says what each means. */
export type Config = Readonly<ReturnType<typeof readConfig>["config"]>;

/** The settings that are never shown or logged. */
export type Secrets = Readonly<ReturnType<typeof readConfig>["secrets"]>;

/** Codes and tokens go over the network, and programs look for us at the root of a host. */
function checkOAuth(values: z.infer<typeof Environment>): string[] {
  if (!values.POSTHORN_OAUTH) return [];
  const url = parseUrl(values.POSTHORN_PUBLIC_URL ?? "");
  if (url === null || (url.protocol !== "https:" && !LOOPBACK_HOSTS.includes(url.hostname)))
    return [
      "POSTHORN_OAUTH: is on, which needs an https address. Set POSTHORN_PUBLIC_URL to the one that others reach Posthorn at, for example https://posts.example.com",
    ];
  if (url.pathname !== "/")
    return [
      "POSTHORN_OAUTH: is on, which needs a POSTHORN_PUBLIC_URL without a path. Give Posthorn a host of its own",
    ];
  return values.POSTHORN_PAGE
    ? []
    : [
        "POSTHORN_OAUTH: is on, but POSTHORN_PAGE is off. People say yes to a program on the page: turn it on",
      ];
}

/** For trying it out: nothing leaves the machine. */
const LOOPBACK_HOSTS: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

function placesOfFfmpeg(given: string | undefined, path = ""): readonly string[] | null {
  if (given !== undefined) return given === "off" ? null : [given];
  const name = platform() === "win32" ? "ffmpeg.exe" : "ffmpeg";
  return path.split(delimiter).flatMap((folder) => (isAbsolute(folder) ? [join(folder, name)] : []));
}

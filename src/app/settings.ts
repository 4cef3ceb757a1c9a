import * as z from "zod";
import { statSync, type Stats } from "node:fs";
import { platform, userInfo } from "node:os";
import { isAbsolute } from "node:path";
import { BUCKET_SETTINGS } from "../domain/files/bucket-settings.ts";
import { AppError } from "../domain/errors.ts";
import { DEFAULT_TOOL_SETS, parseToolSets, PERMISSIONS } from "../domain/permissions.ts";
import { DATABASE_SETTINGS } from "../domain/settings/database-settings.ts";
import { HostList, httpAddress, TrustProxy } from "../domain/settings/http-address.ts";
import { toSettingRows, type SettingRow } from "../domain/settings/setting-rows.ts";
import { readSmtpAddress } from "../domain/settings/smtp-address.ts";
import { quote } from "../domain/text/plain-text.ts";
import { TIME_LIMITS } from "../domain/time-limits.ts";
import { HOUR, isTimezone, machineTimezone, MINUTE, SECOND } from "../domain/time.ts";

const DURATION_UNITS: Readonly<Record<string, number>> = { s: SECOND, m: MINUTE, h: HOUR, d: 24 * HOUR };

const Duration = z
  .string()
  .regex(/^\d{1,6}[smhd]$/, "must be a number with a unit, for example 60m, 12h or 3d")
  .transform((text) => Number(text.slice(0, -1)) * (DURATION_UNITS[text.slice(-1)] ?? 0));

const TimeZone = z.string().refine(isTimezone, "must be an IANA time zone, for example Europe/Berlin");

/** A text that `read` makes something of; what is wrong with it comes as a string. */
function readBy<T extends object>(read: (text: string) => T | string): z.ZodType<T, string> {
  return z.string().transform((text, context) => {
    const result = read(text);
    if (typeof result !== "string") return result;
    context.addIssue({ code: "custom", message: result });
    return z.NEVER;
  });
}

const onOff = (unset: "on" | "off", meaning: string) =>
  z
    .enum(["on", "off"], { error: "must be on or off" })
    .default(unset)
    .transform((text) => text === "on")
    .meta({ meaning: `on or off: ${meaning}`, default: unset });

export const Environment = z.object({
  POSTHORN_HOST: z
    .string()
    .regex(/^[^\s/]+$/, "must be an address or a name of this machine, for example 127.0.0.1")
    .default("127.0.0.1")
    .meta({ meaning: "Listening address", default: "127.0.0.1" }),
  POSTHORN_PORT: z
    .string()
    .regex(/^\d{1,5}$/, "must be a port number from 0 to 65535")
    .transform(Number)
    .refine((port) => port <= 65_535, "must be a port number from 0 to 65535")
    .default(4747)
    .meta({ meaning: "Listening port. 0 takes any free one", default: "4747" }),
  POSTHORN_PUBLIC_URL: httpAddress("https://posts.example.com").optional().meta({
    meaning: "Address at which others reach Posthorn, for connect pages, signed media and feeds",
    default: "http://localhost:PORT",
  }),
  POSTHORN_TRUST_PROXY: TrustProxy.meta({
    meaning:
      "Proxies in front that tell the caller's address (`X-Forwarded-For`): how many there are, or their addresses and subnets (comma-separated; `loopback` is this machine)",
  }),
  POSTHORN_DATA_DIR: z.string().optional().meta({
    meaning: "Folder of the database, the files and the secret key",
    default: "./data in a checkout, else the user's data folder",
  }),
  POSTHORN_API_KEY: z
    .string()
    .min(32, "must have 32 characters or more")
    .optional()
    .meta({ meaning: "A fixed key of the default owner with all permissions, 32 characters or more" }),
  POSTHORN_METRICS_TOKEN: z.string().min(16, "must have 16 characters or more").optional().meta({
    meaning:
      "Turns on `/metrics` for Prometheus, which must send this token as `Authorization: Bearer`. It has 16 characters or more",
  }),
  POSTHORN_SMTP_URL: readBy(readSmtpAddress).optional().meta({
    meaning:
      "Mail server for notices by e-mail, with user, password and sender: `smtps://user:password@mail.example.com?from=posthorn@example.com`, or `smtp://` for a server without TLS or with STARTTLS",
    default: "none, and no e-mail is sent",
  }),
  POSTHORN_HEARTBEAT_URL: httpAddress("https://hc-ping.com/…", { mayHaveQuery: true }).optional().meta({
    meaning:
      "Address that is called (GET) every minute while publishing works, for a service that tells you when the calls end",
  }),
  POSTHORN_TIMEZONE: TimeZone.default(machineTimezone).meta({
    meaning: "IANA zone for times without an offset and for calendars",
    default: "the machine's own",
  }),
  POSTHORN_MAX_LATENESS: Duration.default(TIME_LIMITS.maxLateness).meta({
    meaning: "How late a post may still go out after downtime. A later one fails and says so",
    default: "60m",
  }),
  POSTHORN_RESULTS_RETENTION: Duration.refine(
    (ms) => ms >= 31 * 24 * HOUR,
    "must be 31d or more, as figures are collected for 30 days",
  )
    .default(730 * 24 * HOUR)
    .meta({ meaning: "How long figures of live posts and channels are kept", default: "730d" }),
  POSTHORN_ALLOWED_HOSTS: HostList.meta({
    meaning:
      "Hosts with private addresses that media and self-hosted platforms may be at (host or host:port, comma-separated)",
  }),
  POSTHORN_FILES: z.enum(["folder", "bucket"], { error: "must be folder or bucket" }).optional().meta({
    meaning:
      "folder or bucket: where the files are kept. With `DATABASE_URL`, `folder` must be set explicitly, and all hosts must share it",
    default: "bucket if the `POSTHORN_S3_` settings are set, else folder",
  }),
  POSTHORN_RATE_LIMIT: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, "must be a whole number of requests a minute, 1 or more")
    .transform(Number)
    .default(6_000)
    .meta({ meaning: "Requests that one key may make in a minute", default: "6000" }),
  POSTHORN_UPLOAD_FOLDERS: z
    .string()
    .transform((text, context) => {
      const folders = text.split(",").flatMap((folder) => folder.trim() || []);
      const named = folders.filter((folder) => folder !== "none");
      for (const folder of named)
        if (!isFolder(folder))
          context.addIssue({
            code: "custom",
            message: `must be whole paths of folders that exist. ${quote(folder)} is not one`,
          });
      return named;
    })
    .optional()
    .meta({
      meaning:
        "Folders (comma-separated) in which upload_file may read a path over stdio, except hidden ones. none shuts them all. " +
        "Without it, the folders of the client's project are open, too, and the person is asked about other pictures, films, sounds and documents",
      default: "Desktop, Documents, Downloads, Movies, Music, Pictures and Videos of the user",
    }),
  POSTHORN_FFMPEG: z
    .string()
    .refine(
      (text) => text === "off" || isProgramPath(text),
      "must be off, or the whole path of the program ffmpeg",
    )
    .optional()
    .meta({
      meaning:
        "Path of the program ffmpeg (with ffprobe beside it), which makes films what a platform takes. off: films are sent as they are, or refused",
      default: "the one on the PATH, if there is one",
    }),
  POSTHORN_CONFIRM: z
    .enum(["never", "risky", "always"], { error: "must be never, risky or always" })
    .default("risky")
    .meta({
      meaning:
        "Whether a person is asked before a tool publishes at once, edits or cancels a post, settles an outcome, disconnects a channel or deletes a file. " +
        "risky: only over MCP, where the client can ask. always: where the client cannot ask, the call is refused, and the command line asks, too. never: not at all, for example where a client can ask but has no person in front of it",
      default: "risky",
    }),
  POSTHORN_TOOLS: readBy(
    (text) => parseToolSets(text) ?? `must be all, or some of ${PERMISSIONS.join(", ")}, separated by commas`,
  )
    .prefault(DEFAULT_TOOL_SETS.join(","))
    .meta({
      meaning:
        "all, or the sets of tools (comma-separated, named after permissions) that MCP lists and calls",
      default: DEFAULT_TOOL_SETS.join(","),
    }),
  POSTHORN_PAGE: onOff("on", "the page for people at `/app`"),
  POSTHORN_OAUTH: onOff(
    "off",
    "programs such as Claude and ChatGPT connect to `/mcp` by OAuth, once a person says yes on the page. Needs an https `POSTHORN_PUBLIC_URL`",
  ),
  POSTHORN_LEGACY_SSE: onOff("on", "MCP over HTTP+SSE (`/sse`, `/messages`) for clients of 2024"),
  POSTHORN_LOG_LEVEL: z
    .enum(["debug", "info", "warn", "error", "silent"], {
      error: "must be debug, info, warn, error or silent",
    })
    .default("info")
    .meta({ meaning: "debug, info, warn, error or silent. The log goes to standard error", default: "info" }),
  POSTHORN_LOG_FORMAT: z.enum(["json", "text"], { error: "must be json or text" }).optional().meta({
    meaning: "json or text: a line of JSON for programs, or one for people",
    default: "text on a terminal, else json",
  }),
});

/** What the README and the check for unknown names know about each setting. */
export const SETTINGS: readonly SettingRow[] = toSettingRows(Environment.shape).flatMap((row) =>
  row.name === "POSTHORN_FILES" ? [...DATABASE_SETTINGS, row, ...BUCKET_SETTINGS] : row,
);

function isProgramPath(path: string): boolean {
  return isAbsolute(path) && (statSync(path, { throwIfNoEntry: false })?.isFile() ?? false);
}

function isFolder(path: string): boolean {
  try {
    return isAbsolute(path) && statSync(path).isDirectory();
  } catch {
    return false;
  }
}

const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;

/**
 * Throws `unavailable` where other users could change the settings in a file, or read secrets among them. A
 * file of another user's, as containers mount theirs, can be read by this one only if others than its owner
 * may.
 */
export function assertTrusted(file: string, { mode, uid }: Stats, names: readonly string[]): void {
  // Windows has no such bits; there the user's own folder protects it.
  if (platform() === "win32") return;
  const hasSecrets = names.some(isSecretSetting);
  const isWritable = (mode & OTHERS_WRITE) !== 0;
  const isReadable = hasSecrets && isOwnUser(uid) && (mode & OTHERS) !== 0;
  if (!isWritable && !isReadable) return;
  const what = isWritable ? "can change" : "can read";
  const which = hasSecrets ? ", which holds keys or secrets" : "";
  throw new AppError(
    "unavailable",
    `Other users of this machine ${what} ${file}${which}. Run: chmod 600 ${file} (and replace what they may have seen). Where it is mounted, give it that mode there.`,
  );
}

function isOwnUser(uid: number): boolean {
  try {
    return userInfo().uid === uid;
  } catch {
    // A container's user without a name has only files that are mounted.
    return false;
  }
}

/** By the words that names of secrets end with, platforms' own among them: one too many costs a chmod. */
function isSecretSetting(name: string): boolean {
  return /(KEY|KEY_ID|SECRET|TOKEN|PASSWORD|(SMTP|HEARTBEAT)_URL|^DATABASE_.*URL)$/.test(name);
}

import type { Stats } from "node:fs";
import { platform, userInfo } from "node:os";
import { BUCKET_SETTINGS } from "../domain/files/bucket-settings.ts";
import { AppError } from "../domain/errors.ts";
import { DEFAULT_TOOL_SETS } from "../domain/permissions.ts";
import { DATABASE_SETTINGS } from "../domain/settings/database-settings.ts";
import type { SettingRow } from "../domain/settings/setting-rows.ts";

/** What `posthorn doctor`, the README and the check for unknown names know about each setting. */
export const SETTINGS: readonly SettingRow[] = [
  { name: "POSTHORN_HOST", meaning: "Listening address", default: "127.0.0.1" },
  { name: "POSTHORN_PORT", meaning: "Listening port. 0 takes any free one", default: "4747" },
  {
    name: "POSTHORN_PUBLIC_URL",
    meaning: "Address at which others reach Posthorn, for connect pages, signed media and feeds",
    default: "http://localhost:PORT",
  },
  {
    name: "POSTHORN_TRUST_PROXY",
    meaning:
      "Proxies in front that tell the caller's address (`X-Forwarded-For`): how many there are, or their addresses and subnets (comma-separated; `loopback` is this machine)",
    default: "none",
  },
  {
    name: "POSTHORN_DATA_DIR",
    meaning: "Folder of the database, the files and the secret key",
    default: "./data in a checkout, else the user's data folder",
  },
  {
    name: "POSTHORN_API_KEY",
    meaning: "A fixed key of the default owner with all permissions, 32 characters or more",
    default: "none",
  },
  {
    name: "POSTHORN_METRICS_TOKEN",
    meaning:
      "Turns on `/metrics` for Prometheus, which must send this token as `Authorization: Bearer`. It has 16 characters or more",
    default: "none",
  },
  {
    name: "POSTHORN_SMTP_URL",
    meaning:
      "Mail server for notices by e-mail, with user, password and sender: `smtps://user:password@mail.example.com?from=posthorn@example.com`, or `smtp://` for a server without TLS or with STARTTLS",
    default: "none, and no e-mail is sent",
  },
  {
    name: "POSTHORN_HEARTBEAT_URL",
    meaning:
      "Address that is called (GET) every minute while publishing works, for a service that tells you when the calls end",
    default: "none",
  },
  {
    name: "POSTHORN_TIMEZONE",
    meaning: "IANA zone for times without an offset and for calendars",
    default: "the machine's own",
  },
  {
    name: "POSTHORN_MAX_LATENESS",
    meaning: "How late a post may still go out after downtime. A later one fails and says so",
    default: "60m",
  },
  {
    name: "POSTHORN_RESULTS_RETENTION",
    meaning: "How long figures of live posts and channels are kept",
    default: "730d",
  },
  {
    name: "POSTHORN_ALLOWED_HOSTS",
    meaning:
      "Hosts with private addresses that media and self-hosted platforms may be at (host or host:port, comma-separated)",
    default: "none",
  },
  ...DATABASE_SETTINGS,
  {
    name: "POSTHORN_FILES",
    meaning:
      "folder or bucket: where the files are kept. With `DATABASE_URL`, `folder` must be set explicitly, and all hosts must share it",
    default: "bucket if the `POSTHORN_S3_` settings are set, else folder",
  },
  ...BUCKET_SETTINGS,
  { name: "POSTHORN_RATE_LIMIT", meaning: "Requests that one key may make in a minute", default: "6000" },
  {
    name: "POSTHORN_UPLOAD_FOLDERS",
    meaning:
      "Folders (comma-separated) in which upload_file may read a path over stdio, except hidden ones. none shuts them all. " +
      "Without it, the folders of the client's project are open, too, and the person is asked about other pictures, films, sounds and documents",
    default: "Desktop, Documents, Downloads, Movies, Music, Pictures and Videos of the user",
  },
  {
    name: "POSTHORN_FFMPEG",
    meaning:
      "Path of the program ffmpeg (with ffprobe beside it), which makes films what a platform takes. off: films are sent as they are, or refused",
    default: "the one on the PATH, if there is one",
  },
  {
    name: "POSTHORN_CONFIRM",
    meaning:
      "Whether a person is asked before a tool publishes at once, edits or cancels a post, settles an outcome, disconnects a channel or deletes a file. " +
      "risky: only over MCP, where the client can ask. always: where the client cannot ask, the call is refused, and the command line asks, too. never: not at all, for example where a client can ask but has no person in front of it",
    default: "risky",
  },
  {
    name: "POSTHORN_TOOLS",
    meaning: "all, or the sets of tools (comma-separated, named after permissions) that MCP lists and calls",
    default: DEFAULT_TOOL_SETS.join(","),
  },
  {
    name: "POSTHORN_PAGE",
    meaning: "on or off: the page for people at `/app`",
    default: "on",
  },
  {
    name: "POSTHORN_OAUTH",
    meaning:
      "on or off: programs such as Claude and ChatGPT connect to `/mcp` by OAuth, once a person says yes on the page. Needs an https `POSTHORN_PUBLIC_URL`",
    default: "off",
  },
  {
    name: "POSTHORN_LEGACY_SSE",
    meaning: "on or off: MCP over HTTP+SSE (`/sse`, `/messages`) for clients of 2024",
    default: "on",
  },
  {
    name: "POSTHORN_LOG_LEVEL",
    meaning: "debug, info, warn, error or silent. The log goes to standard error",
    default: "info",
  },
  {
    name: "POSTHORN_LOG_FORMAT",
    meaning: "json or text: a line of JSON for programs, or one for people",
    default: "text on a terminal, else json",
  },
];

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

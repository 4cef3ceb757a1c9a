import { posix, win32 } from "node:path";
import type { OwnFolders } from "../host.ts";

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export type Entry = Readonly<Record<string, unknown>>;

export interface Client {
  readonly name: string;
  readonly title: string;
  /** The key below which the client has its servers, each under its name. */
  readonly section: string;
  /** Where its configuration may be: the first that is there, else the last. */
  files(place: OwnFolders): readonly string[];
  /** Its own command line that adds a server, or removes it (null); left out: its file is written. */
  own?(launch: Launch | null): readonly [command: string, ...args: string[]];
  /** What to write for this launch, in the client's own words. */
  entry(launch: Launch): Entry;
  /** What the person does then. */
  readonly next: string;
}

export const SERVER_NAME = "posthorn";

const RESTART = "Quit it and start it again.";
const NEW_SESSION = "It is there from its next session on.";

const plain = ({ command, args, env }: Launch): Entry => ({
  command,
  args,
  ...(Object.keys(env).length > 0 && { env }),
});

const typed = (launch: Launch): Entry => ({ type: "stdio", ...plain(launch) });

export const CLIENTS: readonly Client[] = [
  {
    name: "claude-desktop",
    title: "Claude Desktop",
    section: "mcpServers",
    // Windows gives an application of its store folders of its own.
    files(place) {
      const local = place.env["LOCALAPPDATA"] || join(place, place.home, "AppData", "Local");
      const roaming = join(place, local, "Packages", "Claude_pzs8sxrjxfjjc", "LocalCache", "Roaming");
      const folders = [...(place.platform === "win32" ? [roaming] : []), settings(place)];
      return folders.map((folder) => join(place, folder, "Claude", "claude_desktop_config.json"));
    },
    entry: plain,
    next: RESTART,
  },
  {
    name: "claude-code",
    title: "Claude Code",
    section: "mcpServers",
    own: (launch) =>
      launch === null
        ? ["claude", "mcp", "remove", ...FOR_USER, SERVER_NAME]
        : ["claude", "mcp", "add-json", ...FOR_USER, SERVER_NAME, JSON.stringify(typed(launch))],
    files: below(({ env, home }) => env["CLAUDE_CONFIG_DIR"] || home, ".claude.json"),
    entry: typed,
    next: NEW_SESSION,
  },
  {
    name: "codex",
    title: "Codex",
    section: "mcp_servers",
    own: (launch) =>
      launch === null
        ? ["codex", "mcp", "remove", SERVER_NAME]
        : ["codex", "mcp", "add", SERVER_NAME, ...flags(launch), "--", launch.command, ...launch.args],
    files: below((place) => place.env["CODEX_HOME"] || join(place, place.home, ".codex"), "config.toml"),
    entry: plain,
    next: NEW_SESSION,
  },
  {
    name: "cursor",
    title: "Cursor",
    section: "mcpServers",
    files: below(({ home }) => home, ".cursor", "mcp.json"),
    entry: plain,
    next: "Turn it on in its settings, under MCP, if it asks.",
  },
  {
    name: "vscode",
    title: "VS Code",
    section: "servers",
    files: below(settings, "Code", "User", "mcp.json"),
    entry: typed,
    next: 'Run "MCP: List Servers" in its command palette to start it.',
  },
  {
    name: "gemini-cli",
    title: "Gemini CLI",
    section: "mcpServers",
    own: (launch) =>
      launch === null
        ? ["gemini", "mcp", "remove", ...FOR_USER, SERVER_NAME]
        : [
            "gemini",
            "mcp",
            "add",
            ...FOR_USER,
            ...flags(launch),
            SERVER_NAME,
            launch.command,
            ...launch.args,
          ],
    files: below(({ env, home }) => env["GEMINI_CLI_HOME"] || home, ".gemini", "settings.json"),
    entry: plain,
    next: NEW_SESSION,
  },
  {
    name: "opencode",
    title: "opencode",
    section: "mcp",
    files: (place) =>
      ["opencode.jsonc", "opencode.json"].map((file) => join(place, xdg(place), "opencode", file)),
    entry: ({ command, args, env }) => ({
      type: "local",
      command: [command, ...args],
      ...(Object.keys(env).length > 0 && { environment: env }),
    }),
    next: NEW_SESSION,
  },
];

/** For every folder of the person. */
const FOR_USER = ["--scope", "user"] as const;

function flags({ env }: Launch): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
}

export function showEntry({ name, section, entry }: Client, launch: Launch): string {
  if (name !== "codex") return JSON.stringify({ [section]: { [SERVER_NAME]: entry(launch) } }, null, 2);
  const { command, args } = launch;
  return `[${section}.${SERVER_NAME}]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}`;
}

function below(root: (place: OwnFolders) => string, ...parts: readonly string[]): Client["files"] {
  return (place) => [join(place, root(place), ...parts)];
}

function join({ platform }: OwnFolders, ...parts: readonly string[]): string {
  return (platform === "win32" ? win32 : posix).join(...parts);
}

function settings(place: OwnFolders): string {
  const { platform, home, env } = place;
  if (platform === "darwin") return join(place, home, "Library", "Application Support");
  if (platform === "win32") return env["APPDATA"] || join(place, home, "AppData", "Roaming");
  return xdg(place);
}

function xdg(place: OwnFolders): string {
  return place.env["XDG_CONFIG_HOME"] || join(place, place.home, ".config");
}

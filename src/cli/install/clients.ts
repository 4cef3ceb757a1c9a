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
  /** Its command that adds and removes a server; left out: its file is written. */
  readonly own?: OwnCommand;
  /** What to write for this launch, in the client's own words. */
  entry(launch: Launch): Entry;
  /** What the person does then. */
  readonly next: string;
}

interface OwnCommand {
  readonly command: string;
  add(launch: Launch): readonly string[];
  readonly remove: readonly string[];
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
    own: {
      command: "claude",
      add: (launch) => ["mcp", "add-json", "--scope", "user", SERVER_NAME, JSON.stringify(typed(launch))],
      remove: ["mcp", "remove", "--scope", "user", SERVER_NAME],
    },
    files: (place) => [join(place, place.env["CLAUDE_CONFIG_DIR"] || place.home, ".claude.json")],
    entry: typed,
    next: NEW_SESSION,
  },
  {
    name: "codex",
    title: "Codex",
    section: "mcp_servers",
    own: {
      command: "codex",
      add: ({ command, args, env }) => ["mcp", "add", SERVER_NAME, ...flags(env), "--", command, ...args],
      remove: ["mcp", "remove", SERVER_NAME],
    },
    files: (place) => [
      join(place, place.env["CODEX_HOME"] || join(place, place.home, ".codex"), "config.toml"),
    ],
    entry: plain,
    next: NEW_SESSION,
  },
  {
    name: "cursor",
    title: "Cursor",
    section: "mcpServers",
    files: (place) => [join(place, place.home, ".cursor", "mcp.json")],
    entry: plain,
    next: "Turn it on in its settings, under MCP, if it asks.",
  },
  {
    name: "vscode",
    title: "VS Code",
    section: "servers",
    files: (place) => [join(place, settings(place), "Code", "User", "mcp.json")],
    entry: typed,
    next: 'Run "MCP: List Servers" in its command palette to start it.',
  },
  {
    name: "gemini-cli",
    title: "Gemini CLI",
    section: "mcpServers",
    own: {
      command: "gemini",
      add: ({ command, args, env }) => [
        "mcp",
        "add",
        "--scope",
        "user",
        ...flags(env),
        SERVER_NAME,
        command,
        ...args,
      ],
      remove: ["mcp", "remove", "--scope", "user", SERVER_NAME],
    },
    files: (place) => [join(place, place.env["GEMINI_CLI_HOME"] || place.home, ".gemini", "settings.json")],
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

function flags(env: Launch["env"]): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
}

export function showEntry({ name, section, entry }: Client, launch: Launch): string {
  if (name !== "codex") return JSON.stringify({ [section]: { [SERVER_NAME]: entry(launch) } }, null, 2);
  const { command, args } = launch;
  return `[${section}.${SERVER_NAME}]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}`;
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

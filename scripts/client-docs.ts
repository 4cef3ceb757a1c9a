import { CLIENTS, SERVER_NAME, showEntry, type Client, type Launch } from "../src/cli/install/clients.ts";
import { ASSISTANTS, cursorQuery, installFor, vscodePath } from "../apps/page/rooms/settings/install.ts";
import { code, table } from "./markdown.ts";
import { PLUGINS, WRITER } from "./plugins.ts";

/** After `npm install --global`, for whoever writes it by hand. */
const LAUNCH: Launch = { command: "posthorn", args: ["stdio"], env: {} };

const PLACES = [
  { platform: "linux", home: "~" },
  { platform: "darwin", home: "~" },
  { platform: "win32", home: "%USERPROFILE%" },
] as const;

/** What a client's own command does the same with. */
const COMMANDS: Readonly<Record<string, string>> = {
  "claude-code": "claude mcp add --scope user posthorn -- posthorn stdio",
  codex: "codex mcp add posthorn -- posthorn stdio",
  "gemini-cli": "gemini mcp add --scope user posthorn posthorn stdio",
  vscode: `code --add-mcp '${JSON.stringify({ name: SERVER_NAME, command: "posthorn", args: ["stdio"] })}'`,
};

/** `docs/clients.md`. */
export function clientsPage(): string {
  return [
    "# Clients",
    "One command sets Posthorn up in a client. It shows what it does and asks first. Claude Code, Codex and Gemini CLI are set up by their own `mcp add`. Of the others it writes the configuration file, leaves everything else in it as it is and keeps the old file beside it. Without a name, `posthorn install` shows which clients start Posthorn already. It asks what the agent may do, and proposes one that writes drafts. `--role` says it at once: `writer`, `publisher`, `viewer` or `admin`. `--remove` takes Posthorn out again, `--dry-run` only shows, and `--yes` asks nothing: without `--role` the agent may then do everything.",
    fence("sh", CLIENTS.map(({ name }) => `posthorn install ${name}`).join("\n")),
    "`posthorn` is a command after `npm install --global .` in a checkout. What `install` writes has absolute paths (Node's and Posthorn's), because a client on a desktop often knows no `PATH`. Run by `npx`, it writes that `npx` starts Posthorn, from the same package. Nothing else is needed. Over stdio there is no key: everyone who can start the client can use Posthorn, as far as its role goes.",
    "## While the client is open, and after",
    "A client over stdio starts Posthorn and ends it. Posts go out only while some Posthorn process runs: the client's, or one that stays. `posthorn service install` makes one that starts with your machine. `posthorn serve` runs until its terminal closes. They share the data folder, and no post goes out twice. What became due meanwhile goes out at the next start if it is at most `POSTHORN_MAX_LATENESS` late, and fails with a sentence after that.",
    "## Pages in a conversation",
    "A client that shows MCP Apps draws what `show_calendar` answers as a calendar, and what `list_drafts` answers as a review: what goes where and when, as each channel will show it, with buttons to approve, ask for changes or discard. Such a client keeps `decide_draft` from its model, and asks you before anything is approved.",
    "## Pictures",
    "Over stdio an agent may give `upload_file` a path in your Desktop, Documents, Downloads, Movies, Music, Pictures or Videos folder (also under the names that your desktop has for them), or in the folder that the client works in, unless that is your whole home folder. For a file elsewhere you are asked, where the client can ask. Hidden files and folders, links that lead out, and files whose content is no picture, film or sound are never taken. `POSTHORN_UPLOAD_FOLDERS` names other folders instead, and `none` shuts them all. Then an agent sends the bytes to the address that `upload_file` gives without a path. macOS asks you itself before a program reads these folders.",
    "## By hand",
    ...CLIENTS.flatMap(byHand),
    "## One click",
    "They start Posthorn with `npx`, so they work once it is on the npm registry. The agent writes drafts. Take `--role writer` out of what they add, and it may do everything.",
    [
      `- [Add to Cursor](${cursorLink()})`,
      `- [Add to VS Code](${vscodeLink("vscode")}), [to VS Code Insiders](${vscodeLink("vscode-insiders")})`,
    ].join("\n"),
    "## As a plugin",
    "A plugin starts Posthorn like that, too, and has a [skill](../skills/posthorn/SKILL.md) that teaches the agent how to work with it: drafts first, times, media, errors.",
    plugins(),
    "From a checkout or an installed package, its folder takes the place of the repository's name, and `gemini extensions link` that of `gemini extensions install`.",
    "## Claude Desktop, without npm",
    "`npm run bundle` in a checkout writes `posthorn.mcpb`, which Claude Desktop installs by a double click. It has no native code and needs a Node with SQLite of its own (22.13 or newer), as Claude Desktop brings one. Pictures are taken and checked. The bundle has no picture library: a picture that is too large for a platform is refused with its limits, and not made smaller. Claude Desktop runs the bundle inside of itself, where no second process looks at files. Give it only files that you trust. Data folder, time zone and upload folders are asked for in its settings. Use either the bundle or `posthorn install claude-desktop`.",
    "## Over HTTP",
    "While `posthorn serve` (or the service) runs, clients connect to `http://127.0.0.1:4747/mcp` with a key: `posthorn keys create --name Cursor` makes one that reads, publishes and uploads, and `--role admin` one that connects channels and manages webhooks, too. Older clients use `/sse`.",
    "On the page, Settings makes a key and the same for you, with a link that Cursor and VS Code open.",
    ...ASSISTANTS.filter(({ needsKey }) => needsKey).flatMap(overHttp),
    'opencode takes `"type": "remote"`, `url` and `headers`.',
    "## claude.ai and ChatGPT",
    "Connectors of claude.ai and ChatGPT sign in with OAuth, and reach Posthorn from the internet. So the server needs an https address that they reach ([for a machine at home](remote.md)). Set these and start it anew:",
    fence("sh", "POSTHORN_PUBLIC_URL=https://posts.example.com\nPOSTHORN_OAUTH=on"),
    `Where that is done, Settings on the page has a link that opens claude.ai with everything filled in: \`${installFor("claude", { publicUrl: "https://posts.example.com", key: "" }).link}\``,
    "Or add a custom connector there with the address `<publicUrl>/mcp`, as `https://posts.example.com/mcp`. It needs no key, and fields for a client ID and secret stay empty.",
    "The program opens Posthorn's page. You sign in there if you are not, and see who asks, whether that is verified, and where the answer goes. You choose what it may do (proposed: it writes drafts, you approve) and which channels it reaches, then Allow or Deny. The question is good for 10 minutes. Settings lists what is connected by OAuth, and ends it. Other clients with OAuth, such as Claude Code, Cursor and VS Code, connect to the same address without a key.",
  ].join("\n\n");
}

function byHand(client: Client): string[] {
  const files = PLACES.map((place) => client.files({ ...place, env: envOf(place.platform) }).at(-1) ?? "");
  const [linux = "", mac = "", windows = ""] = files;
  const command = COMMANDS[client.name];
  return [
    `### ${client.title}`,
    linux === mac
      ? `${code([linux])}; on Windows ${code([windows])}:`
      : table(
          ["system", "file"],
          [
            ["Linux", code([linux])],
            ["macOS", code([mac])],
            ["Windows", code([windows])],
          ],
        ),
    fence(client.name === "codex" ? "toml" : "json", showEntry(client, LAUNCH)),
    ...(command === undefined ? [] : [`Or with its own command: \`${command}\``]),
  ];
}

function envOf(platform: NodeJS.Platform): Record<string, string> {
  return platform === "win32" ? { APPDATA: "%APPDATA%", LOCALAPPDATA: "%LOCALAPPDATA%" } : {};
}

function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

/** By the page of theirs, as Markdown on the web has no other schemes. */
export function cursorLink(): string {
  return `https://cursor.com/install-mcp?${cursorQuery(ONE_CLICK)}`;
}

/** By their redirect, for the same reason. */
export function vscodeLink(scheme: "vscode" | "vscode-insiders"): string {
  const host = scheme === "vscode" ? "vscode.dev" : "insiders.vscode.dev";
  return `https://${host}/redirect?url=${encodeURIComponent(`${scheme}:${vscodePath(ONE_CLICK)}`)}`;
}

const ONE_CLICK = { command: WRITER.command, args: WRITER.args };

const SERVER = { publicUrl: "http://127.0.0.1:4747", key: "<API_KEY>" };

/** As the page shows it, with a key that is no key. */
function overHttp({ name, title }: (typeof ASSISTANTS)[number]): string[] {
  const { text, todo } = installFor(name, SERVER);
  const language = text.startsWith("{") ? "json" : text.startsWith("[") ? "toml" : "sh";
  return [
    `**${title}.** ${todo.replace(/^Or (\w)/, (_or, first: string) => first.toUpperCase())}`,
    fence(language, text),
  ];
}

function plugins(): string {
  return PLUGINS.map(
    ({ title, add }) => `- ${title}: ${add.map((line) => `\`${line}\``).join(", then ")}`,
  ).join("\n");
}

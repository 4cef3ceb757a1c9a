/** How an assistant is told of Posthorn. */
export interface Assistant {
  readonly name: string;
  readonly title: string;
  /** False: it starts Posthorn by itself, on the machine that Posthorn is on. */
  readonly needsKey: boolean;
  /** It signs in by OAuth alone, from the internet. */
  readonly needsOAuth?: boolean;
  /** One line on its card. */
  readonly where: string;
}

export const ASSISTANTS = [
  { name: "cursor", title: "Cursor", needsKey: true, where: "One click" },
  { name: "vscode", title: "VS Code", needsKey: true, where: "One click" },
  { name: "claude-code", title: "Claude Code", needsKey: true, where: "One command" },
  { name: "codex", title: "Codex", needsKey: true, where: "A few lines in its file" },
  { name: "gemini-cli", title: "Gemini CLI", needsKey: true, where: "One command" },
  {
    name: "claude-desktop",
    title: "Claude Desktop",
    needsKey: false,
    where: "On this server's machine",
  },
  { name: "claude", title: "Claude", needsKey: false, needsOAuth: true, where: "One click" },
  { name: "chatgpt", title: "ChatGPT", needsKey: false, needsOAuth: true, where: "A few clicks there" },
  { name: "other", title: "Another one", needsKey: true, where: "Address and header" },
] as const satisfies readonly Assistant[];
export type AssistantName = (typeof ASSISTANTS)[number]["name"];

/** What the person then opens or copies. */
export interface Install {
  /** Opened in the assistant; null: there is none, and the text is copied. */
  readonly link: string | null;
  readonly text: string;
  /** What to do with the text. */
  readonly todo: string;
  /** What to do after that; "": nothing. */
  readonly next: string;
}

/** Where assistants reach the server, and by which key. */
export interface Server {
  /** Without a slash at its end. */
  readonly publicUrl: string;
  readonly key: string;
}

const NAME = "posthorn";

export function mcpUrl(publicUrl: string): string {
  return `${publicUrl}/mcp`;
}

export function installFor(assistant: AssistantName, server: Server): Install {
  return INSTALLS[assistant](mcpUrl(server.publicUrl), server.key);
}

const INSTALLS: Readonly<Record<AssistantName, (url: string, key: string) => Install>> = {
  cursor(url, key) {
    const entry = { url, headers: headersOf(key) };
    return {
      link: `cursor://anysphere.cursor-deeplink/mcp/install?${cursorQuery(entry)}`,
      text: show({ mcpServers: { [NAME]: entry } }),
      todo: "Or put this into .cursor/mcp.json in your home folder.",
      next: "Cursor shows what it adds and asks.",
    };
  },
  vscode(url, key) {
    const entry = { type: "http", url, headers: headersOf(key) };
    return {
      link: `vscode:${vscodePath(entry)}`,
      text: show({ servers: { [NAME]: entry } }),
      todo: 'Or run "MCP: Open User Configuration" in the command palette and put this there.',
      next: "VS Code shows what it adds and asks.",
    };
  },
  // https://code.claude.com/docs/en/mcp
  "claude-code": (url, key) => ({
    link: null,
    text: `claude mcp add --scope user --transport http ${NAME} ${url} --header "${bearer(key)}"`,
    todo: "Run this in a terminal.",
    next: "Posthorn is there from the next session on.",
  }),
  // https://developers.openai.com/codex/mcp
  codex: (url, key) => ({
    link: null,
    text: `[mcp_servers.${NAME}]\nurl = ${JSON.stringify(url)}\nhttp_headers = { Authorization = ${JSON.stringify(bearer(key).replace(/^Authorization: /, ""))} }`,
    todo: "Put this at the end of .codex/config.toml in your home folder.",
    next: "Posthorn is there from the next session on.",
  }),
  // https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md
  "gemini-cli": (url, key) => ({
    link: null,
    text: `gemini mcp add --scope user --transport http --header "${bearer(key)}" ${NAME} ${url}`,
    todo: "Run this in a terminal.",
    next: "Posthorn is there from the next session on.",
  }),
  "claude-desktop": () => ({
    link: null,
    text: "posthorn install claude-desktop",
    todo: "Run this in a terminal on the machine that Posthorn is on.",
    next: "It asks what the assistant may do, and proposes that it writes drafts. Then quit Claude Desktop and start it again.",
  }),
  // https://claude.com/docs/connectors/building/directory-vs-custom
  claude: (url) => ({
    link: `https://claude.ai/customize/connectors?modal=add-custom-connector&connectorName=Posthorn&connectorUrl=${encodeURIComponent(url)}`,
    text: url,
    todo: 'Or add a custom connector with this address, under "Customize", "Connectors".',
    next: 'Then press "Connect". This page asks what Claude may do.',
  }),
  // https://developers.openai.com/apps-sdk/deploy/connect-chatgpt
  chatgpt: (url) => ({
    link: null,
    text: url,
    todo: 'In ChatGPT, open "Settings", "Apps", "Advanced settings", and turn on developer mode. Then create an app with this address and OAuth.',
    next: "This page then asks what ChatGPT may do.",
  }),
  other: (url, key) => ({
    link: null,
    text: show({ mcpServers: { [NAME]: { type: "http", url, headers: headersOf(key) } } }),
    todo: "Put this where the assistant keeps its MCP servers.",
    next: "",
  }),
};

/** What Cursor reads of an address: https://cursor.com/docs/mcp/install-links */
export function cursorQuery(entry: object): string {
  return `name=${NAME}&config=${encodeURIComponent(base64(entry))}`;
}

/** What VS Code reads: https://code.visualstudio.com/api/extension-guides/ai/mcp#create-an-mcp-installation-url */
export function vscodePath(entry: object): string {
  return `mcp/install?${encodeURIComponent(JSON.stringify({ name: NAME, ...entry }))}`;
}

function bearer(key: string): string {
  return `Authorization: Bearer ${key}`;
}

function headersOf(key: string): { readonly Authorization: string } {
  return { Authorization: `Bearer ${key}` };
}

/** Addresses are ASCII, as keys are. */
function base64(value: object): string {
  return btoa(JSON.stringify(value));
}

function show(value: object): string {
  return JSON.stringify(value, null, 2);
}

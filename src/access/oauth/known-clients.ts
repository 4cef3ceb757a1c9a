/** What a program says of itself at the address that is its id. */
export interface ClientDocument {
  readonly id: string;
  readonly name: string;
  readonly uri: string | null;
  readonly redirectUris: readonly string[];
}

/**
 * Documents of programs whose servers answer 403 to many data centres. Sources:
 * https://claude.com/docs/connectors/building/authentication (Claude, Claude Code) and
 * https://developers.openai.com/plugins/build/auth (ChatGPT).
 */
const KNOWN: readonly ClientDocument[] = [
  {
    id: "https://claude.ai/oauth/mcp-oauth-client-metadata",
    name: "Claude",
    uri: "https://claude.ai",
    redirectUris: ["https://claude.ai/api/mcp/auth_callback", "https://claude.com/api/mcp/auth_callback"],
  },
  {
    id: "https://claude.ai/oauth/claude-code-client-metadata",
    name: "Claude Code",
    uri: "https://claude.ai",
    redirectUris: ["http://localhost/callback", "http://127.0.0.1/callback"],
  },
  {
    id: "https://chatgpt.com/oauth/client.json",
    name: "ChatGPT",
    uri: "https://chatgpt.com",
    redirectUris: ["https://chatgpt.com/connector_platform_oauth_redirect"],
  },
];

/** A connector of ChatGPT may have a document and an address of its own. */
const CONNECTOR = /^https:\/\/chatgpt\.com\/oauth\/([\w-]{1,100})\/client\.json$/;

export function findKnownClient(id: string): ClientDocument | null {
  const known = KNOWN.find((one) => one.id === id);
  if (known !== undefined) return known;
  const connector = CONNECTOR.exec(id)?.[1];
  // Codex comes back to loopback, as its own document says.
  if (connector === undefined || connector === "codex") return null;
  const redirectUris = [
    `https://chatgpt.com/connector/oauth/${connector}`,
    "https://chatgpt.com/connector_platform_oauth_redirect",
  ];
  return { id, name: "ChatGPT", uri: "https://chatgpt.com", redirectUris };
}

import { auth as authOfSdk1 } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client as ClientOfSdk1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportOfSdk1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { auth as authOfSdk2, Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HOUR } from "../../../src/domain/time.ts";
import {
  type AgentServer,
  authorizePath,
  newChallenge,
  PUBLIC_URL,
  register,
  requestOf,
  startAgentServer,
} from "../../support/agents.ts";

/* Clients of the SDK as they are, of both lines, with a person who says yes. */

const MCP = `${PUBLIC_URL}/mcp`;

let server: AgentServer;

beforeEach(async () => {
  server = await startAgentServer();
});

afterEach(() => server[Symbol.asyncDispose]());

/** What a client keeps, as the SDK asks for it. */
function createProvider(redirectUrl: string, metadataUrl?: string) {
  const kept: { client?: any; tokens?: any; verifier: string; url: URL | null; discovery?: any } = {
    verifier: "",
    url: null,
  };
  return {
    kept,
    redirectUrl,
    ...(metadataUrl === undefined ? {} : { clientMetadataUrl: metadataUrl }),
    clientMetadata: {
      client_name: "SDK",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    },
    state: () => "state-of-the-client",
    clientInformation: () => kept.client,
    saveClientInformation: (client: unknown) => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: (tokens: unknown) => void (kept.tokens = tokens),
    redirectToAuthorization: (url: URL) => void (kept.url = url),
    saveCodeVerifier: (verifier: string) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier,
    invalidateCredentials: (scope: string) => void (["all", "tokens"].includes(scope) && delete kept.tokens),
    discoveryState: () => kept.discovery,
    saveDiscoveryState: (state: unknown) => void (kept.discovery = state),
  };
}

type Provider = ReturnType<typeof createProvider>;

/** What the person's browser does. */
async function visitAndAllow({ kept }: Provider): Promise<URL> {
  const answer = await server.visit(`GET ${kept.url?.pathname}${kept.url?.search}`);
  const person = await server.person();
  const json = { decision: "allow", role: "writer" };
  const { json: done } = await person.ask(`POST /app/api/consents/${requestOf(answer)}`, { json });
  return new URL(done.redirectUrl);
}

const fetchFn = ((url: string | URL, init?: RequestInit) => server.fetch(url, init)) as typeof fetch;

const LINES = [
  {
    line: "sdk 1",
    auth: (provider: Provider, more: object) =>
      authOfSdk1(provider as never, { serverUrl: MCP, fetchFn, ...more } as never),
    async listTools(provider: Provider): Promise<string[]> {
      const client = new ClientOfSdk1({ name: "sdk-1", version: "1" });
      const options = { authProvider: provider, fetch: fetchFn };
      await client.connect(new TransportOfSdk1(new URL(MCP), options as never) as never);
      const { tools } = await client.listTools();
      await client.close();
      return tools.map(({ name }) => name);
    },
  },
  {
    line: "sdk 2",
    auth: (provider: Provider, more: object) =>
      authOfSdk2(provider as never, { serverUrl: MCP, fetchFn, ...more } as never),
    async listTools(provider: Provider): Promise<string[]> {
      const client = new Client({ name: "sdk-2", version: "1" });
      const options = { authProvider: provider, fetch: fetchFn };
      await client.connect(new StreamableHTTPClientTransport(new URL(MCP), options as never));
      const { tools } = await client.listTools();
      await client.close();
      return tools.map(({ name }) => name);
    },
  },
] as const;

describe.each(LINES)("a client of $line", ({ auth, listTools }) => {
  it.each([
    ["registers itself", undefined, "http://localhost:51234/callback"],
    ["registers itself with a scheme of its own", undefined, "cursor://anysphere.cursor-mcp/oauth/callback"],
    ["shows a document", "https://agent.example.net/client.json", "https://agent.example.net/callback"],
    [
      "is Claude",
      "https://claude.ai/oauth/mcp-oauth-client-metadata",
      "https://claude.ai/api/mcp/auth_callback",
    ],
    [
      "is Claude Code",
      "https://claude.ai/oauth/claude-code-client-metadata",
      "http://localhost:51234/callback",
    ],
    [
      "is ChatGPT",
      "https://chatgpt.com/oauth/client.json",
      "https://chatgpt.com/connector_platform_oauth_redirect",
    ],
  ])("%s, is let in, and comes again after an hour", async (_name, metadataUrl, redirectUrl) => {
    const document = { client_id: metadataUrl, client_name: "Documented", redirect_uris: [redirectUrl] };
    server.documents.set("https://agent.example.net/client.json", { json: document });
    const provider = createProvider(redirectUrl, metadataUrl);
    expect(await auth(provider, {})).toBe("REDIRECT");
    const back = await visitAndAllow(provider);
    expect(`${back.protocol}//${back.host}${back.pathname}`).toBe(redirectUrl);
    expect(back.searchParams.get("state")).toBe("state-of-the-client");
    const more = {
      authorizationCode: back.searchParams.get("code"),
      iss: back.searchParams.get("iss"),
    };
    expect(await auth(provider, more)).toBe("AUTHORIZED");
    expect(provider.kept.client.client_id).toEqual(metadataUrl ?? expect.stringMatching(/^cli_/));
    expect(await listTools(provider)).toEqual(["list_accounts"]);
    const first = provider.kept.tokens.access_token;
    await server.ctx.clock.advance(HOUR);
    expect(await listTools(provider)).toEqual(["list_accounts"]);
    expect(provider.kept.tokens.access_token).not.toBe(first);
  });

  it("asks anew where its access was ended", async () => {
    const provider = createProvider("http://127.0.0.1:4/callback");
    await auth(provider, {});
    const back = await visitAndAllow(provider);
    const more = { authorizationCode: back.searchParams.get("code"), iss: back.searchParams.get("iss") };
    await auth(provider, more);
    const person = await server.person();
    const { grants } = (await person.ask("GET /app/api/grants")).json;
    expect((await person.ask(`DELETE /app/api/grants/${grants[0].id}`)).status).toBe(204);
    provider.kept.url = null;
    await expect(listTools(provider)).rejects.toThrow();
    expect(provider.kept.url).not.toBeNull();
  });
});

/** Where the programs that people use are sent back to, as they register it. */
const CALLBACKS = [
  ["Claude", "https://claude.ai/api/mcp/auth_callback"],
  ["Claude", "https://claude.com/api/mcp/auth_callback"],
  ["ChatGPT", "https://chatgpt.com/connector_platform_oauth_redirect"],
  ["ChatGPT, one for each connector", "https://chatgpt.com/connector/oauth/8Hq2_x-1"],
  ["Claude Code", "http://localhost:54545/callback"],
  ["Codex", "http://127.0.0.1:1455/callback"],
  ["Gemini CLI", "http://localhost:7777/oauth/callback"],
  ["Cursor", "cursor://anysphere.cursor-mcp/oauth/callback"],
  ["Cursor, on the web", "https://www.cursor.com/agents/mcp/oauth/callback"],
  ["VS Code", "http://127.0.0.1:33418/"],
  ["VS Code, on the web", "https://vscode.dev/redirect"],
  ["VS Code Insiders", "https://insiders.vscode.dev/redirect"],
  ["mcp-remote", "http://localhost:3334/oauth/callback"],
  ["MCP Inspector", "http://localhost:6274/oauth/callback"],
  ["n8n", "https://n8n.example.com/rest/oauth2-credential/callback"],
] as const;

it.each(CALLBACKS)("%s comes back to %s with a code that is good", async (client_name, redirectUri) => {
  const agent = await register(server, { client_name, redirect_uris: [redirectUri] });
  const { verifier, challenge } = newChallenge();
  const asked = await server.visit(
    `GET ${authorizePath(agent.id, challenge, { redirect_uri: redirectUri })}`,
  );
  const person = await server.person();
  const request = requestOf(asked);
  expect((await person.ask(`GET /app/api/consents/${request}`)).json.consent).toMatchObject({
    client: { name: client_name, isVerified: false },
  });
  const answer = await person.ask(`POST /app/api/consents/${request}`, {
    json: { decision: "allow", role: "writer" },
  });
  const back = new URL(answer.json.redirectUrl);
  expect(back.href.startsWith(`${redirectUri}?`)).toBe(true);
  const fields = {
    grant_type: "authorization_code",
    code: back.searchParams.get("code"),
    redirect_uri: redirectUri,
    code_verifier: verifier,
    client_id: agent.id,
  };
  expect((await server.post("/oauth/token", fields)).status).toBe(200);
});

import { hash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import type { HttpDeps } from "../../src/http/app.ts";
import { isKeyActive } from "../../src/access/api-keys.ts";
import type { AppContext } from "../../src/context.ts";
import { createMcpEndpoints } from "../../src/mcp/transports/endpoints.ts";
import type { Outbound, OutboundResponse } from "../../src/ports/outbound.ts";
import { createToolbox } from "../../src/toolkit/toolbox.ts";
import listAccounts from "../../tools/list_accounts.ts";
import { createTestContext, type TestContext } from "./context.ts";
import { type Answer, type Ask, send, startTestServer, type TestServer } from "./http.ts";
import { NO_BACKUPS, readLittlePage, signIn, type Visitor } from "./page.ts";

/* Programs that ask for access to `/mcp` by OAuth, as the test does their part. */

export const PUBLIC_URL = "https://posts.example.com";
export const CALLBACK = "https://agent.example.com/callback";

type Fields = Readonly<Record<string, string | null>>;

/** A server as a program and a person reach it, in this process or in another one. */
export interface AgentDoor {
  /** As someone from outside asks, at the public address. */
  visit(target: string, ask?: Ask): Promise<Answer>;
  post(path: string, fields: Fields, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  person(key?: string): Promise<Visitor>;
}

export interface AgentServer extends AgentDoor, Omit<TestServer, "ctx"> {
  readonly ctx: TestContext;
  /** Documents of programs, by their addresses. */
  readonly documents: Map<string, Partial<OutboundResponse> & { readonly json?: unknown }>;
  readonly asked: string[];
  fetch(url: string | URL | Request, init?: RequestInit): Promise<Response>;
}

export async function startAgentServer(
  options: Partial<Omit<HttpDeps, "ctx" | "toolbox">> = {},
  overrides: Partial<AppContext> = {},
): Promise<AgentServer> {
  const documents: AgentServer["documents"] = new Map();
  const asked: string[] = [];
  const outbound: Outbound = {
    assertAllowed: (_field, url) => new URL(url),
    request: async ({ url }) => {
      asked.push(url);
      const { json, ...answer } = documents.get(url) ?? { status: 403 };
      const body = Readable.from([Buffer.from(JSON.stringify(json ?? {}))]);
      return { status: 200, headers: {}, url, body, ...answer };
    },
  };
  const ctx = await createTestContext({ publicUrl: async () => PUBLIC_URL, outbound, ...overrides });
  const mcp = createMcpEndpoints({
    ctx,
    toolbox: createToolbox(ctx, [listAccounts]),
    version: "1.2.3",
    isKeyActive: (caller) => isKeyActive(ctx, caller),
  });
  const server = await startTestServer(ctx, [listAccounts], {
    publicUrl: PUBLIC_URL,
    hasOAuth: true,
    routes: [],
    mcp,
    page: { uploads: { folder: "", takeLock: () => null }, backups: NO_BACKUPS, readFiles: readLittlePage },
    ...options,
  });
  const door = openDoor(server.port, (key) => signIn(server, key));
  const { visit } = door;
  return {
    ...server,
    ...door,
    ctx,
    documents,
    asked,
    fetch: (url, init) => fetchFrom(visit, url, init),
    async [Symbol.asyncDispose]() {
      await mcp.close();
      await server[Symbol.asyncDispose]();
      await ctx[Symbol.asyncDispose]();
    },
  };
}

/** Of a server at this port of loopback that others reach at `host`. */
export function openDoor(
  port: number,
  person: AgentDoor["person"],
  host = new URL(PUBLIC_URL).host,
): AgentDoor {
  const visit: AgentDoor["visit"] = (target, ask = {}) =>
    send(port, target, { ...ask, headers: { Host: host, ...ask.headers } });
  return {
    visit,
    person,
    post: (path, fields, headers = {}) =>
      visit(`POST ${path}`, {
        body: formOf(fields).toString(),
        headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
      }),
  };
}

function formOf(fields: Fields): URLSearchParams {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== null) form.set(name, value);
  return form;
}

/** What `fetch` would do for our public address, which no name server knows. */
async function fetchFrom(
  visit: AgentServer["visit"],
  url: string | URL | Request,
  init?: RequestInit,
): Promise<Response> {
  const request = new Request(url, init);
  const { pathname, search } = new URL(request.url);
  const body = request.method === "GET" ? undefined : await request.text();
  const headers = Object.fromEntries(request.headers);
  const ask = body === undefined ? { headers } : { headers, body };
  const answer = await visit(`${request.method} ${pathname}${search}`, ask);
  const isEmpty = [204, 304].includes(answer.status) || answer.text === "";
  return new Response(isEmpty ? null : answer.text, { status: answer.status, headers: answer.headers });
}

export interface Agent {
  readonly id: string;
  readonly secret: string | null;
}

/** A public program, or what is given. */
export async function register(server: AgentDoor, more: object = {}): Promise<Agent> {
  const json = {
    redirect_uris: [CALLBACK],
    client_name: "Agent",
    token_endpoint_auth_method: "none",
    ...more,
  };
  const answer = await server.visit("POST /oauth/register", { json });
  if (answer.status !== 201) throw new Error(answer.text);
  return { id: answer.json.client_id, secret: answer.json.client_secret ?? null };
}

export interface Challenge {
  readonly verifier: string;
  readonly challenge: string;
}

export function newChallenge(): Challenge {
  const verifier = randomBytes(32).toString("base64url");
  return { verifier, challenge: hash("sha256", verifier, "base64url") };
}

export function authorizePath(id: string, challenge: string, more: Fields = {}): string {
  const fields = {
    response_type: "code",
    client_id: id,
    redirect_uri: CALLBACK,
    state: "s t&a=te",
    code_challenge: challenge,
    code_challenge_method: "S256",
    resource: `${PUBLIC_URL}/mcp`,
    ...more,
  };
  return `/oauth/authorize?${formOf(fields).toString()}`;
}

/** The id of the question that the person is asked. */
export async function askPerson(
  server: AgentDoor,
  id: string,
  { challenge, ...more }: Fields & { readonly challenge: string },
): Promise<string> {
  const answer = await server.visit(`GET ${authorizePath(id, challenge, more)}`);
  return requestOf(answer);
}

export function requestOf({ headers, text }: Pick<Answer, "headers" | "text">): string {
  const url = new URL(headers["location"] ?? "about:blank");
  if (url.pathname !== "/app/consent") throw new Error(`No question: ${url.href} ${text}`);
  return url.searchParams.get("request") ?? "";
}

export const ALLOW = { decision: "allow", role: "writer" };

/** The code that the person's yes gave. */
export async function allow(person: Visitor, request: string, json: object = ALLOW): Promise<string> {
  const answer = await person.ask(`POST /app/api/consents/${request}`, { json });
  if (answer.status !== 200) throw new Error(answer.text);
  return new URL(answer.json.redirectUrl).searchParams.get("code") ?? "";
}

interface Way {
  readonly person?: Visitor;
  readonly json?: object;
  readonly redirectUri?: string;
}

/** A code, and what it is exchanged with. */
export async function takeCode(server: AgentDoor, agent: Agent, way: Way = {}): Promise<Fields> {
  const { verifier, challenge } = newChallenge();
  const redirect_uri = way.redirectUri ?? CALLBACK;
  const request = await askPerson(server, agent.id, { challenge, redirect_uri });
  const code = await allow(way.person ?? (await server.person()), request, way.json);
  return {
    grant_type: "authorization_code",
    code,
    redirect_uri,
    code_verifier: verifier,
    client_id: agent.id,
    client_secret: agent.secret,
    resource: `${PUBLIC_URL}/mcp`,
  };
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
}

/** The whole way. */
export async function connectAgent(server: AgentDoor, agent: Agent, way: Way = {}): Promise<Tokens> {
  const answer = await server.post("/oauth/token", await takeCode(server, agent, way));
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.json;
}

export function refreshFields(agent: Agent, token: string): Fields {
  return {
    grant_type: "refresh_token",
    refresh_token: token,
    client_id: agent.id,
    client_secret: agent.secret,
  };
}

/** The status of a call of `/mcp` with this token. */
export async function callMcp(server: AgentDoor, token: string): Promise<number> {
  const clientInfo = { name: "agent", version: "1" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  const json = { jsonrpc: "2.0", id: 1, method: "initialize", params };
  const headers = { Accept: "application/json, text/event-stream" };
  return (await server.visit("POST /mcp", { key: token, json, headers })).status;
}

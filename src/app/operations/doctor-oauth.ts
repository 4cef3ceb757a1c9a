import { hash, randomBytes } from "node:crypto";
import { parseUrl } from "../../domain/parse-url.ts";
import { localCaller } from "../../access/api-keys.ts";
import { decideConsent } from "../../access/oauth/consents.ts";
import { OAuthFault } from "../../access/oauth/oauth-fault.ts";
import { createOAuthServer, type OAuthServer } from "../../access/oauth/oauth-server.ts";
import { isAsked } from "../../access/oauth/requests.ts";
import { issueTokens, revokeToken } from "../../access/oauth/tokens.ts";
import { type AppContext, plainCall } from "../../context.ts";
import { note, ok, problem, type Finding } from "../../domain/health/findings.ts";
import { problemOf } from "./failures.ts";
import {
  type Answer,
  type Ask,
  askFromOutside,
  fault,
  isHtml,
  readJsonAnswer,
  refuse,
} from "./outside-requests.ts";

/** The program whose way is gone. Posthorn knows its document, so nothing is asked of its server. */
const CLIENT_ID = "https://claude.ai/oauth/mcp-oauth-client-metadata";
const REDIRECT_URI = "https://claude.ai/api/mcp/auth_callback";

const PRIVATE =
  "from this machine the name leads to a private address, which others cannot reach. Tailscale and some routers do that for their own. The way from outside is not seen here: try it from another network, too";

const NOT_TRIED =
  "not tried: the server there has another data folder than this one, so the yes of a person is needed. MCP Inspector goes that way with you: https://modelcontextprotocol.io/docs/tools/inspector";

/** What is true once the work is done. The first that fails ends the round. */
type Step = <T>(topic: string, text: string, work: () => Promise<T>) => Promise<T>;

/** What the steps share. */
interface Round {
  readonly ctx: AppContext;
  readonly ask: Ask;
  readonly resource: URL;
  readonly step: Step;
  readonly addNote: (topic: string, text: string) => void;
}

interface Endpoints {
  readonly authorize: string;
  readonly token: string;
  readonly revoke: string;
}

interface Target {
  /** The address of `/mcp`. Null: by the settings. */
  readonly url: string | null;
  readonly publicUrl: string | null;
}

/**
 * One whole round, as Claude goes it, from the address of `/mcp` to its tokens, step by step. Where the server asked
 * is the one of this data folder, a viewer's access is given, tried and ended; else the round ends where a person
 * is asked.
 */
export async function examineOAuth(ctx: AppContext, { url, publicUrl }: Target): Promise<Finding[]> {
  const given = url ?? (publicUrl === null ? null : `${publicUrl}/mcp`);
  const resource = given === null ? null : parseUrl(given);
  if (resource?.protocol !== "https:") {
    const text =
      given === null
        ? "there is none. Set POSTHORN_PUBLIC_URL to the https address that others reach."
        : `${given} is not an https address. Claude and ChatGPT take no other: give one.`;
    return [problem("address", text)];
  }
  // An address without a path is Posthorn's, not that of `/mcp`.
  if (resource.pathname === "/") resource.pathname = "/mcp";
  const findings: Finding[] = [];
  const addNote: Round["addNote"] = (topic, text) => void findings.push(note(topic, text));
  let topic = "address";
  const step: Step = async (name, text, work) => {
    topic = name;
    const result = await work();
    findings.push(ok(topic, text));
    return result;
  };
  try {
    const ask = askFromOutside(ctx, () => addNote("address", PRIVATE));
    const round = { ctx, ask, resource, step, addNote };
    await tryAccess(round, await findEndpoints(round));
  } catch (error) {
    findings.push(problemOf(topic, error));
  }
  return findings;
}

/** From the address of `/mcp` to those of the authorization server, as programs find them. */
async function findEndpoints(round: Round): Promise<Endpoints> {
  const { resource, step } = round;
  const answer = await step("address", `${resource.href} answers over https`, () =>
    callMcp(round, "initialize"),
  );
  const metadata = await step(
    "challenge",
    "/mcp without a token answers 401, and says where tokens are got",
    async () => readChallenge(resource, answer),
  );
  const issuer = await step("resource metadata", `${metadata} is about ${resource.href}`, () =>
    readResource(round, metadata),
  );
  return step(
    "server metadata",
    `${issuer} takes S256, programs with documents, and programs that register`,
    () => readServer(round, issuer),
  );
}

function readChallenge(resource: URL, answer: Answer): string {
  if (answer.status !== 401)
    return refuse(
      answer,
      "Without a token it must be 401: let the proxy in front pass /mcp on to Posthorn, and add no key there.",
    );
  const challenge = answer.headers["www-authenticate"];
  const named = /resource_metadata="([^"]+)"/i.exec(challenge ?? "")?.[1];
  if (named !== undefined) return requireOwn(resource, named, "WWW-Authenticate names");
  if (isHtml(answer.headers)) return refuse(answer, "");
  // Without OAuth Posthorn asks for a key, by the word alone.
  if (challenge === "Bearer")
    throw fault("Posthorn answers, without OAuth. Set POSTHORN_OAUTH=on and start it again.");
  throw fault(
    "The answer has status 401, but no header WWW-Authenticate with resource_metadata. A proxy in front takes it out: let it pass the headers of answers on.",
  );
}

/** Programs refuse addresses of another host than they were given. Throws `unavailable`. */
function requireOwn({ origin }: URL, address: unknown, what: string): string {
  if (typeof address === "string" && parseUrl(address)?.origin === origin) return address;
  throw fault(
    `${what} ${String(address)}, which is not at ${origin}. Set POSTHORN_PUBLIC_URL to ${origin}, and start Posthorn again.`,
  );
}

async function readResource({ ask, resource }: Round, url: string): Promise<string> {
  const { resource: named, authorization_servers: servers } = readJsonAnswer(await ask(url));
  if (named !== resource.href)
    throw fault(
      `${url} is about ${String(named)}, and not about ${resource.href}. Set POSTHORN_PUBLIC_URL to the address that programs are given, and start Posthorn again.`,
    );
  const [first]: unknown[] = Array.isArray(servers) ? servers : [];
  return requireOwn(resource, first, "The authorization server is");
}

async function readServer({ ask, resource }: Round, issuer: string): Promise<Endpoints> {
  const { origin, pathname } = new URL(issuer);
  const url = `${origin}/.well-known/oauth-authorization-server${pathname === "/" ? "" : pathname}`;
  const json = readJsonAnswer(await ask(url));
  if (json["issuer"] !== issuer)
    throw fault(
      `${url} says that it is ${String(json["issuer"])}, and not ${issuer}. Another server answers there: let the proxy in front pass this path on to Posthorn.`,
    );
  const holds = (name: string, value: string): boolean => {
    const list: unknown = json[name];
    return Array.isArray(list) && list.includes(value);
  };
  const lacks =
    !holds("code_challenge_methods_supported", "S256") ||
    !holds("token_endpoint_auth_methods_supported", "none") ||
    json["client_id_metadata_document_supported"] !== true;
  if (lacks)
    throw fault(
      `${url} lacks S256, the way "none" or documents of programs, which Posthorn has. Another server answers there, or an old Posthorn: update it.`,
    );
  const own = (name: string): string => requireOwn(resource, json[`${name}_endpoint`], `Its ${name} is`);
  own("registration");
  return { authorize: own("authorization"), token: own("token"), revoke: own("revocation") };
}

/** From the question that a person is asked on; as far as this machine can answer it. */
async function tryAccess(round: Round, endpoints: Endpoints): Promise<void> {
  const { ctx, resource, step } = round;
  const verifier = randomBytes(32).toString("base64url");
  const id = await step("consent", "the person would be asked on Posthorn's page", () =>
    askPerson(round, endpoints, hash("sha256", verifier, "base64url")),
  );
  if (!(await isAsked(ctx, id))) return round.addNote("tokens", NOT_TRIED);
  const server = createOAuthServer(ctx, { publicUrl: resource.origin, fixedKey: null });
  // As the person at this machine.
  const { redirectUrl } = await decideConsent(server, plainCall(ctx, localCaller()), {
    id,
    decision: { decision: "allow", role: "viewer" },
  });
  const form = {
    grant_type: "authorization_code",
    code: new URL(redirectUrl).searchParams.get("code") ?? "",
    redirect_uri: REDIRECT_URI,
    code_verifier: verifier,
    client_id: CLIENT_ID,
    resource: resource.href,
  };
  try {
    await useAccess(round, endpoints, form);
  } finally {
    await endAccess(server, form);
  }
}

async function askPerson({ ask, resource }: Round, { authorize }: Endpoints, challenge: string) {
  const query = new URLSearchParams({
    response_type: "code",
    client_id: CLIENT_ID,
    redirect_uri: REDIRECT_URI,
    state: randomBytes(16).toString("base64url"),
    code_challenge: challenge,
    code_challenge_method: "S256",
    resource: resource.href,
  });
  const answer = await ask(`${authorize}?${query.toString()}`);
  const consent = parseUrl(answer.headers["location"] ?? "");
  const id = consent?.searchParams.get("request") ?? null;
  if (answer.status !== 302 || consent?.origin !== resource.origin || id === null)
    return refuse(
      answer,
      "It must lead to the page that asks the person. Look at the sentence, or the proxy.",
    );
  const page = await ask(consent.href, { headers: { Accept: "text/html" } });
  if (page.status === 200 && isHtml(page.headers) && /<title>[^<]*Posthorn/.test(page.text)) return id;
  return refuse(
    page,
    "The page that asks the person must answer there: let the proxy in front pass /app on, and leave POSTHORN_PAGE on.",
  );
}

type Form = Readonly<Record<string, string>>;

async function useAccess(round: Round, endpoints: Endpoints, form: Form): Promise<void> {
  const { ask, step } = round;
  const client = { client_id: CLIENT_ID };
  const first = await step("tokens", "a viewer's yes, given here, became tokens", async () =>
    readTokens(await ask(endpoints.token, { form })),
  );
  await step("tools", "/mcp opens with the token, and lists its tools", () => listTools(round, first.access));
  const renewal = { ...client, grant_type: "refresh_token", refresh_token: first.refresh };
  const { access, refresh } = await step("refresh", "the tokens were renewed", async () =>
    readTokens(await ask(endpoints.token, { form: renewal })),
  );
  await step("revoke", "the access ended, and /mcp answers 401 again", async () => {
    const revoked = await ask(endpoints.revoke, { form: { ...client, token: refresh } });
    if (revoked.status !== 200) refuse(revoked, "Let the proxy in front pass /oauth on to Posthorn.");
    const after = await callMcp(round, "initialize", { Authorization: `Bearer ${access}` });
    if (after.status !== 401)
      refuse(after, "After the end of the access it must be 401. Let the proxy in front cache nothing.");
  });
}

function readTokens(answer: Answer): { readonly access: string; readonly refresh: string } {
  const { access_token: access, refresh_token: refresh } = readJsonAnswer(answer);
  if (typeof access === "string" && typeof refresh === "string") return { access, refresh };
  return refuse(answer, "It has no tokens.");
}

async function listTools(round: Round, token: string): Promise<void> {
  const headers = { Authorization: `Bearer ${token}` };
  const opened = await callMcp(round, "initialize", headers);
  if (opened.status !== 200) refuse(opened, "Let the proxy in front pass the header Authorization on.");
  const session = opened.headers["mcp-session-id"];
  const inSession =
    session === undefined ? {} : { "Mcp-Session-Id": session, "MCP-Protocol-Version": MCP_VERSION };
  const answer = await callMcp(round, "tools/list", { ...headers, ...inSession });
  if (answer.status !== 200 || !answer.text.includes('"tools"'))
    refuse(answer, "Let the proxy in front pass the header Mcp-Session-Id on, both ways.");
}

const MCP_VERSION = "2025-06-18";
const HELLO = {
  protocolVersion: MCP_VERSION,
  capabilities: {},
  clientInfo: { name: "posthorn doctor", version: "1" },
} as const;

function callMcp({ ask, resource }: Round, method: "initialize" | "tools/list", headers: Form = {}) {
  const json = { jsonrpc: "2.0", id: 1, method, params: method === "initialize" ? HELLO : {} };
  return ask(resource.href, { json, headers });
}

/** Whatever failed on the way: a code that comes a second time ends all that came of it. */
async function endAccess(server: OAuthServer, form: Form): Promise<void> {
  try {
    const { refresh_token: token } = await issueTokens(server, new URLSearchParams(form), CLIENT_ID);
    // It had not come before.
    await revokeToken(server, new URLSearchParams({ token }), CLIENT_ID);
  } catch (error) {
    if (!(error instanceof OAuthFault)) throw error;
  }
}

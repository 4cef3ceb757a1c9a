import { hash, randomBytes } from "node:crypto";
import { parseUrl } from "../../domain/parse-url.ts";
import { localCaller } from "../../access/api-keys.ts";
import { forgetClient } from "../../access/oauth/clients.ts";
import { decideConsent } from "../../access/oauth/consents.ts";
import { findKnownClient } from "../../access/oauth/known-clients.ts";
import { OAuthFault } from "../../access/oauth/oauth-fault.ts";
import { createOAuthServer, type OAuthServer } from "../../access/oauth/oauth-server.ts";
import { isAsked } from "../../access/oauth/requests.ts";
import { giveTokens, revokeToken } from "../../access/oauth/tokens.ts";
import { type AppContext, plainCall } from "../../context.ts";
import {
  askFromOutside,
  callMcp,
  fault,
  INITIALIZE,
  isHtml,
  JSON_HEADERS,
  post,
  readJsonAnswer,
  refuse,
} from "./doctor-oauth-asking.ts";
import { type Endpoints, findEndpoints, take, type Walk } from "./doctor-oauth-finding.ts";
import { note, problem, type Finding } from "../../domain/health/findings.ts";

/** A program as it would ask, by its document or by what it registered. */
interface Program {
  readonly name: string;
  readonly clientId: string;
  readonly redirectUri: string;
}

const CLAUDE = programOf("Claude", "https://claude.ai/oauth/mcp-oauth-client-metadata");
/** ChatGPT gives each connector an address of its own. It registers itself where it has no document. */
const CHATGPT = programOf("ChatGPT", "https://chatgpt.com/oauth/posthorn_doctor/client.json");

function programOf(name: string, clientId: string): Program {
  return { name, clientId, redirectUri: findKnownClient(clientId)?.redirectUris[0] ?? "" };
}

const PRIVATE =
  "from this machine the name leads to a private address, which others cannot reach. Tailscale and some routers do that for their own. The way from outside is not seen here: try it from another network, too";

interface Asked {
  /** The address of `/mcp`. Null: by the settings. */
  readonly url: string | null;
  readonly publicUrl: string | null;
}

/**
 * The whole way that Claude and ChatGPT go from the address of `/mcp` to their tokens, step by step. Where the
 * server asked is the one of this data folder, a viewer's access is given, tried and ended; else the way ends
 * where a person is asked.
 */
export async function examineOAuth(ctx: AppContext, { url, publicUrl }: Asked): Promise<Finding[]> {
  const given = url ?? (publicUrl === null ? null : `${publicUrl}/mcp`);
  const resource = given === null ? null : parseUrl(given);
  if (given === null)
    return [
      problem("address", "there is none. Set POSTHORN_PUBLIC_URL to the https address that others reach."),
    ];
  if (resource?.protocol !== "https:")
    return [
      problem("address", `${given} is not an https address. Claude and ChatGPT take no other: give one.`),
    ];
  // An address without a path is Posthorn's, not that of `/mcp`.
  if (resource.pathname === "/") resource.pathname = "/mcp";
  const findings: Finding[] = [];
  const ask = askFromOutside(ctx, () => findings.push(note("address", PRIVATE)));
  const walk: Walk = { ctx, ask, resource, findings };
  const endpoints = await findEndpoints(walk);
  if (endpoints === null) return walk.findings;
  await walkAs(walk, endpoints, CLAUDE);
  const registered = await take(walk, "registration", () => register(walk, endpoints));
  if (registered === null) return walk.findings;
  await walkAs(walk, endpoints, registered);
  const isForgotten = await forgetClient(ctx, registered.clientId);
  if (!isForgotten)
    walk.findings.push(
      note("registration", "the program that was registered for this is forgotten after 30 days without use"),
    );
  return walk.findings;
}

async function register({ ask }: Walk, { register: url }: Endpoints) {
  const body = JSON.stringify({
    client_name: "posthorn doctor",
    redirect_uris: [CHATGPT.redirectUri],
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  });
  const answer = await ask({ method: "POST", url, headers: JSON_HEADERS, body });
  const { client_id: clientId } = readJsonAnswer(answer, 201);
  if (typeof clientId !== "string") return refuse(answer, "It has no client_id.");
  return { text: "a program may register itself, as ChatGPT does", result: { ...CHATGPT, clientId } };
}

interface Question {
  readonly id: string;
  readonly verifier: string;
}

/** From the question that a person is asked on; as far as this machine can answer it. */
async function walkAs(walk: Walk, endpoints: Endpoints, program: Program): Promise<void> {
  const { ctx, findings } = walk;
  const topic = (what: string): string => `${program.name}: ${what}`;
  const question = await take(walk, topic("consent"), () => askPerson(walk, endpoints, program));
  if (question === null) return;
  if (!(await isAsked(ctx, question.id))) {
    findings.push(
      note(
        topic("tokens"),
        "not tried: the server there has another data folder than this one, so the yes of a person is needed",
      ),
    );
    return;
  }
  const server = createOAuthServer(ctx, { publicUrl: walk.resource.origin, fixedKey: null });
  const fields = await sayYes(walk, server, { program, question });
  try {
    const tokens = await take(walk, topic("tokens"), () => getTokens(walk, endpoints, fields));
    if (tokens === null) return;
    if ((await take(walk, topic("tools"), () => listTools(walk, tokens.access))) === null) return;
    const latest = await take(walk, topic("refresh"), () => refresh(walk, endpoints, { program, tokens }));
    if (latest === null) return;
    await take(walk, topic("revoke"), () => revoke(walk, endpoints, { program, tokens: latest }));
  } finally {
    await endGift(server, fields);
  }
}

async function askPerson({ ask, resource }: Walk, { authorize }: Endpoints, program: Program) {
  const verifier = randomBytes(32).toString("base64url");
  const query = new URLSearchParams({
    response_type: "code",
    client_id: program.clientId,
    redirect_uri: program.redirectUri,
    state: randomBytes(16).toString("base64url"),
    code_challenge: hash("sha256", verifier, "base64url"),
    code_challenge_method: "S256",
    resource: resource.href,
  });
  const answer = await ask({ method: "GET", url: `${authorize}?${query.toString()}` });
  const goOn = parseUrl(answer.headers["location"] ?? "");
  const refusal = goOn?.searchParams.get("error_description") ?? null;
  if (refusal !== null) throw fault(`${authorize} refuses: ${refusal}`);
  const id = goOn?.searchParams.get("request") ?? null;
  if (answer.status !== 302 || goOn?.origin !== resource.origin || id === null)
    return refuse(
      answer,
      "It must lead to the page that asks the person. Look at the sentence, or the proxy.",
    );
  const page = await ask({ method: "GET", url: goOn.href, headers: { Accept: "text/html" } });
  if (page.status !== 200 || !isHtml(page.headers) || !/<title>[^<]*Posthorn/.test(page.text))
    return refuse(
      page,
      "The page that asks the person must answer there: let the proxy in front pass /app on, and leave POSTHORN_PAGE on.",
    );
  return { text: "the person would be asked on Posthorn's page", result: { id, verifier } };
}

interface Tokens {
  readonly access: string;
  readonly refresh: string;
}

type Fields = Readonly<Record<string, string>>;

interface Answered {
  readonly program: Program;
  readonly question: Question;
}

/** As the person at this machine. What the program exchanges for tokens then. */
async function sayYes(walk: Walk, server: OAuthServer, { program, question }: Answered): Promise<Fields> {
  const { redirectUrl } = await decideConsent(server, plainCall(walk.ctx, localCaller()), {
    id: question.id,
    decision: { decision: "allow", role: "viewer" },
  });
  return {
    grant_type: "authorization_code",
    code: new URL(redirectUrl).searchParams.get("code") ?? "",
    redirect_uri: program.redirectUri,
    code_verifier: question.verifier,
    client_id: program.clientId,
    resource: walk.resource.href,
  };
}

/** Whatever failed on the way: a code that comes a second time ends all that came of it. */
async function endGift(server: OAuthServer, fields: Fields): Promise<void> {
  const clientId = fields["client_id"] ?? "";
  try {
    const { refresh_token: token } = await giveTokens(server, new URLSearchParams(fields), clientId);
    // It had not come before.
    await revokeToken(server, new URLSearchParams({ token }), clientId);
  } catch (error) {
    if (!(error instanceof OAuthFault)) throw error;
  }
}

async function getTokens(walk: Walk, endpoints: Endpoints, fields: Fields) {
  const result = await askForTokens(walk, endpoints, fields);
  return { text: "a viewer's yes, given here, became tokens", result };
}

async function askForTokens({ ask }: Walk, { token }: Endpoints, fields: Fields): Promise<Tokens> {
  const answer = await post(ask, token, fields);
  const { access_token: access, refresh_token: renewal } = readJsonAnswer(answer);
  if (typeof access === "string" && typeof renewal === "string") return { access, refresh: renewal };
  return refuse(answer, "It has no tokens.");
}

async function listTools(walk: Walk, token: string) {
  const passOn = "Let the proxy in front pass the header Authorization on.";
  const opened = await callMcp(walk, { token, body: INITIALIZE });
  if (opened.status !== 200) return refuse(opened, passOn);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list", params: {} });
  const answer = await callMcp(walk, { token, body, session: opened.headers["mcp-session-id"] });
  if (answer.status !== 200 || !answer.text.includes('"tools"'))
    return refuse(answer, "Let the proxy in front pass the header Mcp-Session-Id on, both ways.");
  return { text: "/mcp opens with the token, and lists its tools", result: true };
}

interface Held {
  readonly program: Program;
  readonly tokens: Tokens;
}

async function refresh(walk: Walk, endpoints: Endpoints, { program, tokens }: Held) {
  const result = await askForTokens(walk, endpoints, {
    grant_type: "refresh_token",
    refresh_token: tokens.refresh,
    client_id: program.clientId,
  });
  return { text: "the tokens were renewed", result };
}

async function revoke(walk: Walk, endpoints: Endpoints, { program, tokens }: Held) {
  const fields = { token: tokens.refresh, client_id: program.clientId };
  const answer = await post(walk.ask, endpoints.revoke, fields);
  if (answer.status !== 200) return refuse(answer, "Let the proxy in front pass /oauth on to Posthorn.");
  const after = await callMcp(walk, { token: tokens.access, body: INITIALIZE });
  if (after.status !== 401)
    return refuse(after, "After the end of the access it must be 401. Let the proxy in front cache nothing.");
  return { text: "the access ended, and /mcp answers 401 again", result: true };
}

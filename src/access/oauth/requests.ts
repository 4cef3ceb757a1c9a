import { randomBytes } from "node:crypto";
import type { AppContext } from "../../context.ts";
import { parseUrl } from "../../domain/parse-url.ts";
import {
  findOAuthRequest,
  insertOAuthRequest,
  touchOAuthClient,
} from "../../store/queries/oauth/requests.ts";
import { findClient, type OAuthClient } from "./clients.ts";
import { OAuthFault } from "./oauth-fault.ts";
import { type OAuthServer, REQUEST_LIFE_MS } from "./oauth-server.ts";
import { answerAt, callbackHost, isLoopbackAddress, isRegistered } from "./redirects.ts";

/** The parameters of a request, each once; `resource` may stand there several times. */
export interface Parameters {
  get(name: string): string | null;
  getAll(name: string): readonly string[];
}

/** The program as a person sees it, and as it stands beside what it was given. */
export interface ShownClient {
  readonly id: string;
  readonly name: string;
  /** Of the address that is its id. Null: it registered itself, and its name is what it says. */
  readonly host: string | null;
  /** Where the person is sent: a host, or a scheme such as `cursor:`. */
  readonly callbackHost: string;
  /** Its own server vouches for it, and the person is sent to a server. */
  readonly isVerified: boolean;
  readonly uri: string | null;
}

const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
const MAX_STATE_CHARS = 4_000;

/**
 * Where the browser goes on: to the page that asks the person. Throws OAuthFault with what is wrong: until a person
 * has agreed, a program that anyone may register leads no one elsewhere (RFC 9700, section 4.11.2). One on this
 * machine is told itself.
 */
export async function beginRequest(
  server: OAuthServer,
  given: Parameters,
  consentUrl: string,
): Promise<string> {
  const { client, redirectUri } = await findReturn(server, given);
  const state = given.get("state");
  try {
    const challenge = readRequest(server, given);
    const id = await keepRequest(server, { client, redirectUri, state, challenge });
    return `${consentUrl}?request=${id}`;
  } catch (error) {
    if (!(error instanceof OAuthFault) || !isLoopbackAddress(redirectUri)) throw error;
    const answer = { error: error.code, error_description: error.message, state, iss: server.issuer };
    return answerAt(redirectUri, answer);
  }
}

async function findReturn(
  server: OAuthServer,
  given: Parameters,
): Promise<{ client: OAuthClient; redirectUri: string }> {
  for (const name of ["client_id", "redirect_uri", "state"]) requireOnce(given, name);
  const redirectUri = given.get("redirect_uri") ?? "";
  const client = await findClient(server, given.get("client_id") ?? "", redirectUri);
  if (client === null)
    throw new OAuthFault(
      "invalid_client",
      "client_id: Posthorn does not know this program (any more). Remove the connection in the program, and connect it anew.",
    );
  if (!isRegistered(client.redirectUris, redirectUri))
    throw new OAuthFault(
      "invalid_request",
      "redirect_uri: is missing, or not an address that the program registered. Connect it anew from the program.",
    );
  if ((given.get("state") ?? "").length > MAX_STATE_CHARS)
    throw new OAuthFault("invalid_request", `state: is longer than ${MAX_STATE_CHARS} characters.`);
  return { client, redirectUri };
}

/** The challenge of a request with nothing wrong in it. */
function readRequest(server: OAuthServer, given: Parameters): string {
  for (const name of ["response_type", "code_challenge", "code_challenge_method", "scope"])
    requireOnce(given, name);
  if (given.get("response_type") !== "code")
    throw new OAuthFault("unsupported_response_type", "response_type: must be code.");
  if (given.get("code_challenge_method") !== "S256")
    throw new OAuthFault("invalid_request", "code_challenge_method: must be S256.");
  const challenge = given.get("code_challenge") ?? "";
  if (!CHALLENGE.test(challenge))
    throw new OAuthFault("invalid_request", "code_challenge: must be a SHA-256 in base64url, 43 characters.");
  requireResource(server, given);
  return challenge;
}

export function requireOnce(given: Parameters, name: string): void {
  if (given.getAll(name).length > 1)
    throw new OAuthFault("invalid_request", `${name}: is given more than once. Give it once.`);
}

/** Programs that do not name one get the only one there is. */
export function requireResource({ resource }: OAuthServer, given: Parameters): void {
  // Written otherwise, it is the same: the host in capitals, its usual port, a slash at the end.
  if (given.getAll("resource").every((one) => parseUrl(one)?.href.replace(/\/$/, "") === resource)) return;
  throw new OAuthFault("invalid_target", `resource: must be ${resource}. There is no other one here.`);
}

/** Whether the question is one of this data folder. */
export async function isAsked({ store }: Pick<AppContext, "store">, id: string): Promise<boolean> {
  return (await findOAuthRequest(store, id)) !== undefined;
}

interface AuthorizationRequest {
  readonly client: OAuthClient;
  readonly redirectUri: string;
  readonly state: string | null;
  readonly challenge: string;
}

async function keepRequest(
  server: OAuthServer,
  { client, redirectUri, state, challenge }: AuthorizationRequest,
) {
  const { ctx, resource } = server;
  const now = ctx.clock.now();
  const row = {
    id: randomBytes(24).toString("base64url"),
    client: JSON.stringify(showClient(client, redirectUri)),
    redirect_uri: redirectUri,
    state,
    challenge,
    resource,
    expires_at: now + REQUEST_LIFE_MS,
  };
  await ctx.store.write(async (tx) => {
    await insertOAuthRequest(tx, row, now);
    if (!client.isProven) await touchOAuthClient(tx, client.id, now);
  });
  return row.id;
}

function showClient({ id, name, uri, isProven }: OAuthClient, redirectUri: string): ShownClient {
  // Any program on a machine can listen there, whatever document it shows.
  const isServer = redirectUri.startsWith("https:") && !isLoopbackAddress(redirectUri);
  return {
    id,
    name,
    host: isProven ? callbackHost(id) : null,
    callbackHost: callbackHost(redirectUri),
    isVerified: isProven && isServer,
    uri,
  };
}

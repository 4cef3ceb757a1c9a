import { timingSafeEqual } from "node:crypto";
import * as z from "zod";
import { newId } from "../../domain/ids.ts";
import { DAY, SECOND } from "../../domain/time.ts";
import {
  findOAuthClient,
  holdsGrant,
  insertOAuthClient,
  type OAuthClientRow,
} from "../../store/queries/oauth/requests.ts";
import { isDocumentAddress } from "./client-documents.ts";
import { cleanName, httpsOrNull, MAX_REDIRECTS } from "./client-texts.ts";
import type { ClientDocument } from "./known-clients.ts";
import { OAuthFault } from "./oauth-fault.ts";
import { hashOf, newSecret, type OAuthServer, SCOPE } from "./oauth-server.ts";
import { callbackHost, redirectProblem } from "./redirects.ts";

/** A program that never came back is forgotten after this. */
export const UNUSED_LIFE_MS = 30 * DAY;

/** Anyone may register programs. Past so many without access the oldest is forgotten. */
const MAX_UNUSED = 1_000;

export const AUTH_METHODS = ["none", "client_secret_post", "client_secret_basic"] as const;

/** A program as it is found. */
export interface OAuthClient extends ClientDocument {
  /** The server of the program's id has told us of it. Else it is what it says of itself. */
  readonly isProven: boolean;
}

const Registration = z.object({
  redirect_uris: z.array(z.string()).min(1).max(MAX_REDIRECTS),
  client_name: z.string().max(1_000).optional(),
  client_uri: z.string().optional(),
  token_endpoint_auth_method: z.enum(AUTH_METHODS).default("client_secret_basic"),
  grant_types: z.array(z.string()).max(20).default(["authorization_code"]),
  response_types: z.array(z.string()).max(20).default(["code"]),
});

/** RFC 7591. The secret, where the program wants one, is in this answer alone. Throws OAuthFault. */
export async function registerClient({ ctx }: OAuthServer, body: unknown) {
  const asked = readRegistration(body);
  const { redirect_uris, token_endpoint_auth_method } = asked;
  const secret = token_endpoint_auth_method === "none" ? null : newSecret("phs");
  const now = ctx.clock.now();
  const row: OAuthClientRow = {
    id: newId("cli"),
    secret_hash: secret === null ? null : hashOf(secret),
    name: cleanName(asked.client_name) ?? callbackHost(redirect_uris[0] ?? ""),
    uri: httpsOrNull(asked.client_uri),
    redirect_uris: JSON.stringify(redirect_uris),
    created_at: now,
    used_at: now,
  };
  const limits = { unusedSince: now - UNUSED_LIFE_MS, maxUnused: MAX_UNUSED };
  await ctx.store.write((tx) => insertOAuthClient(tx, row, limits));
  ctx.log.info({ clientId: row.id, name: row.name }, "A program registered itself for OAuth");
  return {
    client_id: row.id,
    client_id_issued_at: Math.floor(now / SECOND),
    ...(secret === null ? {} : { client_secret: secret, client_secret_expires_at: 0 }),
    client_name: row.name,
    ...(row.uri === null ? {} : { client_uri: row.uri }),
    redirect_uris,
    token_endpoint_auth_method,
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    scope: SCOPE,
  };
}

function readRegistration(body: unknown): z.infer<typeof Registration> {
  const parsed = Registration.safeParse(withoutEmpty(body));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue?.path.join(".") ?? "";
    const isAddress = field.startsWith("redirect_uris");
    throw new OAuthFault(
      isAddress ? "invalid_redirect_uri" : "invalid_client_metadata",
      isAddress
        ? `redirect_uris: must be a list of 1 to ${MAX_REDIRECTS} addresses.`
        : `${field === "" ? "The body" : field}: is not what RFC 7591 says, or nothing that is known here.`,
    );
  }
  for (const address of parsed.data.redirect_uris) {
    const problem = redirectProblem(address);
    if (problem !== null)
      throw new OAuthFault(
        "invalid_redirect_uri",
        `redirect_uris: an address ${problem}. Use https, http on loopback, or a scheme of the program's own.`,
      );
  }
  if (!parsed.data.grant_types.includes("authorization_code"))
    throw new OAuthFault("invalid_client_metadata", "grant_types: must hold authorization_code.");
  if (!parsed.data.response_types.includes("code"))
    throw new OAuthFault("invalid_client_metadata", "response_types: must hold code.");
  return parsed.data;
}

/** Many programs write null, or an empty list, for what they leave out. */
function withoutEmpty(body: unknown): unknown {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  const isLeftOut = (value: unknown): boolean =>
    value === null || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(body).filter(([, value]) => !isLeftOut(value)));
}

/** For a person who would come back to `redirectUri`. Null: there is none. Throws OAuthFault. */
export async function findClient(
  server: OAuthServer,
  id: string,
  redirectUri: string,
): Promise<OAuthClient | null> {
  if (id.startsWith("https://")) return { ...(await server.documents.find(id, redirectUri)), isProven: true };
  const row = await findRegistered(server, id);
  if (row === null) return null;
  return {
    id,
    name: row.name,
    uri: row.uri,
    redirectUris: JSON.parse(row.redirect_uris) as string[],
    isProven: false,
  };
}

async function findRegistered({ ctx }: OAuthServer, id: string): Promise<OAuthClientRow | null> {
  const row = await findOAuthClient(ctx.store, id);
  if (row === undefined) return null;
  const now = ctx.clock.now();
  const isStale = row.used_at <= now - UNUSED_LIFE_MS;
  return isStale && !(await holdsGrant(ctx.store, id, now)) ? null : row;
}

/** What a program shows for itself where it asks for tokens. */
export interface ClientProof {
  readonly id: string;
  readonly secret: string | null;
}

/** The id of the program that this proves. Throws OAuthFault `invalid_client`. */
export async function proveClient(server: OAuthServer, { id, secret }: ClientProof): Promise<string> {
  // A program with a document has no secret. Its codes and tokens are worth nothing without what it alone has.
  if (isDocumentAddress(id)) {
    if (secret === null) return id;
    throw wrongClient("This program has no secret. Leave it out.");
  }
  const row = await findRegistered(server, id);
  if (row === null) throw wrongClient("There is no such program (any more). Register it anew.");
  const isRight =
    row.secret_hash === null
      ? secret === null
      : secret !== null && timingSafeEqual(Buffer.from(hashOf(secret)), Buffer.from(row.secret_hash));
  if (isRight) return id;
  throw wrongClient("The secret is missing, wrong, or one too many.");
}

function wrongClient(sentence: string): OAuthFault {
  return new OAuthFault("invalid_client", `client_id: ${sentence}`);
}

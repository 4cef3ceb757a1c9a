import { hash } from "node:crypto";
import type { Caller, Permission } from "../../domain/permissions.ts";
import { SECOND } from "../../domain/time.ts";
import type { AppContext } from "../../context.ts";
import type { Tx } from "../../store/engine/store.ts";
import { extendApiKey, findApiKeyRow, insertApiKey, revokeApiKeyRow } from "../../store/queries/access.ts";
import {
  deleteOAuthToken,
  findOAuthCode,
  findOAuthGrant,
  findOAuthToken,
  insertOAuthGrant,
  insertOAuthTokens,
  type OAuthCodeRow,
  type OAuthGrantRow,
  type OAuthTokenRow,
  replaceOAuthToken,
  useOAuthCode,
} from "../../store/queries/oauth/grants.ts";
import { touchOAuthClient } from "../../store/queries/oauth/requests.ts";
import { findKeyCaller, makeTokenKey } from "../api-keys.ts";
import { clientOf } from "./consents.ts";
import { grantExpiry, isFixedKeyChanged, capByGranter } from "./granters.ts";
import { OAuthFault } from "./oauth-fault.ts";
import {
  ACCESS_LIFE_MS,
  GRACE_MS,
  GRANT_LIFE_MS,
  hashOf,
  newSecret,
  type OAuthServer,
  SCOPE,
} from "./oauth-server.ts";
import { type Parameters, requireOnce, requireResource } from "./requests.ts";

export interface TokenAnswer {
  readonly access_token: string;
  readonly token_type: "Bearer";
  readonly expires_in: number;
  readonly refresh_token: string;
  readonly scope: string;
}

/** What came of it inside the transaction, which must not be taken back where a family was revoked. */
type Outcome = TokenAnswer | "unknown" | "over" | "reused";

const SENTENCES = {
  unknown:
    "is not known here, or was given to another program, for another address or with another challenge",
  over: "has expired or was revoked. Connect again",
  reused: "was used before. What came of it was revoked. Connect again",
} as const;

const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** Throws OAuthFault. `clientId`: who has proven that they are this program. */
export async function issueTokens(
  server: OAuthServer,
  given: Parameters,
  clientId: string,
): Promise<TokenAnswer> {
  const kind = readOne(given, "grant_type");
  if (kind === "authorization_code") return exchangeCode(server, given, clientId);
  if (kind === "refresh_token") return refresh(server, given, clientId);
  throw new OAuthFault("unsupported_grant_type", "grant_type: must be authorization_code or refresh_token.");
}

async function exchangeCode(server: OAuthServer, given: Parameters, clientId: string): Promise<TokenAnswer> {
  const code = readOne(given, "code");
  const redirectUri = readOne(given, "redirect_uri");
  const verifier = readOne(given, "code_verifier");
  if (!VERIFIER.test(verifier))
    throw new OAuthFault(
      "invalid_request",
      "code_verifier: must have 43 to 128 letters, digits, or - . _ ~.",
    );
  requireResource(server, given);
  const challenge = hash("sha256", verifier, "base64url");
  const outcome = await server.ctx.store.write(async (tx): Promise<Outcome> => {
    const row = await findOAuthCode(tx, hashOf(code));
    if (row === undefined || row.client_id !== clientId) return "unknown";
    if (row.grant_id !== null) return revokeFamily(server.ctx, tx, { ...row, id: row.grant_id });
    if (row.expires_at <= server.ctx.clock.now()) return "over";
    if (row.redirect_uri !== redirectUri || row.challenge !== challenge) return "unknown";
    return redeemCode(server, tx, row);
  });
  return unwrap(outcome, "code");
}

async function redeemCode(server: OAuthServer, tx: Tx, code: OAuthCodeRow): Promise<Outcome> {
  const { ctx, fixedKey } = server;
  const wanted = ctx.clock.now() + GRANT_LIFE_MS;
  const expiresAt = await grantExpiry(ctx, tx, { giver: code, fixedKey, wanted });
  if (expiresAt <= ctx.clock.now()) return "over";
  const key = makeTokenKey(ctx, code.owner_id, {
    name: clientOf(code).name,
    permissions: JSON.parse(code.permissions) as Permission[],
    accountIds: code.account_ids === null ? null : (JSON.parse(code.account_ids) as string[]),
    expiresAt,
  });
  if (!(await useOAuthCode(tx, code, key.id))) {
    // Another request used it in this moment.
    const used = await findOAuthCode(tx, code.code_hash);
    return used?.grant_id ? revokeFamily(ctx, tx, { ...used, id: used.grant_id }) : "unknown";
  }
  const { owner_id, given_by, giver_mark, client, client_id, resource } = code;
  await insertApiKey(tx, key);
  await insertOAuthGrant(tx, { id: key.id, owner_id, given_by, giver_mark, client, client_id, resource });
  return newTokens(ctx, tx, { id: key.id, owner_id, client_id, expiresAt });
}

async function refresh(server: OAuthServer, given: Parameters, clientId: string): Promise<TokenAnswer> {
  const token = readOne(given, "refresh_token");
  requireResource(server, given);
  const outcome = await server.ctx.store.write(async (tx): Promise<Outcome> => {
    const row = await findOAuthToken(tx, hashOf(token));
    const grant = row === undefined ? undefined : await findOAuthGrant(tx, { ...row, id: row.grant_id });
    if (row?.kind !== "refresh" || grant?.client_id !== clientId) return "unknown";
    return renew(server, tx, { row, grant });
  });
  return unwrap(outcome, "refresh_token");
}

async function renew(
  { ctx, fixedKey }: OAuthServer,
  tx: Tx,
  { row, grant }: { readonly row: OAuthTokenRow; readonly grant: OAuthGrantRow },
): Promise<Outcome> {
  const now = ctx.clock.now();
  const key = await findApiKeyRow(tx, grant.id);
  const isOver = (at: number | null | undefined): boolean => at === undefined || (at !== null && at <= now);
  if (key === undefined || key.revoked_at !== null || isOver(key.expires_at) || isOver(row.expires_at))
    return "over";
  if (row.replaced_at !== null && now - row.replaced_at > GRACE_MS) return revokeFamily(ctx, tx, grant);
  const expiresAt = await grantExpiry(ctx, tx, { giver: grant, fixedKey, wanted: now + GRANT_LIFE_MS });
  if (expiresAt <= now) return "over";
  if (row.replaced_at === null) await replaceOAuthToken(tx, row, now);
  await extendApiKey(tx, { ownerId: grant.owner_id, id: grant.id, expiresAt });
  return newTokens(ctx, tx, { ...grant, expiresAt });
}

async function newTokens(
  ctx: AppContext,
  tx: Tx,
  grant: Pick<OAuthGrantRow, "id" | "owner_id" | "client_id"> & { readonly expiresAt: number },
): Promise<TokenAnswer> {
  const now = ctx.clock.now();
  const access = newSecret("pha");
  const refreshToken = newSecret("phr");
  const accessEnds = Math.min(now + ACCESS_LIFE_MS, grant.expiresAt);
  const both = { owner_id: grant.owner_id, grant_id: grant.id, replaced_at: null };
  await insertOAuthTokens(
    tx,
    [
      { ...both, kind: "access", token_hash: hashOf(access), expires_at: accessEnds },
      { ...both, kind: "refresh", token_hash: hashOf(refreshToken), expires_at: grant.expiresAt },
    ],
    now,
  );
  await touchOAuthClient(tx, grant.client_id, now);
  return {
    access_token: access,
    token_type: "Bearer",
    expires_in: Math.floor((accessEnds - now) / SECOND),
    refresh_token: refreshToken,
    scope: SCOPE,
  };
}

/** One of the two has it without right, and we cannot tell which. */
async function revokeFamily(
  ctx: AppContext,
  tx: Tx,
  { owner_id, id }: Pick<OAuthGrantRow, "owner_id" | "id">,
): Promise<Outcome> {
  await revokeApiKeyRow(tx, { ownerId: owner_id, id, now: ctx.clock.now() });
  ctx.log.warn(
    { keyId: id, ownerId: owner_id },
    "A code or token of a program was used twice. All of it ended",
  );
  return "reused";
}

function unwrap(outcome: Outcome, field: string): TokenAnswer {
  if (typeof outcome === "object") return outcome;
  throw new OAuthFault("invalid_grant", `${field}: ${SENTENCES[outcome]}.`);
}

/** RFC 7009: what is not known is as good as revoked. A refresh token takes all of its family along. */
export async function revokeToken(server: OAuthServer, given: Parameters, clientId: string): Promise<void> {
  const token = readOne(given, "token");
  const { ctx } = server;
  await ctx.store.write(async (tx) => {
    const row = await findOAuthToken(tx, hashOf(token));
    const grant = row === undefined ? undefined : await findOAuthGrant(tx, { ...row, id: row.grant_id });
    if (row === undefined || grant?.client_id !== clientId) return;
    if (row.kind === "access") return deleteOAuthToken(tx, row);
    await revokeApiKeyRow(tx, { ownerId: grant.owner_id, id: grant.id, now: ctx.clock.now() });
  });
}

const ACCESS_TOKEN = /^pha_[0-9a-f]{64}$/;

export function isAccessToken(text: string): boolean {
  return ACCESS_TOKEN.test(text);
}

/** Who comes with this access token; null where it is not good (any more). */
export async function findTokenCaller(
  { ctx, fixedKey, resource }: OAuthServer,
  text: string,
): Promise<Caller | null> {
  const row = isAccessToken(text) ? await findOAuthToken(ctx.store, hashOf(text)) : undefined;
  if (row?.kind !== "access" || row.expires_at <= ctx.clock.now()) return null;
  const grant = await findOAuthGrant(ctx.store, { ...row, id: row.grant_id });
  if (grant?.resource !== resource || isFixedKeyChanged(ctx, grant, fixedKey)) return null;
  const caller = await findKeyCaller(ctx, grant.id);
  return caller === null ? null : capByGranter(ctx, { ...caller, isProgram: true }, grant);
}

function readOne(given: Parameters, name: string): string {
  requireOnce(given, name);
  const value = given.get(name) ?? "";
  if (value !== "") return value;
  throw new OAuthFault("invalid_request", `${name}: is missing.`);
}

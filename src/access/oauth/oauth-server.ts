import { hash, randomBytes } from "node:crypto";
import { DAY, HOUR, MINUTE, SECOND } from "../../domain/time.ts";
import type { AppContext } from "../../context.ts";
import { ClientDocuments } from "./client-documents.ts";

export const REQUEST_LIFE_MS = 10 * MINUTE;
export const CODE_LIFE_MS = 60 * SECOND;
export const ACCESS_LIFE_MS = HOUR;
/** Without being used, a grant ends after this. */
export const GRANT_LIFE_MS = 60 * DAY;
/** A refresh token works on for this long, for an answer that was lost and for those who ask at once. */
export const GRACE_MS = 2 * MINUTE;

/** The one scope. What a program may do, the person decides by a role. */
export const SCOPE = "mcp";

/** What answers programs that ask for access to `/mcp`. */
export interface OAuthServer {
  readonly ctx: AppContext;
  readonly issuer: string;
  /** The address of `/mcp`, which all that is given is for. */
  readonly resource: string;
  readonly fixedKey: string | null;
  readonly documents: ClientDocuments;
}

export function createOAuthServer(
  ctx: AppContext,
  { publicUrl, fixedKey }: { readonly publicUrl: string; readonly fixedKey: string | null },
): OAuthServer {
  return {
    ctx,
    issuer: `${publicUrl}/oauth`,
    resource: `${publicUrl}/mcp`,
    fixedKey,
    documents: new ClientDocuments(ctx),
  };
}

const SECRET_BYTES = 32;

/** As keys are. The beginning tells those who find one what it is. */
export function newSecret(beginning: "phc" | "phs" | "pha" | "phr"): string {
  return `${beginning}_${randomBytes(SECRET_BYTES).toString("hex")}`;
}

export function hashOf(secret: string): string {
  return hash("sha256", secret);
}

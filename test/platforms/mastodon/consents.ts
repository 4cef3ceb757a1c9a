import { createHash, randomBytes } from "node:crypto";
import type { OutboundResponse } from "../../../src/ports/outbound.ts";
import type { Profile } from "./profiles.ts";
import type { Received } from "./request.ts";
import { answerOf } from "../../support/described.ts";

interface Code {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly challenge: string | null;
  readonly scopes: readonly string[];
}

function random(name: string): string {
  return `${name}-${randomBytes(12).toString("hex")}`;
}

/** Apps, codes and tokens of a server: codes work once, and for the app and address they were made for. */
export function createConsents(profile: Profile) {
  const apps = new Map<
    string,
    { secret: string; redirectUris: readonly string[]; scopes: readonly string[] }
  >();
  const codes = new Map<string, Code>();
  const tokens = new Map<string, readonly string[]>();
  const refreshTokens = new Map<string, readonly string[]>();

  const isClient = ({ given }: Received): boolean =>
    apps.get(String(given["client_id"]))?.secret === given["client_secret"];
  const refusal = (error: string, status = 400): OutboundResponse =>
    answerOf(status, {
      error,
      error_description: "The provided authorization grant is invalid, expired, revoked",
    });

  const issue = (scopes: readonly string[]): OutboundResponse => {
    const access_token = random("access");
    tokens.set(access_token, scopes);
    const refresh_token = random("refresh");
    if (profile.refreshes) refreshTokens.set(refresh_token, scopes);
    const more = profile.refreshes ? { refresh_token, expires_in: 3_600 } : {};
    const base = { access_token, token_type: "Bearer", scope: scopes.join(" "), created_at: 1_780_000_000 };
    return answerOf(200, { ...base, ...more });
  };

  return {
    apps,
    tokens,
    register({ given }: Received): OutboundResponse {
      const client_id = random("client");
      const secret = random("secret");
      const redirectUris = [given["redirect_uris"]].flat().map(String);
      apps.set(client_id, { secret, redirectUris, scopes: String(given["scopes"] ?? "read").split(" ") });
      const shown = { id: "1", name: given["client_name"], client_id, client_secret: secret };
      return answerOf(200, { ...shown, redirect_uris: redirectUris, client_secret_expires_at: 0 });
    },
    /** A person opens the address and agrees, or not; what they come back with. */
    consent(address: string): Record<string, string> {
      const { searchParams: asked, pathname } = new URL(address);
      const app = apps.get(asked.get("client_id") ?? "");
      const redirectUri = asked.get("redirect_uri") ?? "";
      const scopes = (asked.get("scope") ?? "read").split(" ");
      const isFit =
        pathname === "/oauth/authorize" &&
        asked.get("response_type") === "code" &&
        app?.redirectUris.includes(redirectUri) === true &&
        scopes.every((scope) => app.scopes.includes(scope)) &&
        (asked.get("code_challenge") === null || asked.get("code_challenge_method") === "S256");
      if (!isFit) throw new Error(`The server does not show this page: ${address}`);
      if (!profile.hasPkce && asked.has("code_challenge"))
        throw new Error("This server never heard of PKCE.");
      const code = random("code");
      const challenge = asked.get("code_challenge");
      codes.set(code, { clientId: asked.get("client_id") ?? "", redirectUri, challenge, scopes });
      return { code, state: asked.get("state") ?? "" };
    },
    token(request: Received): OutboundResponse {
      const { given } = request;
      if (!isClient(request)) return refusal("invalid_client", 401);
      if (given["grant_type"] === "refresh_token") {
        const old = String(given["refresh_token"]);
        const scopes = refreshTokens.get(old);
        refreshTokens.delete(old);
        return scopes === undefined ? refusal("invalid_grant") : issue(scopes);
      }
      const code = codes.get(String(given["code"]));
      codes.delete(String(given["code"]));
      const verifier = given["code_verifier"];
      const challenge =
        typeof verifier === "string" ? createHash("sha256").update(verifier).digest("base64url") : null;
      const isFit =
        code !== undefined &&
        given["grant_type"] === "authorization_code" &&
        code.clientId === given["client_id"] &&
        code.redirectUri === given["redirect_uri"] &&
        code.challenge === challenge;
      return isFit ? issue(code.scopes) : refusal("invalid_grant");
    },
    revoke(request: Received): OutboundResponse {
      if (!isClient(request)) return answerOf(403, { error: "unauthorized_client" });
      tokens.delete(String(request.given["token"]));
      return answerOf(200, {});
    },
    keepToken(token: string, scopes: readonly string[]): string {
      tokens.set(token, scopes);
      return token;
    },
    scopesOfToken(authorization: string): readonly string[] | null {
      return tokens.get(/^Bearer (\S+)$/.exec(authorization)?.[1] ?? "") ?? null;
    },
  };
}

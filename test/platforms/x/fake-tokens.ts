import { createHash, randomBytes } from "node:crypto";
import type { OutboundRequest } from "../../../src/ports/outbound.ts";
import { problem, type Answer } from "./problems.ts";

export const APP = { clientId: "client-x", clientSecret: "secret/+%:canary" };

interface Code {
  readonly redirectUri: string;
  readonly challenge: string;
  readonly scopes: string;
  readonly expiresAt: number;
}

/** X's tokens: codes live for 30 seconds, refresh tokens work once, and one used twice ends them all. */
export class FakeTokens {
  readonly wrong: string[] = [];
  readonly #now: () => number;
  readonly #codes = new Map<string, Code>();
  #access = new Map<string, { scopes: string; expiresAt: number }>();
  #refresh = new Map<string, { scopes: string; isSpent: boolean }>();
  /** A native app has no secret. */
  hasSecret = true;
  refreshes = 0;
  revoked = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The person agrees. Gives the parameters they come back with. */
  consent(address: string, granted?: string): Record<string, string> {
    const { origin, pathname, searchParams: query } = new URL(address);
    const get = (name: string): string => query.get(name) ?? "";
    if (`${origin}${pathname}` !== "https://x.com/i/oauth2/authorize")
      this.wrong.push(`consent at ${address}`);
    if (address.includes("+")) this.wrong.push("a plus in the address");
    if (get("response_type") !== "code" || get("client_id") !== APP.clientId) this.wrong.push("authorize");
    if (get("code_challenge_method") !== "S256" || get("code_challenge") === "") this.wrong.push("PKCE");
    if (get("state").length > 500) this.wrong.push("state");
    const code = token("code");
    this.#codes.set(code, {
      redirectUri: get("redirect_uri"),
      challenge: get("code_challenge"),
      scopes: granted ?? get("scope"),
      expiresAt: this.#now() + 30_000,
    });
    return { code, state: get("state") };
  }

  /** A request for tokens, or to end them. */
  answer(request: OutboundRequest, body: string): Answer {
    const fields = Object.fromEntries(new URLSearchParams(body));
    if (request.method !== "POST") return problem(405, "Method Not Allowed", "Method not allowed");
    if (request.headers?.["content-type"] !== "application/x-www-form-urlencoded")
      this.wrong.push(`content-type ${request.headers?.["content-type"]}`);
    if (!this.#knowsClient(request, fields))
      return {
        status: 401,
        json: { error: "unauthorized_client", error_description: "Missing valid authorization header" },
      };
    if (request.url.endsWith("/revoke")) {
      this.revoked += 1;
      this.endAll();
      return { status: 200, json: { revoked: true } };
    }
    return fields["grant_type"] === "refresh_token" ? this.#renew(fields) : this.#exchange(fields);
  }

  #knowsClient(request: OutboundRequest, fields: Record<string, string>): boolean {
    const pair = [APP.clientId, APP.clientSecret].map(encodeURIComponent).join(":");
    const basic = `Basic ${Buffer.from(pair).toString("base64")}`;
    return this.hasSecret
      ? request.headers?.["authorization"] === basic && fields["client_id"] === undefined
      : request.headers?.["authorization"] === undefined && fields["client_id"] === APP.clientId;
  }

  #exchange(fields: Record<string, string>): Answer {
    const code = this.#codes.get(fields["code"] ?? "");
    this.#codes.delete(fields["code"] ?? "");
    const verifier = fields["code_verifier"] ?? "";
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const isGood =
      fields["grant_type"] === "authorization_code" &&
      code?.redirectUri === fields["redirect_uri"] &&
      code?.challenge === challenge &&
      code.expiresAt > this.#now();
    return isGood ? this.#issue(code.scopes) : INVALID;
  }

  #renew(fields: Record<string, string>): Answer {
    this.refreshes += 1;
    const held = this.#refresh.get(fields["refresh_token"] ?? "");
    if (held === undefined) return INVALID;
    if (held.isSpent) {
      this.endAll();
      return INVALID;
    }
    held.isSpent = true;
    return this.#issue(held.scopes);
  }

  #issue(scopes: string): Answer {
    const [access, refresh] = [token("access"), token("refresh")];
    this.#access.set(access, { scopes, expiresAt: this.#now() + 7_200_000 });
    const isLasting = scopes.split(" ").includes("offline.access");
    if (isLasting) this.#refresh.set(refresh, { scopes, isSpent: false });
    return {
      status: 200,
      json: {
        token_type: "bearer",
        expires_in: 7_200,
        access_token: access,
        scope: scopes,
        ...(isLasting ? { refresh_token: refresh } : {}),
      },
    };
  }

  /** What a token may do; null where it is none that lives. */
  scopesOf(access: string): readonly string[] | null {
    const held = this.#access.get(access);
    return held === undefined || held.expiresAt <= this.#now() ? null : held.scopes.split(" ");
  }

  /** All access tokens are over; they can be renewed. */
  expire(): void {
    this.#access = new Map();
  }

  endAll(): void {
    this.#access = new Map();
    this.#refresh = new Map();
  }
}

const INVALID: Answer = {
  status: 400,
  json: { error: "invalid_request", error_description: "Value passed for the token was invalid." },
};

function token(kind: string): string {
  return `${kind}-${randomBytes(12).toString("hex")}`;
}

import { DAY, HOUR } from "../../../src/domain/time.ts";
import { describedBy } from "../../support/described.ts";
import { refusal, type Answer, type Fields, type Part } from "./meta-door.ts";

export const CLIENT = { id: "990602627938098", secret: "app-secret-canary" };

export interface TokenOptions {
  readonly prefix: "ig" | "th";
  readonly host: string;
  /** Where codes are exchanged. */
  readonly tokenHost: string;
  readonly authorize: string;
  /** Which all that is granted needs. */
  readonly basicScope: string;
  now(): number;
  /** The answer to a code. */
  shape(issued: { token: string; scopes: readonly string[] }): object;
}

interface Token {
  readonly bornAt: number;
  readonly endsAt: number;
  readonly isLong: boolean;
  readonly scopes: readonly string[];
}

/** Meta's tokens: one of an hour for a code, one of 60 days for it, renewed by itself while it lives. */
export function createMetaTokens(options: TokenOptions) {
  const { prefix, host, tokenHost, basicScope, now } = options;
  const tokens = new Map<string, Token>();
  const codes = new Map<string, { redirect: string; scopes: readonly string[] }>();
  let made = 0;
  const issue = (scopes: readonly string[], isLong: boolean): string => {
    const token = `${prefix.toUpperCase()}-${isLong ? "long" : "short"}-canary-${(made += 1)}`;
    const endsAt = now() + (isLong ? 60 * DAY : HOUR);
    tokens.set(token, { bornAt: now(), endsAt, isLong, scopes });
    return token;
  };
  const alive = (token: string): Token | null => {
    const found = tokens.get(token);
    return found !== undefined && found.endsAt > now() ? found : null;
  };
  const long = (scopes: readonly string[]): Answer => ({
    status: 200,
    body: { access_token: issue(scopes, true), token_type: "bearer", expires_in: 5_183_944 },
  });

  const text = { type: "string" };
  const of = (...names: string[]) => ({
    query: Object.fromEntries(names.map((name) => [name, text])),
    required: names,
  });
  const { query, required } = of("client_id", "client_secret", "grant_type", "redirect_uri", "code");
  const part: Part = {
    base: "https://",
    read: describedBy({
      source: "Meta's guides to its logins",
      operations: {
        [`POST ${tokenHost}/oauth/access_token`]: {
          fields: { type: "object", properties: query, required, additionalProperties: false },
        },
        [`GET ${host}/access_token`]: of("grant_type", "client_secret", "access_token"),
        [`GET ${host}/refresh_access_token`]: of("grant_type", "access_token"),
      },
    }),
    isSigned: false,
    handlers: {
      [`POST ${tokenHost}/oauth/access_token`]: ({ fields }) => exchange(fields),
      [`GET ${host}/access_token`]: ({ fields }) => {
        const short = alive(fields["access_token"]);
        const isAsked = fields["grant_type"] === `${prefix}_exchange_token`;
        if (!isAsked || fields["client_secret"] !== CLIENT.secret) return refusal(101);
        return short === null || short.isLong ? refusal(190) : long(short.scopes);
      },
      [`GET ${host}/refresh_access_token`]: ({ fields }) => {
        const old = alive(fields["access_token"]);
        if (fields["grant_type"] !== `${prefix}_refresh_token`) return refusal(100);
        if (old === null || !old.isLong) return refusal(190);
        // Not before its second day.
        if (now() - old.bornAt < DAY || !old.scopes.includes(basicScope)) return refusal(10);
        return long(old.scopes);
      },
    },
  };

  function exchange(fields: Fields): Answer {
    const code = codes.get(fields["code"] ?? "");
    codes.delete(fields["code"] ?? "");
    if (fields["client_id"] !== CLIENT.id || fields["client_secret"] !== CLIENT.secret)
      return typed("Error validating client secret.");
    if (fields["grant_type"] !== "authorization_code" || code === undefined)
      return typed("Invalid authorization code");
    if (code.redirect !== fields["redirect_uri"]) return typed("Redirect URI does not match");
    return { status: 200, body: options.shape({ token: issue(code.scopes, false), scopes: code.scopes }) };
  }

  return {
    tokens,
    part,
    isAlive: (token: string): boolean => alive(token)?.isLong === true,
    scopesOf: (token: string): readonly string[] => tokens.get(token)?.scopes ?? [],
    /** All of them end, as when the person changes the password. */
    endAll: (): void => tokens.clear(),
    /** The person opens the address and agrees to these, or all; the address they come back to. */
    consent(url: string, granted?: readonly string[]): string {
      const { origin, pathname, searchParams } = new URL(url);
      const asked = Object.fromEntries(searchParams);
      if (`${origin}${pathname}` !== options.authorize) throw new Error(`Nobody consents at ${url}`);
      if (asked["response_type"] !== "code" || asked["client_id"] !== CLIENT.id)
        throw new Error(`Wrong: ${url}`);
      const code = `code-${(made += 1)}`;
      const redirect = asked["redirect_uri"] ?? "";
      codes.set(code, { redirect, scopes: granted ?? (asked["scope"] ?? "").split(",") });
      return `${redirect}?code=${code}&state=${asked["state"]}#_`;
    },
  };
}

function typed(message: string): Answer {
  return { status: 400, body: { error_type: "OAuthException", code: 400, error_message: message } };
}

import { randomBytes } from "node:crypto";
import * as z from "zod";
import { encodeFields } from "../platform-io/encodings.ts";
import { settingName } from "../../domain/accounts/platform-settings.ts";
import { setupCommand } from "../platform-io/set-up.ts";
import type { App, ConnectIo, Endpoints, OAuthWay, Tokens } from "../../ports/connect.ts";
import {
  type JsonObject,
  PlatformFault,
  type PlatformRequest,
  type PlatformResponse,
} from "../../ports/platform-io.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import { wayName } from "../../ports/platform-setup.ts";
import { SECOND } from "../../domain/time.ts";

const JsonAnswer = z.record(z.string(), z.json());

/*
 * By hand: of what a library would bring, oauth4webapi say, the platforms keep little. It refuses codes that
 * are asked for with GET, client_key, errors in HTTP 200, expires_in as a text, answers inside of a list and
 * ids beyond 2^53, each before a hook could put it right.
 */

/** Whom tokens are asked of, and as which app. */
interface TokenPlace {
  readonly platform: AnyPlatform;
  readonly way: OAuthWay;
  readonly app: App;
  readonly endpoints: Endpoints;
}

/** Where the person consents. Parameters that the platform's address has already stay. */
export function authorizeUrl(
  { way, app, endpoints }: TokenPlace,
  io: Pick<ConnectIo, "setting">,
  ask: { redirectUrl: string; scopes: readonly string[]; state: string; challenge: string | null },
): string {
  const own = typeof way.authorizeParams === "function" ? way.authorizeParams(io) : way.authorizeParams;
  const params: Record<string, string | null> = {
    response_type: "code",
    [way.clientIdName ?? "client_id"]: app.clientId,
    redirect_uri: ask.redirectUrl,
    ...(ask.scopes.length === 0 ? {} : { scope: ask.scopes.join(way.scopeSeparator) }),
    state: ask.state,
    ...(ask.challenge === null ? {} : { code_challenge: ask.challenge, code_challenge_method: "S256" }),
    ...own,
  };
  // LinkedIn and Reddit take a plus for itself.
  const query = encodeFields(params);
  return `${endpoints.authorize}${endpoints.authorize.includes("?") ? "&" : "?"}${query}`;
}

/** Exchanges a code. Throws `auth` where it is refused, SetupFault where the app is. */
export function exchangeCode(
  place: TokenPlace,
  io: ConnectIo,
  given: { code: string; verifier: string | null; redirectUrl: string },
): Promise<Tokens> {
  return askForTokens(place, io, {
    grant_type: "authorization_code",
    code: given.code,
    redirect_uri: given.redirectUrl,
    ...(given.verifier === null ? {} : { code_verifier: given.verifier }),
    ...place.way.tokenParams,
  });
}

/** The standard refresh. Throws as `exchangeCode` does; `ambiguous` where the answer was lost. */
export function refreshTokens(place: TokenPlace, io: ConnectIo, refreshToken: string): Promise<Tokens> {
  return askForTokens(place, io, { grant_type: "refresh_token", refresh_token: refreshToken });
}

async function askForTokens(
  place: TokenPlace,
  io: ConnectIo,
  fields: Readonly<Record<string, string>>,
): Promise<Tokens> {
  const request = tokenRequest(place, fields);
  const headers = { ...request.headers, ...place.way.tokenHeaders?.(io) };
  const response = await io.request({ ...request, headers });
  const answer = JsonAnswer.safeParse(response.json).data ?? null;
  const refusal = readRefusal(response.status, answer);
  const fault = refusal === null ? null : faultOf(place, refusal);
  if (fault !== null) throw fault;
  const now = io.now();
  const tokens = answer && (place.way.readTokens?.(answer, now) ?? readStandardTokens(answer, now));
  if (tokens !== null) return tokens;
  const names = Object.keys(answer ?? {}).join(", ");
  throw new PlatformFault("ambiguous", `The answer of ${place.platform.title} holds no tokens.`, {
    httpStatus: response.status,
    cause: new Error(`The answer's fields: ${names.slice(0, 200)}`),
  });
}

/**
 * Whether the platform takes the app's id and secret, by an answer that gives no person's tokens. `unknown`
 * where its answer does not say. Throws PlatformFault where it could not be asked.
 */
export async function tryCredentials(
  place: TokenPlace,
  io: ConnectIo,
  redirectUrl: string,
): Promise<"accepted" | "refused" | "unknown"> {
  const { tryApp: trial = { grant: "authorization_code" }, pkce, tokenHeaders, tokenParams } = place.way;
  const made = randomBytes(32).toString("base64url");
  const isCode = trial.grant === "authorization_code";
  const verifier = isCode && pkce === "S256" ? { code_verifier: made } : {};
  const fields = isCode ? { code: made, redirect_uri: redirectUrl, ...verifier, ...tokenParams } : {};
  const method = trial.method ?? place.way.tokenMethod;
  const way = { ...place.way, ...(method === undefined ? {} : { tokenMethod: method }) };
  const request = tokenRequest({ ...place, way }, { grant_type: trial.grant, ...fields });
  const headers = { ...request.headers, ...tokenHeaders?.(io) };
  const { status, json } = await io.request({ ...request, headers, classify: () => "ok" });
  const refusal = readRefusal(status, json);
  if (refusal === null) return Answer.safeParse(json).success ? "accepted" : "unknown";
  const { code } = refusal;
  const isOfHeader = status === 401 && isBasicAuth(place) && !GRANT_CODES.has(code);
  if (isOfHeader || CLIENT_CODES.has(code) || (isCode && code === "unauthorized_client")) return "refused";
  const isKnown = isCode
    ? judgeRefusal(refusal, isBasicAuth(place)) !== "passing" && code !== ""
    : KNOWN_APP_CODES.has(code);
  // An id alone is no secret: an answer to it proves less.
  const isProof = trial.provesOnlyRefusal !== true && place.app.clientSecret !== "";
  return isKnown && isProof ? "accepted" : "unknown";
}

function tokenRequest(place: TokenPlace, fields: Readonly<Record<string, string>>): PlatformRequest {
  const { way, app, endpoints } = place;
  const isBasic = isBasicAuth(place);
  const client = isBasic
    ? {}
    : {
        [way.clientIdName ?? "client_id"]: app.clientId,
        ...(way.clientAuth === "none" || app.clientSecret === "" ? {} : { client_secret: app.clientSecret }),
      };
  // As named fields, so that none of them is quoted back at people.
  const form = { ...fields, ...client };
  const headers = { accept: "application/json", ...(isBasic && { authorization: basic(app) }) };
  const classify = (response: PlatformResponse): PlatformFault | null => {
    const refusal = readRefusal(response.status, response.json);
    return refusal === null ? null : faultOf(place, refusal);
  };
  // On a new connection a failure to connect proves that the code or token is unspent.
  const request = { url: endpoints.token, headers, classify, newConnection: true };
  return way.tokenMethod === "GET"
    ? { ...request, method: "GET", query: form }
    : { ...request, method: "POST", form };
}

/** An app without a secret (X's public clients) only names itself. */
function isBasicAuth({ way, app }: TokenPlace): boolean {
  return way.clientAuth === "basic" && app.clientSecret !== "";
}

/** RFC 6749, 2.3.1: both are encoded as in a form first. */
function basic({ clientId, clientSecret }: App): string {
  const both = [clientId, clientSecret].map((part) => encodeURIComponent(part)).join(":");
  return `Basic ${Buffer.from(both).toString("base64")}`;
}

/** Null for trouble that passes: it is read as every platform's. */
function faultOf(place: TokenPlace, refusal: Refusal): PlatformFault | null {
  const { title } = place.platform;
  const verdict = judgeRefusal(refusal, isBasicAuth(place));
  // Their names alone: descriptions repeat what was sent.
  const cause = new Error(
    `HTTP ${refusal.status}, ${refusal.code.replace(/[^\w.-]/g, "_") || "no error code"}`,
  );
  const details = { cause, httpStatus: refusal.status };
  if (verdict === "app") return new SetupFault(appSentence(place), details);
  if (verdict === "grant")
    return new PlatformFault("auth", `${title} does not accept the channel's permission any more.`, details);
  return refusal.status >= 400
    ? null
    : new PlatformFault("transient", `${title} has a problem of its own (${cause.message}).`, details);
}

function appSentence({ platform, way }: TokenPlace): string {
  if (way.register !== undefined) return `${platform.title} does not know our app any more.`;
  const named = (name: "CLIENT_ID" | "CLIENT_SECRET"): string =>
    settingName(way.appOf ?? platform.name, wayName(way, name));
  return (
    `${platform.title} does not accept the app: ${named("CLIENT_ID")} or ${named("CLIENT_SECRET")} is wrong, or the app may not do this. ` +
    `Correct them with ${setupCommand(platform, way) ?? "posthorn setup"}, or in the environment and start Posthorn again. The channel need not be reconnected.`
  );
}

/** What is wrong is the app that the administrator registered: no person who connects can mend it. */
export class SetupFault extends PlatformFault {
  constructor(message: string, details: { cause?: unknown; httpStatus?: number } = {}) {
    super("setup", message, details);
  }
}

/** The platform's own words for a refusal: RFC 6749's `error`, Meta's number, Slack's `ok: false`. */
export interface Refusal {
  readonly status: number;
  /** Lower case; "" where it gave none. */
  readonly code: string;
}

const SaysError = z.looseObject({ error: z.string().min(1) });
const SaysMeta = z.looseObject({
  error: z.looseObject({ code: z.union([z.number(), z.string()]), message: z.string().catch("") }),
});
/** Instagram's first step. */
const SaysErrorType = z.looseObject({ error_type: z.string(), error_message: z.string().catch("") });

/** Null where the answer holds none. TikTok, Slack and others refuse with HTTP 200. */
function readRefusal(status: number, json: unknown): Refusal | null {
  const plain = SaysError.safeParse(json);
  if (plain.success) return { status, code: plain.data.error.toLowerCase().slice(0, 60) };
  const meta = SaysMeta.safeParse(json);
  if (meta.success) return { status, code: metaCode(meta.data.error.code, meta.data.error.message) };
  const typed = SaysErrorType.safeParse(json);
  if (typed.success) return { status, code: metaCode(0, typed.data.error_message) };
  return status >= 400 ? { status, code: "" } : null;
}

/** Of Meta's, the wrong app secret has no number of its own. */
function metaCode(code: number | string, message: string): string {
  const isApp =
    Number(code) === 101 ||
    /client secret|validating application|invalid (?:app|client|platform app)/i.test(message);
  return isApp ? "invalid_client" : `${code}`.toLowerCase();
}

const SETUP_CODES: ReadonlySet<string> = new Set([
  "invalid_client",
  "unauthorized_client",
  "invalid_client_id",
  "invalid_client_secret",
  "bad_client_secret",
  "bad_redirect_uri",
  "redirect_uri_mismatch",
  "unsupported_grant_type",
  "invalid_scope",
]);

/** Those of them that speak of the app's id and secret alone. */
const CLIENT_CODES: ReadonlySet<string> = new Set([
  "invalid_client",
  "invalid_client_id",
  "invalid_client_secret",
  "bad_client_secret",
]);

/** An app that is known and gets no token for itself. */
const KNOWN_APP_CODES: ReadonlySet<string> = new Set(["access_denied", "unauthorized_client"]);

const PASSING_CODES: ReadonlySet<string> = new Set([
  "temporarily_unavailable",
  "server_error",
  "internal_error",
  "ratelimited",
  "rate_limited",
  "slow_down",
]);

const GRANT_CODES: ReadonlySet<string> = new Set(["invalid_grant", "invalid_token", "invalid_request"]);

/** `app`: the app is not accepted; `grant`: the code or token is not; `passing`: neither. */
function judgeRefusal(refusal: Refusal, isBasic: boolean): "app" | "grant" | "passing" {
  const { status, code } = refusal;
  if (SETUP_CODES.has(code)) return "app";
  if (PASSING_CODES.has(code) || status === 429 || status >= 500) return "passing";
  // RFC 6749, 5.2: so is a client refused that named itself in the header.
  if (status === 401 && isBasic && !GRANT_CODES.has(code)) return "app";
  return status === 400 || status === 401 || status < 300 ? "grant" : "passing";
}

const Seconds = z.coerce.number().positive().max(1e10);
const Words = z.union([z.string(), z.array(z.string())]);

const Answer = z.looseObject({
  access_token: z.string().min(1),
  refresh_token: z.string().catch(""),
  expires_in: Seconds.nullable().catch(null),
  refresh_token_expires_in: Seconds.nullable().catch(null),
  refresh_expires_in: Seconds.nullable().catch(null),
  scope: Words.nullable().catch(null),
  scopes: Words.nullable().catch(null),
  permissions: Words.nullable().catch(null),
});

/**
 * Tokens as RFC 6749 has them, under `accessToken` and `refreshToken`; seconds may be texts, and scopes a list
 * or divided by commas. Null where there is no access token.
 */
export function readStandardTokens(answer: JsonObject, now: number): Tokens | null {
  const parsed = Answer.safeParse(answer);
  if (!parsed.success) return null;
  const { access_token, refresh_token, ...rest } = parsed.data;
  const at = (seconds: number | null): number | null => (seconds === null ? null : now + seconds * SECOND);
  const { access_token: _access, refresh_token: _refresh, id_token: _id, ...shown } = answer;
  return {
    secrets: { accessToken: access_token, refreshToken: refresh_token },
    expiresAt: at(rest.expires_in),
    renewableUntil: at(rest.refresh_token_expires_in ?? rest.refresh_expires_in),
    scopes: readScopes(rest.scope ?? rest.scopes ?? rest.permissions),
    answer: shown,
  };
}

function readScopes(words: string | string[] | null): readonly string[] | null {
  if (words === null) return null;
  const list = [words].flat().flatMap((part) => part.split(/[\s,]+/).filter((word) => word !== ""));
  return list.length === 0 ? null : list;
}

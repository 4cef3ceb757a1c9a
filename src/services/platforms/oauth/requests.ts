import * as z from "zod";
import { settingName } from "../../../domain/accounts/platform-settings.ts";
import type { App, ConnectIo, Endpoints, OAuthWay, Tokens } from "../../../ports/connect.ts";
import { PlatformFault, type PlatformRequest, type PlatformResponse } from "../../../ports/platform-io.ts";
import type { AnyPlatform } from "../../../ports/platform.ts";
import { wayName } from "../../../ports/platform-setup.ts";
import { judgeRefusal, readRefusal, readStandardTokens, SetupFault, type Refusal } from "./answers.ts";

const JsonAnswer = z.record(z.string(), z.json());

/*
 * By hand: of what a library would bring, oauth4webapi say, the platforms keep little. It refuses codes that
 * are asked for with GET, client_key, errors in HTTP 200, expires_in as a text, answers inside of a list and
 * ids beyond 2^53, each before a hook could put it right.
 */

/** Whom tokens are asked of, and as which app. */
export interface TokenPlace {
  readonly platform: AnyPlatform;
  readonly way: OAuthWay;
  readonly app: App;
  readonly endpoints: Endpoints;
}

/** With spaces as %20 everywhere: LinkedIn and Reddit take a plus for itself. */
export function encodeQuery(fields: Readonly<Record<string, string>>): string {
  return new URLSearchParams(fields).toString().replaceAll("+", "%20");
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
  const given = Object.entries(params).flatMap(([name, value]) => (value === null ? [] : [[name, value]]));
  const query = encodeQuery(Object.fromEntries(given));
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
  const headers = {
    accept: "application/json",
    ...(isBasic ? { authorization: basic(app) } : {}),
  };
  const classify = (response: PlatformResponse): PlatformFault | null => {
    const refusal = readRefusal(response.status, response.json);
    return refusal === null ? null : faultOf(place, refusal);
  };
  if (way.tokenMethod === "GET")
    return { method: "GET", url: endpoints.token, query: form, headers, classify, newConnection: true };
  return {
    method: "POST",
    url: endpoints.token,
    headers,
    form,
    classify,
    // So that a failure to connect proves that the code or token is unspent.
    newConnection: true,
  };
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
    `Correct the settings and start Posthorn again. The channel need not be reconnected.`
  );
}

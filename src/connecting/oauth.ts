import { createHash, randomBytes } from "node:crypto";
import * as z from "zod";
import { AppError } from "../domain/errors.ts";
import type { Connected, Endpoints, OAuthWay, Place, Tokens } from "../ports/connect.ts";
import { PlatformFault, type JsonObject } from "../ports/platform-io.ts";
import type { AnyPlatform } from "../ports/platform.ts";
import { scopesOf, wayName } from "../ports/platform-setup.ts";
import type { AppContext } from "../context.ts";
import { endpointsOf, findUsedApp, forgetApp, openApp } from "./apps.ts";
import { authorizeUrl, exchangeCode, SetupFault } from "./oauth-requests.ts";
import { createConnectIo } from "../platform-io/connect-io.ts";
import { scrub } from "../platform-io/secrets.ts";
import { readSetting } from "../platform-io/set-up.ts";

export interface Consent {
  readonly platform: AnyPlatform;
  readonly way: OAuthWay;
  readonly place: Place;
  readonly ownerId: string;
}

const AddressesKept = z.object({ authorize: z.string(), token: z.string(), revoke: z.string().optional() });

/** Between the two halves of a consent. */
const Kept = z.object({
  verifier: z.string().nullable(),
  scopes: z.array(z.string()),
  /** As they were when the person left: what a server names later has no claim to the code. */
  endpoints: AddressesKept,
});

/**
 * The address to send the person to, and what `finishConsent` needs when they come back: it holds a secret.
 * Throws `unavailable` where settings are missing, PlatformFault where a server could not be asked.
 */
export async function beginConsent(
  ctx: AppContext,
  consent: Consent & { readonly state: string },
  signal: AbortSignal,
): Promise<{ url: string; keep: JsonObject }> {
  const { platform, way, place, ownerId, state } = consent;
  const io = await createConnectIo(ctx, { provider: platform.name, ownerId }, signal);
  const app = await openApp(ctx, consent, io);
  const endpoints = await endpointsOf(ctx, consent, io);
  const pkce = endpoints.pkce ?? way.pkce;
  const verifier = pkce === "none" ? null : randomBytes(32).toString("base64url");
  const challenge = verifier === null ? null : createHash("sha256").update(verifier).digest("base64url");
  const scopes = [...scopesOf(way, readSetting(ctx, platform, wayName(way, "SCOPES")))];
  const asking = { redirectUrl: place.redirectUrl, scopes, state, challenge };
  return {
    url: authorizeUrl({ platform, way, app, endpoints }, io, asking),
    keep: { verifier, scopes, endpoints: { ...endpoints } },
  };
}

/**
 * Exchanges the code that the person came back with, once, and finds the channels it is good for. `answer`:
 * the parameters of the address. Throws AppError `invalid` where the person said no, a permission is missing
 * or the platform does not take the code; PlatformFault where it could not be asked.
 */
export async function finishConsent(
  ctx: AppContext,
  consent: Consent & { readonly keep: JsonObject; readonly answer: Readonly<Record<string, string>> },
  signal: AbortSignal,
): Promise<Connected> {
  const { platform, way, place, ownerId } = consent;
  const { verifier, scopes, endpoints } = Kept.parse(consent.keep);
  const code = readCode(platform, consent.answer);
  const app = await findUsedApp(ctx, consent);
  const knownSecrets = new Set([code, verifier ?? "", app.clientSecret]);
  const note = (tokens: Tokens): Tokens => {
    for (const value of Object.values(tokens.secrets)) knownSecrets.add(value);
    return tokens;
  };
  const io = await createConnectIo(ctx, { provider: platform.name, ownerId, knownSecrets }, signal);
  const at = { platform, way, app, endpoints: asEndpoints(endpoints) };
  try {
    const asked = { code, verifier, redirectUrl: place.redirectUrl };
    const first = note(await exchange(ctx, consent, () => exchangeCode(at, io, asked)));
    requireScopes(consent, scopes, first);
    const oauthIo = { ...io, app, place };
    const tokens = note((await way.lengthen?.(first, oauthIo)) ?? first);
    return { tokens, targets: await way.targets(tokens, oauthIo) };
  } catch (error) {
    const fault = error instanceof AppError ? error.cause : error;
    if (fault instanceof PlatformFault) {
      const cause = scrub(String(fault.cause ?? ""), knownSecrets);
      const fields = { provider: platform.name, kind: fault.kind, httpStatus: fault.httpStatus, cause };
      ctx.log.warn(fields, "A consent could not be finished");
    }
    throw error;
  }
}

function asEndpoints({ revoke, ...rest }: z.infer<typeof AddressesKept>): Endpoints {
  return { ...rest, ...(revoke === undefined ? {} : { revoke }) };
}

const SAYS_NO: ReadonlySet<string> = new Set([
  "access_denied",
  "user_denied",
  "user_cancelled_login",
  "user_cancelled_authorize",
]);

function readCode({ title }: AnyPlatform, answer: Readonly<Record<string, string>>): string {
  const error = answer["error"] ?? answer["error_code"] ?? "";
  if (SAYS_NO.has(error) || SAYS_NO.has(answer["error_reason"] ?? "")) {
    throw new AppError("invalid", `${title} was not connected: the permission was refused.`);
  }
  // Meta puts #_ at the end of its address, which comes along when a person copies it.
  const code = (answer["code"] ?? "").replace(/#_$/, "");
  if (error === "" && code !== "") return code;
  const named = /^[\w.-]{1,60}$/.test(error) ? ` (${error})` : "";
  throw new AppError(
    "invalid",
    `${title} was not connected: it sent the person back without a permission${named}.`,
  );
}

async function exchange(ctx: AppContext, consent: Consent, ask: () => Promise<Tokens>): Promise<Tokens> {
  const { title } = consent.platform;
  try {
    return await ask();
  } catch (cause) {
    if (cause instanceof SetupFault) {
      await forgetApp(ctx, consent);
      throw consent.way.register === undefined
        ? new AppError("unavailable", cause.message, { cause })
        : new AppError("invalid", cause.message, { cause });
    }
    if (!(cause instanceof PlatformFault) || (cause.kind !== "auth" && cause.kind !== "rejected"))
      throw cause;
    throw new AppError(
      "invalid",
      `${title} did not take the permission that the person came back with. It works once and for a short time.`,
      { cause },
    );
  }
}

/** People may untick permissions. What the settings do not ask for is not missed. */
function requireScopes({ platform, way }: Consent, asked: readonly string[], { scopes }: Tokens): void {
  if (scopes === null) return;
  const missing = (way.neededScopes ?? []).filter(
    (scope) => asked.includes(scope) && !scopes.includes(scope),
  );
  if (missing.length === 0) return;
  throw new AppError(
    "invalid",
    `${platform.title} was not connected: these permissions are missing: ${missing.join(", ")}. ` +
      `Leave all of them ticked the next time.`,
  );
}

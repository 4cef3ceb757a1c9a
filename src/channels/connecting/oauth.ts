import { createHash, randomBytes } from "node:crypto";
import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { Connected, Endpoints, OAuthWay, Place, Tokens, App, ConnectIo } from "../../ports/connect.ts";
import { PlatformFault, type JsonObject } from "../../ports/platform-io.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import { scopesOf, wayName } from "../../ports/platform-setup.ts";
import type { AppContext } from "../../context.ts";
import { authorizeUrl, exchangeCode, SetupFault } from "./oauth-requests.ts";
import { createConnectIo } from "../platform-io/connect-io.ts";
import { scrub, appAad } from "../platform-io/secrets.ts";
import { readSetting, requireConfigured } from "../platform-io/set-up.ts";
import { settingName } from "../../domain/accounts/platform-settings.ts";
import { HOUR } from "../../domain/time.ts";
import { deleteApp, findApp, isAppUsed, storeApp, type AppRow } from "../../store/queries/connections.ts";
import { fitApp, fitEndpoints } from "../platform-io/fit-answers.ts";

export interface Consent {
  readonly platform: AnyPlatform;
  readonly way: OAuthWay;
  readonly place: Place;
  readonly ownerId: string;
}

const AddressesKept = z.object({
  authorize: z.string(),
  token: z.string(),
  revoke: z.string().exactOptional(),
});

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
  const endpoints = await findEndpoints(ctx, consent, io);
  const pkce = endpoints.pkce ?? way.pkce;
  const isBound = pkce === "S256" || (pkce === "hex-at-home" && !place.redirectUrl.startsWith("https:"));
  const verifier = isBound ? randomBytes(32).toString("base64url") : null;
  const encoding = pkce === "S256" ? "base64url" : "hex";
  const challenge = verifier === null ? null : createHash("sha256").update(verifier).digest(encoding);
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
  const at = { platform, way, app, endpoints };
  try {
    const asked = { code, verifier, redirectUrl: place.redirectUrl };
    const first = note(await exchange(ctx, consent, () => exchangeCode(at, io, asked)));
    requireScopes(consent, scopes, first);
    const oauthIo = { ...io, app, place };
    const long = note((await way.lengthen?.(first, oauthIo)) ?? first);
    // What no answer names was allowed as it was asked for: RFC 6749, 5.1.
    const tokens = { ...long, scopes: long.scopes ?? scopes };
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

/** Mastodon deletes apps that no token was asked for in a day; a person would end at an error there. */
const UNUSED_LIFE_MS = 12 * HOUR;

const StoredApp = z.object({ clientId: z.string(), clientSecret: z.string() });

interface AppWanted {
  readonly platform: AnyPlatform;
  readonly way: OAuthWay;
  readonly place: Place;
}

/**
 * The app that asks for consent: the one in the settings, or one that registers itself, kept per server and
 * address to come back to. Throws `unavailable` that names the settings.
 */
async function openApp(ctx: AppContext, wanted: AppWanted, io: ConnectIo): Promise<App> {
  const { way, platform, place } = wanted;
  if (way.register === undefined) return configuredApp(ctx, wanted);
  const key = keyOf(wanted);
  const found = (await findApp(ctx.store, key)) ?? null;
  if (found !== null) {
    const isFresh = ctx.clock.now() - found.created_at < UNUSED_LIFE_MS;
    const kept = isFresh || (await isAppUsed(ctx.store, found)) ? openRow(ctx, found) : null;
    if (kept !== null) return kept;
  }
  const fresh = fitApp(platform.title, await way.register(place, io));
  const sealed = ctx.cipher.seal(JSON.stringify(fresh), appAad(key));
  const row = { ...key, app_enc: sealed, created_at: ctx.clock.now() };
  const stored = await ctx.store.write((tx) => storeApp(tx, row, found));
  ctx.log.info({ provider: platform.name, instanceUrl: place.instanceUrl }, "An app was registered");
  return openRow(ctx, stored) ?? fresh;
}

/** The app that a consent was asked for with; throws `invalid` where it is gone. */
export async function findUsedApp(ctx: AppContext, wanted: AppWanted): Promise<App> {
  if (wanted.way.register === undefined) return configuredApp(ctx, wanted);
  const row = await findApp(ctx.store, keyOf(wanted));
  const app = row === undefined ? null : openRow(ctx, row);
  if (app !== null) return app;
  throw new AppError("invalid", `The app that ${wanted.platform.title} knew us by is gone.`);
}

/** The platform does not know it any more: the next consent registers another. */
export async function forgetApp(ctx: AppContext, wanted: AppWanted): Promise<void> {
  if (wanted.way.register === undefined) return;
  const row = await findApp(ctx.store, keyOf(wanted));
  if (row !== undefined) await ctx.store.write((tx) => deleteApp(tx, row));
}

/** Null where it was sealed with another key. */
function openRow(ctx: AppContext, row: AppRow): App | null {
  try {
    return StoredApp.parse(JSON.parse(ctx.cipher.open(row.app_enc, appAad(row))));
  } catch {
    return null;
  }
}

function keyOf({ platform, place }: AppWanted): Pick<AppRow, "provider" | "instance_url" | "redirect_url"> {
  return {
    provider: platform.name,
    instance_url: place.instanceUrl ?? "",
    redirect_url: place.redirectUrl,
  };
}

async function configuredApp(ctx: AppContext, { platform, way }: AppWanted): Promise<App> {
  const set = await requireConfigured(ctx, platform, way);
  const setting = (name: "CLIENT_ID" | "CLIENT_SECRET"): string =>
    set[settingName(way.appOf ?? platform.name, wayName(way, name))] ?? "";
  return { clientId: setting("CLIENT_ID"), clientSecret: setting("CLIENT_SECRET") };
}

/** What the settings name stands before what the platform's file does. */
export async function findEndpoints(
  ctx: AppContext,
  { platform, way, place }: AppWanted,
  io: ConnectIo,
): Promise<Endpoints> {
  const named =
    typeof way.endpoints === "function"
      ? fitEndpoints(platform.title, await way.endpoints(io, place))
      : way.endpoints;
  const setting = (name: string): string | undefined =>
    ctx.settings.platformSettings[settingName(way.appOf ?? platform.name, name)];
  const revoke = setting("REVOKE_URL") ?? named.revoke;
  return {
    authorize: setting("AUTH_URL") ?? named.authorize,
    token: setting("TOKEN_URL") ?? named.token,
    ...(named.pkce === undefined ? {} : { pkce: named.pkce }),
    ...(revoke === undefined ? {} : { revoke }),
  };
}

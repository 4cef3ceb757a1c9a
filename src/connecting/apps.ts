import * as z from "zod";
import { settingName } from "../domain/accounts/platform-settings.ts";
import { AppError } from "../domain/errors.ts";
import { HOUR } from "../domain/time.ts";
import type { App, ConnectIo, Endpoints, OAuthWay, Place } from "../ports/connect.ts";
import type { AnyPlatform } from "../ports/platform.ts";
import { wayName } from "../ports/platform-setup.ts";
import { deleteApp, findApp, isAppUsed, storeApp, type AppRow } from "../store/queries/connections.ts";
import type { AppContext } from "../context.ts";
import { fitApp, fitEndpoints } from "../platform-io/fit-answers.ts";
import { appAad } from "../platform-io/secrets.ts";
import { requireConfigured } from "../platform-io/set-up.ts";

/** Mastodon throws apps away that nobody got a token with for a day; a person would end at an error there. */
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
export async function openApp(ctx: AppContext, wanted: AppWanted, io: ConnectIo): Promise<App> {
  const { way, platform, place } = wanted;
  if (way.register === undefined) return configuredApp(ctx, wanted);
  const key = keyOf(wanted);
  const found = (await findApp(ctx.store, key)) ?? null;
  const kept = found === null ? null : await readKept(ctx, found);
  if (kept !== null) return kept;
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

async function readKept(ctx: AppContext, row: AppRow): Promise<App | null> {
  const isFresh = ctx.clock.now() - row.created_at < UNUSED_LIFE_MS;
  return isFresh || (await isAppUsed(ctx.store, row)) ? openRow(ctx, row) : null;
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
  await requireConfigured(ctx, platform, way);
  const setting = (name: "CLIENT_ID" | "CLIENT_SECRET"): string =>
    ctx.settings.platformSettings[settingName(way.appOf ?? platform.name, wayName(way, name))] ?? "";
  return { clientId: setting("CLIENT_ID"), clientSecret: setting("CLIENT_SECRET") };
}

/** What the settings name stands before what the platform's file does. */
export async function endpointsOf(
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

import { platformNamed, unknownPlatform } from "./list-platforms.ts";
import type { PlatformAppArgs, PlatformAppState } from "../../domain/accounts/platform-app.ts";
import { AppError } from "../../domain/errors.ts";
import { type Caller, DEFAULT_OWNER } from "../../domain/permissions.ts";
import { quote } from "../../domain/text/plain-text.ts";
import type { AppContext, CallContext } from "../../context.ts";
import type { App, OAuthWay } from "../../ports/connect.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import { hasOwnApp, requiredSettings } from "../../ports/platform-setup.ts";
import { deletePlatformApp, findPlatformApp, storePlatformApp } from "../../store/queries/platform-apps.ts";
import { missingSettings, usualWay } from "./set-up.ts";
import { appSettingNames, openApps, sealApps, effectiveSettings } from "./effective-settings.ts";

/* Apps that a person registered at platforms, entered while Posthorn runs. No tool has them: a chat would keep them. */

/**
 * Throws `forbidden` for all but the installation's own owner: with another app in its place the channels of all
 * owners would have to be connected anew.
 */
export function requireInstallation({ ownerId, accountIds }: Caller): void {
  if (ownerId === DEFAULT_OWNER && accountIds === null) return;
  throw new AppError(
    "forbidden",
    `This key may not change apps of platforms, which all owners use. Use an admin key of the owner "${DEFAULT_OWNER}" that is not limited to certain channels.`,
  );
}

/** An app that a person entered, and the way to connect that it is for. */
export interface EnteredApp {
  readonly platform: AnyPlatform;
  readonly way: OAuthWay;
  readonly app: App;
}

/**
 * Keeps the app of a platform sealed. It holds at once in every process, unless the environment names another.
 * `tryFirst`: whether the platform takes it; throws where it does not.
 */
export async function setPlatformApp(
  call: CallContext,
  { provider: given, ...args }: PlatformAppArgs & { readonly provider: string },
  tryFirst?: (call: CallContext, entered: EnteredApp) => Promise<boolean>,
): Promise<PlatformAppState> {
  const { ctx, caller } = call;
  const platform = findPlatform(ctx, given);
  const provider = platform.name;
  const way = wayWithApp(platform, args.way);
  const prefix = way.settingPrefix ?? "";
  const [, secretName] = appSettingNames(provider, prefix);
  const { clientId, clientSecret = null } = args;
  if (clientSecret === null && requiredSettings(platform, way).includes(secretName))
    throw new AppError("invalid", "clientSecret: is required. Give the secret that belongs to the app's id.");
  const entered = { platform, way, app: { clientId, clientSecret: clientSecret ?? "" } };
  const isAccepted = await tryFirst?.(call, entered);
  await ctx.store.write(async (tx) => {
    const row = await findPlatformApp(tx, provider);
    const others = row === undefined ? {} : openApps(ctx, row);
    const apps_enc = sealApps(ctx, provider, { ...others, [prefix]: { clientId, clientSecret } });
    await storePlatformApp(tx, { provider, apps_enc, updated_at: ctx.clock.now(), updated_by: caller.keyId });
  });
  ctx.log.info({ provider, way: way.name, keyId: caller.keyId }, "The app of a platform was entered");
  return { ...(await stateOf(ctx, platform)), ...(isAccepted === undefined ? {} : { isAccepted }) };
}

/** Forgets what was entered. What the environment names stays. */
export async function forgetPlatformApp(
  { ctx, caller }: CallContext,
  { provider: given }: { readonly provider: string },
): Promise<PlatformAppState> {
  const platform = findPlatform(ctx, given);
  const provider = platform.name;
  wayWithApp(platform, undefined);
  if (await ctx.store.write((tx) => deletePlatformApp(tx, provider)))
    ctx.log.info({ provider, keyId: caller.keyId }, "The app of a platform was forgotten");
  return stateOf(ctx, platform);
}

function findPlatform(ctx: AppContext, provider: string): AnyPlatform {
  const platform = platformNamed(ctx.platforms.values(), provider);
  if (platform !== undefined) return platform;
  throw new AppError("not_found", unknownPlatform([...ctx.platforms.values()], provider));
}

/** Throws `conflict` for a platform that needs no app of ours, `invalid` for a way that has none. */
export function wayWithApp(platform: AnyPlatform, name: string | undefined): OAuthWay {
  const ways = platform.connect.filter(hasOwnApp);
  const [first] = ways;
  if (first === undefined) throw new AppError("conflict", explainNone(platform));
  const way = name === undefined ? first : ways.find((one) => one.name === name);
  if (way !== undefined) return way;
  const known = ways.map((one) => one.name).join(", ");
  throw new AppError(
    "invalid",
    `way: ${quote(name ?? "")} is no way of ${platform.title} that has an app of its own. Those that have one are ${known}.`,
  );
}

function explainNone({ title, connect }: AnyPlatform): string {
  const other = connect.flatMap((way) => (way.kind === "oauth" ? (way.appOf ?? []) : []))[0];
  return other === undefined
    ? `${title} needs no app that a person registers. Connect a channel without one.`
    : `${title} uses the app of the platform ${other}. Enter it there.`;
}

async function stateOf(ctx: AppContext, platform: AnyPlatform): Promise<PlatformAppState> {
  const set = await effectiveSettings(ctx);
  const missing = missingSettings(set, platform, usualWay(set, platform));
  const names = platform.connect
    .filter(hasOwnApp)
    .flatMap((way) => appSettingNames(platform.name, way.settingPrefix ?? ""));
  const environment = names.filter((name) => (ctx.settings.platformSettings[name] ?? "") !== "");
  return { provider: platform.name, configured: missing.length === 0, missing, environment };
}

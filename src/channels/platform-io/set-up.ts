import { settingName } from "../../domain/accounts/platform-settings.ts";
import { AppError } from "../../domain/errors.ts";
import type { ConnectWay, OAuthWay, Renewal, Tokens } from "../../ports/connect.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import {
  CALLBACK_PATH,
  type FilledGuide,
  fillGuide,
  guideOf,
  hasOwnApp,
  mediaNeed,
  pasteWay,
  requiredSettings,
  scopesOf,
  wayName,
} from "../../ports/platform-setup.ts";
import type { AppContext } from "../../context.ts";
import {
  appSettingNames,
  isInEnvironment,
  type PlatformSettings,
  effectiveSettings,
} from "./effective-settings.ts";
import { parseUrl } from "../../domain/parse-url.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import { isServerUrl } from "../../store/queries/workers.ts";
import type { AccountRow } from "../../store/queries/accounts.ts";

/** The platform's setting of this name; null where it is not set. */
export function readSetting(ctx: AppContext, platform: AnyPlatform, name: string): string | null {
  return ctx.settings.platformSettings[settingName(platform.name, name)] ?? null;
}

/** The address that people come back to from a platform, as it must be registered there. */
export async function redirectUrlOf(ctx: AppContext, platform: AnyPlatform): Promise<string> {
  const set = readSetting(ctx, platform, "REDIRECT_URL");
  if (set !== null) return set;
  const home = await readHome(ctx);
  const takesLocalhost = platform.connect.every(
    (way) => way.kind !== "oauth" || way.redirect !== "no-localhost",
  );
  return `${takesLocalhost ? home : home.replace(/^http:\/\/localhost\b/, "http://127.0.0.1")}${CALLBACK_PATH}`;
}

/** Null where the platform would refuse the address that we have for this way. */
export async function takenRedirectUrl(
  ctx: AppContext,
  platform: AnyPlatform,
  way: ConnectWay,
): Promise<string | null> {
  const url = await redirectUrlOf(ctx, platform);
  return "redirect" in way && !takesRedirect(way.redirect, url) ? null : url;
}

function takesRedirect(taken: OAuthWay["redirect"], url: string): boolean {
  if (url.startsWith("https:")) return true;
  const isHome = ["localhost", "127.0.0.1"].includes(parseUrl(url)?.hostname ?? "");
  return taken !== "https" && (taken !== "https-or-home" || isHome);
}

/**
 * The address that apps are registered with: that of the server on the data folder, where one runs. Else, where
 * another process has our port, a listener of stdio has one that no app knows: the consent ends at the usual
 * address all the same, at a process on the same data folder that finishes it, or at none, and the person pastes it.
 */
async function readHome(ctx: AppContext): Promise<string> {
  const actual = await ctx.publicUrl();
  const { publicUrl, port = 0 } = ctx.settings;
  if (await isServerUrl(ctx.store, actual)) return actual;
  return publicUrl === null && port !== 0 ? `http://localhost:${port}` : actual;
}

/** Whole names of the settings without which the platform cannot be connected in this way. */
export function missingSettings(set: PlatformSettings, platform: AnyPlatform, way: ConnectWay): string[] {
  return requiredSettings(platform, way).filter((name) => (set[name] ?? "") === "");
}

/** The way that is taken when none is named: the first that is set up, or the first of all. */
export function usualWay(set: PlatformSettings, platform: AnyPlatform): ConnectWay {
  return (
    platform.connect.find((way) => missingSettings(set, platform, way).length === 0) ?? platform.connect[0]
  );
}

/** How an app is registered for this way, with our own address in it; null where none is needed. */
export async function describeSetup(
  ctx: AppContext,
  platform: AnyPlatform,
  way: ConnectWay,
): Promise<FilledGuide | null> {
  const guide = guideOf(way);
  if (guide === null) return null;
  const redirectUrl = await takenRedirectUrl(ctx, platform, way);
  const filled = fillGuide(guide, {
    redirectUrl,
    scopes: scopesOf(way, readSetting(ctx, platform, wayName(way, "SCOPES"))),
  });
  return { ...filled, needs: [...(await missingAddresses(ctx, platform, redirectUrl)), ...filled.needs] };
}

/** What only the person who runs Posthorn can provide, and has not yet. */
async function missingAddresses(
  ctx: AppContext,
  platform: AnyPlatform,
  redirectUrl: string | null,
): Promise<string[]> {
  const media = mediaNeed(platform);
  const ours = platform.capabilities.fetchesFrom === "ours";
  const isFetchable = media === null || (await ctx.publicMedia.canBeFetched({ ours }));
  return [
    ...(redirectUrl === null ? [`An https address, and this Posthorn has none. ${pasteWay(platform)}`] : []),
    ...(isFetchable ? [] : [media]),
  ];
}

/**
 * The settings in force. Throws `unavailable` that names those without which the platform cannot be connected
 * in this way, and the address to register.
 */
export async function requireConfigured(
  ctx: AppContext,
  platform: AnyPlatform,
  way: ConnectWay,
): Promise<PlatformSettings> {
  const set = await effectiveSettings(ctx);
  const missing = missingSettings(set, platform, way);
  if (missing.length === 0) return set;
  const [them, are] = missing.length === 1 ? ["it", "is"] : ["them", "are"];
  const sentences = [
    `${platform.title} cannot be connected yet: ${missing.join(" and ")} ${are} not set.`,
    await whereToGet(ctx, platform, way),
    `${orEnter(ctx, { platform, way, missing, them })} ${them} in the environment or in posthorn.env and start Posthorn again.`,
    ...otherWays(set, platform, way),
  ];
  throw new AppError("unavailable", sentences.join(" "));
}

async function whereToGet(ctx: AppContext, platform: AnyPlatform, way: ConnectWay): Promise<string> {
  if (way.kind !== "oauth") return `${platform.docs} says where to get their values.`;
  const { name } = platform;
  const { setup } = way;
  const redirectUrl = await takenRedirectUrl(ctx, platform, way);
  const back =
    redirectUrl === null
      ? "an https address to come back to, which this Posthorn does not have"
      : `the redirect address ${redirectUrl}`;
  const steps =
    setup === null
      ? ""
      : ` The steps are on the page ${await ctx.publicUrl()}/connect/setup/${name}, which the person can open now. posthorn doctor ${name} prints them, too.`;
  return `A person first registers an app at ${setup?.url ?? platform.docs} with ${back}.${steps}`;
}

interface Lacking {
  readonly platform: AnyPlatform;
  readonly way: ConnectWay;
  readonly missing: readonly string[];
  readonly them: string;
}

/** Only an app can be entered while Posthorn runs. */
function orEnter(ctx: AppContext, { platform, way, missing, them }: Lacking): string {
  const command = enterCommand(ctx, platform, way);
  const app = appSettings(platform, way);
  const isAppAlone = missing.every((name) => app.includes(name));
  return command === null || !isAppAlone ? "Set" : `Enter ${them} with ${command}. Or set`;
}

/** As `setupCommand`; null, too, where the environment names a part of the app: what is entered would not count. */
export function enterCommand(ctx: AppContext, platform: AnyPlatform, way: ConnectWay): string | null {
  const isNamed = isInEnvironment(ctx.settings.platformSettings, appSettings(platform, way));
  return isNamed ? null : setupCommand(platform, way);
}

/** Whole names of the settings that hold the app of this way; none where it has no app that a person registers. */
function appSettings(platform: AnyPlatform, way: ConnectWay): readonly string[] {
  if (way.kind !== "oauth" || way.register !== undefined) return [];
  return appSettingNames(way.appOf ?? platform.name, way.settingPrefix ?? "");
}

/** The command that asks for the app of this way; null where there is none. */
export function setupCommand(platform: AnyPlatform, way: ConnectWay): string | null {
  if (way.kind !== "oauth" || way.register !== undefined) return null;
  if (way.appOf !== undefined) return `posthorn setup ${way.appOf}`;
  const isFirst = way === platform.connect.find(hasOwnApp);
  return `posthorn setup ${platform.name}${isFirst ? "" : ` --way ${way.name}`}`;
}

function otherWays(set: PlatformSettings, platform: AnyPlatform, way: ConnectWay): string[] {
  return platform.connect
    .filter((other) => other !== way)
    .map((other) => {
      const missing = missingSettings(set, platform, other);
      const named = `way "${other.name}" (${other.label})`;
      return missing.length === 0
        ? `Or take ${named}, which works now.`
        : `Or take ${named}, which needs ${missing.join(" and ")}.`;
    });
}

/** How what one way needs is registered, and what is set then. */
export type WaySetup = Readonly<NonNullable<Awaited<ReturnType<typeof describeWaySetup>>>>;

export async function describeWaySetup(ctx: AppContext, platform: AnyPlatform, way: ConnectWay) {
  const guide = await describeSetup(ctx, platform, way);
  if (guide === null) return null;
  return {
    label: way.label,
    guide,
    /** To be entered there; null: Posthorn has none that the platform takes. */
    redirectUrl: await takenRedirectUrl(ctx, platform, way),
    /** To be added there, in one line. */
    scopes: scopesOf(way, readSetting(ctx, platform, wayName(way, "SCOPES"))).join(" "),
    /** Whole names of the settings that it needs, whether they are set or not. */
    settings: requiredSettings(platform, way),
    /** Asks for those of its app; null: it has none. */
    command: setupCommand(platform, way),
  };
}

export interface SetupPage {
  readonly platformTitle: string;
  readonly ways: readonly WaySetup[];
}

/**
 * How a platform is set up, for a person. It tells nothing about this installation but its address, so anybody
 * may read it. Null where there is nothing to register, or no such platform.
 */
export async function readSetupPage(ctx: AppContext, provider: string): Promise<SetupPage | null> {
  const platform = ctx.platforms.get(provider);
  if (platform === undefined) return null;
  const described = await Promise.all(platform.connect.map((way) => describeWaySetup(ctx, platform, way)));
  const ways = described.filter((one) => one !== null);
  return ways.length === 0 ? null : { platformTitle: platform.title, ways };
}

/** Not a caller's mistake: the platform was looked up, or its name read from what is stored. */
export function requirePlatform(ctx: AppContext, name: string): AnyPlatform {
  const platform = ctx.platforms.get(name);
  if (platform === undefined)
    throw new PlatformFault("rejected", `This version of Posthorn does not know the platform "${name}".`);
  return platform;
}

/** The platform of what is stored. Throws `unavailable` where this version does not have it. */
export function findPlatform(ctx: AppContext, provider: string): AnyPlatform {
  const platform = ctx.platforms.get(provider);
  if (platform === undefined) {
    throw new AppError(
      "unavailable",
      `This Posthorn does not know the platform "${provider}" any more. Install the version that does.`,
    );
  }
  return platform;
}

/** The way that an account was connected by; its platform's first for one that does not say, or is gone. */
export function wayOf(platform: AnyPlatform, account: Pick<AccountRow, "way">): ConnectWay {
  return platform.connect.find((way) => way.name === account.way) ?? platform.connect[0];
}

/** How tokens of this way are renewed; null where only a person can. */
export function renewalOf(way: ConnectWay): Renewal | null {
  return "renewal" in way ? way.renewal : null;
}

type Ends = Pick<Tokens, "secrets" | "expiresAt" | "renewableUntil">;

/** Where a platform renews, it may still have given no refresh token (LinkedIn to ordinary apps). */
function canRenew(renewal: Renewal | null, { secrets }: Ends): renewal is Renewal {
  return renewal !== null && (renewal.renew !== undefined || (secrets["refreshToken"] ?? "") !== "");
}

/** When a person must connect again, in milliseconds since 1970; null: never, or not known. */
export function accessEndsAt(way: ConnectWay, tokens: Ends): number | null {
  return canRenew(renewalOf(way), tokens) ? tokens.renewableUntil : tokens.expiresAt;
}

/** When maintenance renews tokens that were renewed at `now`; null: never. */
export function renewAt(way: ConnectWay, tokens: Ends, now: number): number | null {
  const renewal = renewalOf(way);
  if (!canRenew(renewal, tokens)) return null;
  const { beforeMs, everyMs } = renewal;
  const beforeEnd = tokens.expiresAt === null || beforeMs === 0 ? Infinity : tokens.expiresAt - beforeMs;
  const next = Math.min(beforeEnd, now + (everyMs ?? Infinity));
  return next === Infinity ? null : next;
}

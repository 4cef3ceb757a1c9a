import { settingName } from "../../domain/accounts/platform-settings.ts";
import { AppError } from "../../domain/errors.ts";
import type { ConnectWay } from "../../ports/connect.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import {
  CALLBACK_PATH,
  fillGuide,
  guideOf,
  requiredSettings,
  scopesOf,
  wayName,
  type FilledGuide,
} from "../../ports/platform-setup.ts";
import type { AppContext } from "../context.ts";

/** The platform's setting of this name; null where it is not set. */
export function readSetting(ctx: AppContext, platform: AnyPlatform, name: string): string | null {
  return ctx.settings.platformSettings[settingName(platform.name, name)] ?? null;
}

/** The address that people come back to from a platform, as it must be registered there. */
export async function redirectUrlOf(ctx: AppContext, platform: AnyPlatform): Promise<string> {
  return readSetting(ctx, platform, "REDIRECT_URL") ?? `${await homeOf(ctx)}${CALLBACK_PATH}`;
}

/**
 * The address that apps are registered with. Where another process has our port, a listener of stdio has one
 * that no app knows: the consent ends at the usual address all the same, at a process on the same data folder
 * that finishes it, or at none, and the person pastes it.
 */
async function homeOf(ctx: AppContext): Promise<string> {
  const actual = await ctx.publicUrl();
  const { publicUrl, port = 0 } = ctx.settings;
  return publicUrl === null && port !== 0 ? `http://localhost:${port}` : actual;
}

/** Whole names of the settings without which the platform cannot be connected in this way. */
export function missingSettings(ctx: AppContext, platform: AnyPlatform, way: ConnectWay): string[] {
  return requiredSettings(platform, way).filter((name) => (ctx.settings.platformSettings[name] ?? "") === "");
}

/**
 * The way that is taken when none is named: the first, or, where its app is not set up, another consent whose
 * app is (another platform's, say).
 */
export function usualWay(ctx: AppContext, platform: AnyPlatform): ConnectWay {
  const [first] = platform.connect;
  const isReady = (way: ConnectWay): boolean => missingSettings(ctx, platform, way).length === 0;
  if (first.kind !== "oauth" || isReady(first)) return first;
  return platform.connect.find((way) => way.kind === "oauth" && isReady(way)) ?? first;
}

/** How an app is registered for this way, with our own address in it; null where none is needed. */
export async function describeSetup(
  ctx: AppContext,
  platform: AnyPlatform,
  way: ConnectWay,
): Promise<FilledGuide | null> {
  const guide = guideOf(way);
  if (guide === null) return null;
  return fillGuide(guide, {
    redirectUrl: await redirectUrlOf(ctx, platform),
    scopes: scopesOf(way, readSetting(ctx, platform, wayName(way, "SCOPES"))),
  });
}

/**
 * Throws `unavailable` that names the settings without which the platform cannot be connected in this way,
 * and the address to register.
 */
export async function requireConfigured(
  ctx: AppContext,
  platform: AnyPlatform,
  way: ConnectWay,
): Promise<void> {
  const missing = missingSettings(ctx, platform, way);
  if (missing.length === 0) return;
  const [them, are] = missing.length === 1 ? ["it", "is"] : ["them", "are"];
  throw new AppError(
    "unavailable",
    `${platform.title} cannot be connected yet: ${missing.join(" and ")} ${are} not set. ` +
      `${await whereToGet(ctx, platform, way)} ` +
      `Set ${them} in the environment or in posthorn.env and start Posthorn again.`,
  );
}

async function whereToGet(ctx: AppContext, platform: AnyPlatform, way: ConnectWay): Promise<string> {
  if (way.kind !== "oauth") return `${platform.docs} says where to get what they hold.`;
  const url = way.setup === null ? platform.docs : way.setup.url;
  return (
    `A person registers an app at ${url} with the redirect address ${await redirectUrlOf(ctx, platform)}; ` +
    `list_platforms with provider "${platform.name}", and posthorn doctor ${platform.name}, tell the steps.`
  );
}

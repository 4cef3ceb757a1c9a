import type { ConnectWay } from "../../ports/connect.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import { requiredSettings, scopesOf, wayName, type FilledGuide } from "../../ports/platform-setup.ts";
import type { AppContext } from "../context.ts";
import { describeSetup, readSetting, takenRedirectUrl } from "./set-up.ts";

/** How what one way needs is registered, and what is set then. */
export interface WaySetup {
  readonly label: string;
  readonly guide: FilledGuide;
  /** To be entered there; null: Posthorn has none that the platform takes. */
  readonly redirectUrl: string | null;
  /** To be added there, in one line. */
  readonly scopes: string;
  /** Whole names of the settings that it needs, whether they are set or not. */
  readonly settings: readonly string[];
}

export async function describeWaySetup(
  ctx: AppContext,
  platform: AnyPlatform,
  way: ConnectWay,
): Promise<WaySetup | null> {
  const guide = await describeSetup(ctx, platform, way);
  if (guide === null) return null;
  return {
    label: way.label,
    guide,
    redirectUrl: await takenRedirectUrl(ctx, platform, way),
    scopes: scopesOf(way, readSetting(ctx, platform, wayName(way, "SCOPES"))).join(" "),
    settings: requiredSettings(platform, way),
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

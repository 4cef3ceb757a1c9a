import { z } from "zod";
import { showCapabilities } from "../../domain/accounts/capabilities.ts";
import type { PlatformListing } from "../../domain/accounts/platform-listing.ts";
import { AppError } from "../../domain/errors.ts";
import { quote } from "../../domain/time.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import type { AppContext, CallContext } from "../context.ts";

/** Every platform of this installation, by name. */
export async function listPlatforms({ ctx }: CallContext): Promise<{ platforms: PlatformListing[] }> {
  const platforms = [...ctx.platforms.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { platforms: platforms.map((platform) => describePlatform(ctx, platform)) };
}

function describePlatform(ctx: AppContext, platform: AnyPlatform): PlatformListing {
  const missing = missingSettings(ctx, platform);
  return {
    provider: platform.name,
    title: platform.title,
    configured: missing.length === 0,
    missing,
    connect: platform.connect[0].kind,
    docs: platform.docs,
    capabilities: showCapabilities(platform.capabilities),
    metadataSchema: z.toJSONSchema(platform.metadata, {
      target: "draft-2020-12",
      io: "input",
      reused: "inline",
      unrepresentable: "any",
    }),
  };
}

/** The platform of this name; throws `invalid` that lists the known ones. */
export function findPlatform(ctx: AppContext, name: string): AnyPlatform {
  const platform = ctx.platforms.get(name);
  if (platform !== undefined) return platform;
  const known = [...ctx.platforms.keys()].sort().join(", ");
  throw new AppError(
    "invalid",
    `provider: ${quote(name)} is not a known platform. The platforms are ${known}.`,
  );
}

/** Throws `unavailable` that names the settings without which the platform cannot be connected. */
export function requireConfigured(ctx: AppContext, platform: AnyPlatform): void {
  const missing = missingSettings(ctx, platform);
  if (missing.length === 0) return;
  throw new AppError(
    "unavailable",
    `${platform.title} cannot be connected yet: ${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} not set. ` +
      `Set ${missing.length === 1 ? "it" : "them"} in the environment or in posthorn.env and start Posthorn again; ${platform.docs} says where to get ${missing.length === 1 ? "it" : "them"}.`,
  );
}

function missingSettings(ctx: AppContext, platform: AnyPlatform): string[] {
  return platform.requiredSettings.filter((name) => (ctx.settings.platformSettings[name] ?? "") === "");
}

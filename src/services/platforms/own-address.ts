import { settingName } from "../../domain/accounts/platform-settings.ts";
import { parseUrl } from "../../domain/parse-url.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import { settingsOf } from "../../ports/platform-setup.ts";
import type { AppContext } from "../context.ts";

/**
 * Whether the address has the origin of one of the platform's own settings (BASE_URL, TOKEN_URL, …), or of
 * those of a platform whose app it uses. The settings of another platform are none: a user names servers of
 * this one, and whatever the administrator runs for the other must be no way inside.
 */
export function isOwnAddress(ctx: AppContext, platform: AnyPlatform, address: string): boolean {
  const origin = parseUrl(address)?.origin;
  return origin !== undefined && originsOf(ctx, platform).has(origin);
}

function originsOf(ctx: AppContext, platform: AnyPlatform): Set<string> {
  const apps = platform.connect.flatMap((way) =>
    "appOf" in way ? (ctx.platforms.get(way.appOf ?? "") ?? []) : [],
  );
  return new Set(
    [platform, ...apps].flatMap((one) =>
      settingsOf(one)
        // What people come back to is no server of a platform.
        .filter(({ kind, name }) => kind === "address" && name !== "REDIRECT_URL")
        .flatMap(({ name }) => {
          const value = ctx.settings.platformSettings[settingName(one.name, name)];
          return value === undefined ? [] : (parseUrl(value)?.origin ?? []);
        }),
    ),
  );
}

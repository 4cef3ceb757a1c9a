import * as z from "zod";
import { parseUrl } from "../../domain/parse-url.ts";
import { settingName } from "../../domain/accounts/platform-settings.ts";
import type { AppContext } from "../../context.ts";
import { listPlatformApps, type PlatformAppRow } from "../../store/queries/platform-apps.ts";
import type { AnyPlatform } from "../../ports/platform.ts";
import { RESULTS, settingsOf } from "../../ports/platform-setup.ts";
import { platformAppAad } from "./secrets.ts";

/** Settings of platforms by their whole names. */
export type PlatformSettings = Readonly<Record<string, string>>;

const StoredApp = z.strictObject({ clientId: z.string(), clientSecret: z.string().nullable() });

/** The apps of one platform, by what stands before their settings' names: nothing, or PAGE_ of a second one. */
const StoredApps = z.record(z.string(), StoredApp);
type StoredApps = z.infer<typeof StoredApps>;

/**
 * Settings of platforms as they hold at this moment: the environment's, and the apps that were entered since.
 * Read anew for each use, so that what was entered holds at once in every process.
 */
export async function effectiveSettings(ctx: AppContext): Promise<PlatformSettings> {
  const set = ctx.settings.platformSettings;
  const rows = await listPlatformApps(ctx.store);
  const entered = rows.flatMap((row) =>
    Object.entries(openApps(ctx, row)).flatMap(([prefix, { clientId, clientSecret }]) => {
      const names = appSettingNames(row.provider, prefix);
      // An id of the one and a secret of the other would fit nowhere.
      if (isInEnvironment(set, names)) return [];
      const [idName, secretName] = names;
      return [
        [idName, clientId] as const,
        ...(clientSecret === null ? [] : [[secretName, clientSecret] as const]),
      ];
    }),
  );
  return entered.length === 0 ? set : { ...set, ...Object.fromEntries(entered) };
}

/** Whole names of the settings of an app: its id's and its secret's. */
export function appSettingNames(provider: string, prefix: string): readonly [string, string] {
  return [settingName(provider, `${prefix}CLIENT_ID`), settingName(provider, `${prefix}CLIENT_SECRET`)];
}

/** Whether the environment names the app: then it stands before one that was entered. */
export function isInEnvironment(set: PlatformSettings, names: readonly string[]): boolean {
  return names.some((name) => (set[name] ?? "") !== "");
}

/** None where they were sealed with another key. */
export function openApps(ctx: AppContext, row: PlatformAppRow): StoredApps {
  try {
    return StoredApps.parse(JSON.parse(ctx.cipher.open(row.apps_enc, platformAppAad(row))));
  } catch {
    return {};
  }
}

export function sealApps(ctx: AppContext, provider: string, apps: StoredApps): string {
  return ctx.cipher.seal(JSON.stringify(apps), platformAppAad({ provider }));
}

/** Whether figures of live posts are collected from a platform: those whose readings cost money only where a person wants it. */
export function collectsResults(set: PlatformSettings, platform: AnyPlatform): boolean {
  const { post, account } = platform.capabilities.analytics;
  const offers = post.length > 0 || account.includes(FOLLOWERS);
  return (
    offers && (platform.results?.price === undefined || set[settingName(platform.name, RESULTS)] === "on")
  );
}

/** Of a channel, the one figure that is collected. */
export const FOLLOWERS = "followers";

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

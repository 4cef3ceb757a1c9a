import { settingName, type PlatformSetting } from "../domain/accounts/platform-settings.ts";
import type { ConnectWay, OAuthWay, SetupGuide } from "./connect.ts";
import type { AnyPlatform } from "./platform.ts";

/** Where every platform sends people back to, below our own address. */
export const CALLBACK_PATH = "/connect/callback";

type Ways = Pick<AnyPlatform, "name" | "connect" | "settings" | "baseUrl" | "results">;

/** A setting that is an address. `standard`: what stands there where it is not set. */
export function addressSetting(name: string, meaning: string, standard: string | null): PlatformSetting {
  return { name, meaning, kind: "address", default: standard, isRequired: false };
}

/** A platform's own settings, and those that come by themselves; its own go before others of the same name. */
export function settingsOf(platform: Ways): readonly PlatformSetting[] {
  const comesBack = platform.connect.some(({ kind }) => kind === "oauth" || kind === "redirect");
  const all = [
    ...(platform.settings ?? []),
    ...baseSettings(platform),
    ...oauthSettings(platform),
    ...(comesBack ? [REDIRECT_URL] : []),
    ...resultsSettings(platform),
  ];
  const first = new Map(all.toReversed().map((setting) => [setting.name, setting]));
  return all.filter((setting) => first.get(setting.name) === setting);
}

const REDIRECT_URL = addressSetting(
  "REDIRECT_URL",
  "The registered redirect address, where it is not Posthorn's own",
  `<POSTHORN_PUBLIC_URL>${CALLBACK_PATH}`,
);

/** Whose readings cost money: a person turns them on. */
export const RESULTS = "RESULTS";

function resultsSettings({ results }: Ways): PlatformSetting[] {
  if (results?.price === undefined) return [];
  const meaning = `On or off: figures of live posts are collected. ${results.price.replace(/\.$/, "")}`;
  return [{ name: RESULTS, meaning, kind: "text", values: ["on", "off"], default: "off", isRequired: false }];
}

/** Where the API is, or which server is meant where each channel may have another. */
function baseSettings({ baseUrl, connect }: Ways): PlatformSetting[] {
  if (baseUrl !== undefined) return [addressSetting("BASE_URL", "Where the API is asked", baseUrl)];
  const hasServers = connect.some((way) => "instance" in way && way.instance === "required");
  return hasServers ? [addressSetting("BASE_URL", "The server used where none is named", null)] : [];
}

function oauthSettings({ connect }: Ways): PlatformSetting[] {
  const ways = connect.filter((way) => way.kind === "oauth");
  return [
    ...ways.filter(hasOwnApp).flatMap((way) => appSettings(connect[0] === way, way)),
    ...ways.flatMap(endpointSettings),
    ...ways.map(scopesSetting),
  ];
}

function scopesSetting(way: OAuthWay): PlatformSetting {
  const name = wayName(way, "SCOPES");
  const where = name === "SCOPES" ? "" : ` by "${way.label}"`;
  return {
    name,
    meaning: `Scopes that people are asked to allow${where}, separated by spaces, instead of the usual ones`,
    kind: "text",
    default: way.scopes.join(" "),
    isRequired: false,
  };
}

/** What this way calls a setting of its app: CLIENT_ID, or PAGE_CLIENT_ID of a second one. */
export function wayName(way: ConnectWay, name: "CLIENT_ID" | "CLIENT_SECRET" | "SCOPES"): string {
  if (way.kind !== "oauth") return name;
  const { settingPrefix = "", scopesPrefix = settingPrefix } = way;
  return `${name === "SCOPES" ? scopesPrefix : settingPrefix}${name}`;
}

/** Of a platform that has one place for all; where each server has its own, they are asked of it. */
function endpointSettings({ endpoints, appOf }: OAuthWay): PlatformSetting[] {
  if (typeof endpoints === "function" || appOf !== undefined) return [];
  const { authorize, token, revoke } = endpoints;
  return [
    addressSetting("AUTH_URL", "Where people are asked for their consent", authorize),
    addressSetting("TOKEN_URL", "Where tokens are got and renewed", token),
    ...(revoke === undefined ? [] : [addressSetting("REVOKE_URL", "Where tokens are given back", revoke)]),
  ];
}

/** Whether a person registers an app at this platform for it. */
export function hasOwnApp(way: ConnectWay): way is OAuthWay {
  return way.kind === "oauth" && way.register === undefined && way.appOf === undefined;
}

function appSettings(isRequired: boolean, way: OAuthWay): PlatformSetting[] {
  const meaning = `Id of the app that you registered${way.settingPrefix === undefined ? "" : ` for "${way.label}"`}`;
  const id = { name: wayName(way, "CLIENT_ID"), meaning, kind: "text" } as const;
  const secret = { name: wayName(way, "CLIENT_SECRET"), meaning: "Its secret", kind: "secret" } as const;
  const isSecretRequired = isRequired && way.clientAuth !== "none";
  return [
    { ...id, default: null, isRequired },
    { ...secret, default: null, isRequired: isSecretRequired },
  ];
}

/** Whole names of the settings that this way needs: the platform's, and those of its app. */
export function requiredSettings(platform: Ways, way: ConnectWay): string[] {
  const always = (platform.settings ?? []).filter(({ name, isRequired }) => isRequired && !isAppName(name));
  const whole = always.map(({ name }) => settingName(platform.name, name));
  if (way.kind !== "oauth" || way.register !== undefined) return whole;
  const spared = (platform.settings ?? []).filter(({ isRequired }) => !isRequired).map(({ name }) => name);
  const app = way.clientAuth === "none" ? APP.slice(0, 1) : APP;
  const needed = way.appOf === undefined ? app.filter((name) => !spared.includes(wayName(way, name))) : app;
  return [...needed.map((name) => settingName(way.appOf ?? platform.name, wayName(way, name))), ...whole];
}

const APP = ["CLIENT_ID", "CLIENT_SECRET"] as const;

function isAppName(name: string): boolean {
  return APP.some((one) => one === name);
}

/** What a guide's {redirectUrl} and {scopes} stand for. */
interface SetupPlace {
  /** Null where Posthorn has none that the platform takes. */
  readonly redirectUrl: string | null;
  readonly scopes: readonly string[];
}

/** A guide as a person reads it. */
export interface FilledGuide extends SetupGuide {
  readonly needs: string[];
  readonly steps: string[];
  readonly warnings: string[];
}

export function fillGuide(guide: SetupGuide, { redirectUrl, scopes }: SetupPlace): FilledGuide {
  const fill = (text: string): string =>
    text
      .replaceAll("{redirectUrl}", redirectUrl ?? "your https address")
      .replaceAll("{scopes}", scopes.join(" "));
  const { needs = [], steps, warnings } = guide;
  return { url: guide.url, needs: needs.map(fill), steps: steps.map(fill), warnings: warnings.map(fill) };
}

/** How a consent is taken without an address that the platform would send people back to. */
export function pasteWay({ name, title, connect }: Pick<AnyPlatform, "name" | "title" | "connect">): string {
  const takesHome = connect.some((way) => "redirect" in way && way.redirect === "https-or-home");
  return (
    `${title} sends people back only to https addresses${takesHome ? ", or to http://localhost with a port" : ""}. Either set POSTHORN_PUBLIC_URL to an https address that leads to Posthorn. ` +
    `Or register any https address of yours, for example https://example.com/back, and set ${settingName(name, "REDIRECT_URL")} to it. ` +
    "The browser then ends at that address. The person copies all of it into the page where they began."
  );
}

/** Where media must lie that the platform fetches by itself; null where it is sent them. */
export function mediaNeed({
  title,
  capabilities,
}: Pick<AnyPlatform, "title" | "capabilities">): string | null {
  const { fetchesMedia, fetchesFrom = "public" } = capabilities;
  if (fetchesFrom === "near" || fetchesMedia.length === 0) return null;
  const kinds = fetchesMedia.map((kind) => FETCHED[kind]).join(", ");
  return (
    `${title} fetches media (${kinds}) by itself. Set POSTHORN_PUBLIC_URL to an https address that is open to the internet` +
    (fetchesFrom === "ours"
      ? "."
      : ", or keep the files in a bucket (the settings POSTHORN_S3_…, for R2, S3 and the like). From a bucket only those go out that need no change.")
  );
}

const FETCHED = { image: "pictures", video: "videos", audio: "sound", document: "documents" } as const;

/** Where this way's scopes come from: the setting, or the platform. */
export function scopesOf(way: ConnectWay, setting: string | null): readonly string[] {
  if (way.kind !== "oauth") return [];
  return setting === null ? way.scopes : setting.split(/[\s,]+/).filter((scope) => scope !== "");
}

/** How what this way needs is registered; null where nothing is. */
export function guideOf(way: ConnectWay): SetupGuide | null {
  return way.kind === "oauth" ? way.setup : null;
}

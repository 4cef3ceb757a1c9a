import { httpAddress } from "../settings/http-address.ts";
import { didYouMean, nearestName } from "../settings/nearest-name.ts";

/** One setting of a platform, `POSTHORN_<PLATFORM>_<NAME>` in the environment or in posthorn.env. */
export interface PlatformSetting {
  /** Without the prefix: CLIENT_ID, BASE_URL. */
  readonly name: string;
  readonly meaning: string;
  /** `address`: http(s), kept without a slash at its end. */
  readonly kind: "text" | "secret" | "address";
  /** The only ones it may have; default: any. */
  readonly values?: readonly string[];
  /** What holds where it is not set; null: nothing. */
  readonly default: string | null;
  /** Without it the platform cannot be connected, in the way that is taken when none is named. */
  readonly isRequired: boolean;
}

/** A platform as far as reading settings needs to know it. */
export interface ConfigurablePlatform {
  readonly name: string;
  readonly settings: readonly PlatformSetting[];
}

/** The whole name of a platform's setting. */
export function settingName(platform: string, name: string): string {
  return `POSTHORN_${platform.toUpperCase()}_${name}`;
}

const Address = httpAddress("https://api.example.com", { mayHaveQuery: true });

/** Settings of platforms among those given. `problems` names the wrong ones, never their values. */
export function readPlatformSettings(
  given: Readonly<Record<string, string>>,
  platforms: readonly ConfigurablePlatform[],
): {
  readonly values: Readonly<Record<string, string>>;
  readonly problems: readonly string[];
  readonly rest: readonly string[];
} {
  const values: Record<string, string> = {};
  const problems: string[] = [];
  const rest: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    const platform = platformOf(name, platforms);
    const setting = platform?.settings.find((one) => settingName(platform.name, one.name) === name);
    if (platform === undefined) rest.push(name);
    else if (setting === undefined) problems.push(`${name}: no such setting. ${knownOf(platform, name)}`);
    else if (setting.values?.includes(value) === false)
      problems.push(`${name}: must be ${setting.values.join(" or ")}`);
    else if (setting.kind !== "address") values[name] = value;
    else {
      const { data, error } = Address.safeParse(value);
      if (data !== undefined) values[name] = data;
      else problems.push(`${name}: ${error.issues[0]?.message ?? "must be an address"}`);
    }
  }
  return { values, problems, rest };
}

/** Names may begin alike (google, google_business): the longest one is meant. */
function platformOf(
  name: string,
  platforms: readonly ConfigurablePlatform[],
): ConfigurablePlatform | undefined {
  return platforms
    .filter((platform) => name.startsWith(settingName(platform.name, "")))
    .toSorted((a, b) => b.name.length - a.name.length)[0];
}

function knownOf({ name, settings }: ConfigurablePlatform, given: string): string {
  if (settings.length === 0) return `The platform ${name} has none.`;
  const known = settings.map((setting) => settingName(name, setting.name));
  const near = nearestName(given, known);
  return near === null ? `The settings of the platform ${name} are ${known.join(", ")}.` : didYouMean(near);
}

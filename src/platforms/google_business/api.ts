import * as z from "zod";
import type { PlatformSetting } from "../../domain/accounts/platform-settings.ts";
import type { ConnectIo } from "../../ports/connect.ts";
import { PlatformFault, type PlatformIo, type PlatformRequest } from "../../ports/platform-io.ts";
import { bearer, type FaultRule } from "../shared/faults.ts";
import { businessFaults } from "./faults.ts";

/** Google has cut the API into many, each with a host of its own; posts are left in the old one. */
const HOSTS = {
  BASE_URL: ["Where posts are", "https://mybusiness.googleapis.com"],
  ACCOUNTS_URL: ["Where accounts are listed", "https://mybusinessaccountmanagement.googleapis.com"],
  LOCATIONS_URL: ["Where locations are listed", "https://mybusinessbusinessinformation.googleapis.com"],
  ANALYTICS_URL: ["Where numbers are asked for", "https://businessprofileperformance.googleapis.com"],
} as const;
type Host = keyof typeof HOSTS;

export const SETTINGS = Object.entries(HOSTS).map(([name, [meaning, usual]]): PlatformSetting => {
  return { name, meaning, kind: "address", default: usual, isRequired: false };
});

export interface Call extends Pick<PlatformRequest, "query" | "json" | "isIdempotent"> {
  /** Default: that of posts. */
  readonly host?: Host;
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  /** With the version. */
  readonly path: string;
  readonly rules?: readonly FaultRule[];
}

/** A call without who makes it. */
function requestOf(
  io: Pick<PlatformIo, "setting" | "now">,
  { host = "BASE_URL", path, rules, method = "GET", ...call }: Call,
): PlatformRequest {
  const url = `${io.setting(host) ?? HOSTS[host][1]}/${path}`;
  return { ...call, method, url, classify: businessFaults(io, rules) };
}

/** A call as the channel. */
export function askAs<T>(io: PlatformIo, call: Call, schema: z.ZodType<T>): Promise<T> {
  return io.ask({ ...requestOf(io, call), sign: bearer() }, schema);
}

/** A call with a token that no channel has yet. */
export function askWith<T>(io: ConnectIo, token: string, call: Call, schema: z.ZodType<T>): Promise<T> {
  return io.ask({ ...requestOf(io, call), ...bearer()({ accessToken: token }) }, schema);
}

/** Names are paths: `accounts/1`, `locations/2`. */
export function nameOf(...parts: readonly string[]): z.ZodString {
  return z.string().regex(new RegExp(`^${parts.map((part) => `${part}/[\\w=-][\\w.=-]*`).join("/")}$`));
}

const Place = z.looseObject({ account: nameOf("accounts"), location: nameOf("locations") });

/** Where the channel is: posts know a location by its account alone, all else by itself. */
export function placeOf({ account }: PlatformIo): z.infer<typeof Place> {
  const place = Place.safeParse(account.settings).data;
  if (place !== undefined) return place;
  throw new PlatformFault("auth", "The channel's location is not known. Reconnect the channel.");
}

import * as z from "zod";
import type { PlatformSetting } from "../../domain/accounts/platform-settings.ts";
import type { ConnectIo } from "../../ports/connect.ts";
import { PlatformFault, type PlatformIo, type PlatformRequest } from "../../ports/platform-io.ts";
import { bearer, byCode, byStatus, type FaultRule, refusedField } from "../shared/faults.ts";
import { googleFaults, NO_QUOTA, ofField } from "../shared/google.ts";

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

const Location = z.looseObject({ account: nameOf("accounts"), location: nameOf("locations") });

/** Where the channel is: posts know a location by its account alone, all else by itself. */
export function placeOf({ account }: PlatformIo): z.infer<typeof Location> {
  const place = Location.safeParse(account.settings).data;
  if (place !== undefined) return place;
  throw new PlatformFault("auth", "The channel's location is not known. Reconnect the channel.");
}

const CHANGE_IT = "Change it, then send the post again.";

/** What Google calls the fields of a post, and what we do. */
const FIELDS: Readonly<Record<string, string>> = {
  summary: "caption",
  event: "metadata.title, startsAt or endsAt",
  offer: "metadata.couponCode, redeemOnlineUrl or termsConditions",
  callToAction: "metadata.actionType or link",
  languageCode: "metadata.language",
  media: "mediaUrl",
  scheduledTime: "scheduledAt",
};

/** https://developers.google.com/my-business/reference/rest/Shared.Types/ErrorCode; numbers as they are sent. */
const RULES: readonly FaultRule[] = [
  ...byCode("setup", {
    [NO_QUOTA]:
      "Google has not approved the Google Cloud project for the Business Profile APIs, so its quota is 0. Apply for it at https://support.google.com/business/contact/api_default.",
  }),
  ...refusedField("mediaUrl", {
    "PHOTO_FETCH_FAILED PHOTO_UPLOAD_FAILED 1000 1001":
      "Google could not fetch or use the picture. It takes JPEG and PNG of 10 KB to 5 MB. Check that POSTHORN_PUBLIC_URL can be reached from the internet.",
  }),
  ...byCode("rejected", {
    LOCATION_DISABLED_FOR_LOCAL_POST_API:
      "Google takes this location for one of a chain, and lets no program post to it. Post in the Business Profile itself.",
    "OPERATION_UNSUPPORTED_UNDER_ACCOUNT_CONDITION 1301":
      "Google does not let this location post. Look at its state in the Business Profile.",
  }),
  ...Object.entries(FIELDS).map(([theirs, field]): FaultRule => {
    return { code: ofField(theirs), kind: "rejected", field, message: `Google refused it. ${CHANGE_IT}` };
  }),
];

const FALLBACKS: readonly FaultRule[] = byStatus("auth", {
  403: "The Google account may not manage this location (any more).",
  404: "Google does not find this location (any more).",
});

/** How answers of the Business Profile APIs are read. */
function businessFaults(
  io: Pick<PlatformIo, "now">,
  rules: readonly FaultRule[] = [],
): NonNullable<PlatformRequest["classify"]> {
  const all = { rules: [...rules, ...RULES], fallbacks: FALLBACKS };
  return googleFaults({ title: "Google Business Profile", api: "Business Profile APIs", ...all }, io);
}

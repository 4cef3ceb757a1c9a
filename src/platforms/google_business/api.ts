import * as z from "zod";
import type { PlatformSetting } from "../../domain/accounts/platform-settings.ts";
import type { ConnectIo, Secrets } from "../../ports/connect.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { byCode, byStatus, type FaultRule, refusedField } from "../shared/faults.ts";
import { googleFaults, NO_QUOTA, ofField } from "../shared/google.ts";
import { type ApiCall, restApi } from "../shared/rest-api.ts";

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

interface Call extends ApiCall {
  /** Default: that of posts. */
  readonly host?: Host;
}

const byHost = (host: Host) =>
  restApi({
    base: (io) => io.setting(host) ?? HOSTS[host][1],
    below: "/",
    faults: (io) => {
      const all = { rules: RULES, fallbacks: FALLBACKS };
      return googleFaults({ title: "Google Business Profile", api: "Business Profile APIs", ...all }, io);
    },
  });

/** A call as the channel. `path`: with the version. */
export function askAs<T>(
  io: PlatformIo,
  { host = "BASE_URL", ...call }: Call,
  schema: z.ZodType<T>,
): Promise<T> {
  return byHost(host).ask(io, call, schema);
}

/** The same about a post; null where it is not there (any more). */
export function askOrGone<T>(io: PlatformIo, call: ApiCall, schema: z.ZodType<T>): Promise<T | null> {
  const rules = byStatus("rejected", { 404: "The post is no longer on Google." });
  return byHost("BASE_URL").askOrGone(io, { ...call, rules }, schema);
}

/** A call while connecting. */
export function askWith<T>(
  io: ConnectIo,
  { host, secrets, ...call }: Call & { readonly host: Host; readonly secrets: Secrets },
  schema: z.ZodType<T>,
): Promise<T> {
  const server = io.setting(host) ?? HOSTS[host][1];
  return byHost(host).askWith(io, { server, secrets }, call, schema);
}

/** Names are paths: `accounts/1`, `locations/2`. */
const namePattern = (...parts: readonly string[]): RegExp =>
  new RegExp(`^${parts.map((part) => `${part}/[\\w=-][\\w.=-]*`).join("/")}$`);

export const POST_NAME = namePattern("accounts", "locations", "localPosts");

export const nameOf = (part: "accounts" | "locations"): z.ZodString => z.string().regex(namePattern(part));

const Location = z.looseObject({ account: nameOf("accounts"), location: nameOf("locations") });

/** Where the channel is: only posts know a location by its account, all else by itself. */
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

import * as z from "zod";
import { DAY } from "../../domain/time.ts";
import type { OAuthWay, RenewalIo, Secrets } from "../../ports/connect.ts";
import type { PlatformIo, PlatformResponse } from "../../ports/platform-io.ts";
import { byCode, type Code, type FaultRule, type FaultTable, untilMidnight } from "./faults.ts";

const ENDPOINTS = {
  authorize: "https://accounts.google.com/o/oauth2/v2/auth",
  token: "https://oauth2.googleapis.com/token",
  revoke: "https://oauth2.googleapis.com/revoke",
} as const;

/**
 * How Google asks for a consent:
 * https://developers.google.com/identity/protocols/oauth2/web-server
 */
export const GOOGLE_CONSENT = {
  endpoints: ENDPOINTS,
  scopeSeparator: " ",
  pkce: "S256",
  clientAuth: "body",
  // Without both, the refresh token comes only with the first consent, or never.
  authorizeParams: { access_type: "offline", prompt: "consent" },
  redirect: "any",
  instance: "no",
  // A refresh token that is not used for six months ends.
  renewal: { beforeMs: 0, everyMs: 30 * DAY, isSingleUse: false },
  revoke,
} as const satisfies Partial<OAuthWay>;

/** The refresh token takes the access tokens with it. */
async function revoke(secrets: Secrets, io: RenewalIo): Promise<void> {
  const token = secrets["refreshToken"] || secrets["accessToken"];
  if (token === undefined || token === "") return;
  const url = io.setting("REVOKE_URL") ?? ENDPOINTS.revoke;
  await io.request({ method: "POST", url, form: { token }, isIdempotent: true });
}

const Reason = z.looseObject({ reason: z.string().optional() });

/** What the older Business Profile APIs say: their own error, and the field that it is about. */
const ErrorDetail = z.looseObject({
  code: z.union([z.string(), z.number()]).optional().catch(undefined),
  field: z.string().optional().catch(undefined),
});

const Detail = z.looseObject({
  reason: z.string().optional().catch(undefined),
  metadata: z.looseObject({ quota_limit_value: z.unknown().optional() }).optional().catch(undefined),
  errorDetails: z.array(ErrorDetail).catch([]),
});

const ErrorBody = z.looseObject({
  error: z.looseObject({
    status: z.string().optional().catch(undefined),
    message: z.string().catch(""),
    errors: z.array(Reason).catch([]),
    details: z.array(Detail).catch([]),
  }),
});

/** A project that Google has not approved for an API has it with a quota of nothing. */
export const NO_QUOTA = "quota-of-0";

/**
 * A limit of a day comes as rateLimitExceeded, which else means to slow down; only the words name it:
 * https://github.com/googleapis/google-api-python-client/issues/2753
 */
const DAY_USED_UP = "quota-of-a-day";

/** The field that an error is about, as a code: its first name, in camel case. */
export function ofField(field: string): string {
  const [first = ""] = field.split(/[.[]/);
  return `field ${first.replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase())}`;
}

/** What an error of Google's APIs says of itself, the most particular first; empty for what is none. */
function reasonsOf({ json }: PlatformResponse): Code[] {
  const body = ErrorBody.safeParse(json);
  if (!body.success) return [];
  const { errors, details, status, message } = body.data.error;
  const ofDay = /^Quota exceeded\b.*\bper day\b/i.test(message) ? [DAY_USED_UP] : [];
  const particular = details.flatMap(({ metadata, errorDetails }) => [
    ...(String(metadata?.quota_limit_value) === "0" ? [NO_QUOTA] : []),
    ...errorDetails.map(({ code }) => code),
    ...errorDetails.map(({ field }) => (field === undefined ? field : ofField(field))),
  ]);
  const reasons = [...errors, ...details].map(({ reason }) => reason);
  return [...ofDay, ...particular, ...reasons, status].flatMap((reason) =>
    reason === undefined || reason === "" ? [] : [reason],
  );
}

interface GoogleApi {
  /** Of the platform, for sentences. */
  readonly title: string;
  /** What the API is called in the Google Cloud console. */
  readonly api: string;
  /** The platform's own, which go before those of all. */
  readonly rules: readonly FaultRule[];
  /** Those that hold where none of all does. */
  readonly fallbacks?: readonly FaultRule[];
}

/** What errors of one of Google's APIs mean, by their `reason`. */
export function googleFaults(
  { title, api, rules, fallbacks = [] }: GoogleApi,
  io: Pick<PlatformIo, "now">,
): FaultTable {
  const all = [...rules, ...commonRules(title, api, io.now()), ...fallbacks];
  return { title, codesOf: reasonsOf, rules: all };
}

function commonRules(title: string, api: string, now: number): FaultRule[] {
  return [
    {
      code: [DAY_USED_UP, "quotaExceeded", "dailyLimitExceeded", "dailyLimitExceededUnreg"],
      kind: "rate",
      scope: "app",
      message: `The day's quota of the Google Cloud project is used up. It starts again at midnight Pacific time. You can ask for a larger one in Google's Cloud console, under "Quotas".`,
      retryAfterMs: untilPacificMidnight(now),
    },
    ...byCode("rate", {
      "rateLimitExceeded userRateLimitExceeded RATE_LIMIT_EXCEEDED": `${title} asks to slow down.`,
    }),
    ...byCode("setup", {
      "accessNotConfigured SERVICE_DISABLED": `The Google Cloud project may not use the ${api}. Enable it in Google's Cloud console, under "APIs & Services".`,
    }),
    ...byCode("auth", {
      "insufficientPermissions ACCESS_TOKEN_SCOPE_INSUFFICIENT": `${title} lacks a permission that was not ticked when the channel was connected.`,
      "authError unauthorized UNAUTHENTICATED": `${title} does not accept the channel's credentials any more.`,
    }),
  ];
}

/** Quotas of Google's projects begin anew then. In milliseconds. */
export function untilPacificMidnight(now: number): number {
  return untilMidnight("America/Los_Angeles", now);
}

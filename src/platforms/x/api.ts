import { createHmac, randomBytes } from "node:crypto";
import * as z from "zod";
import { MINUTE, SECOND } from "../../domain/time.ts";
import type { Secrets } from "../../ports/connect.ts";
import type { PlatformRequest, PlatformResponse } from "../../ports/platform-io.ts";
import { bearer, byCode, byStatus, type Code, type FaultTable, refusedField } from "../shared/faults.ts";
import { restApi } from "../shared/rest-api.ts";

export const API = "https://api.x.com";

/** X's ids are longer than numbers are exact. */
export const Id = z.string().regex(/^\d{1,19}$/);

/** Signs with the token of a consent, or, where the channel was connected with four keys, with these. */
export const { ask, askOrGone, askWith, send, sendOrGone } = restApi({
  base: API,
  sign: (secrets, io, { method = "GET", url, query = {} }) =>
    secrets["apiKey"] === undefined
      ? bearer()(secrets)
      : { headers: { authorization: keysHeader({ method, url, query }, secrets, io.now()) } },
  // An answer of 200 says it too.
  gone: [{ status: 404 }, { code: "resource-not-found" }],
  faults: () => FAULTS,
});

/** The person whose channel it is. */
const User = z.looseObject({
  id: Id,
  username: z.string().min(1),
  name: z.string().catch(""),
  profile_image_url: z
    .url({ protocol: /^https$/ })
    .nullable()
    .catch(null),
  subscription_type: z.string().nullable().catch(null),
  public_metrics: z
    .looseObject({ followers_count: z.int().min(0).optional(), following_count: z.int().min(0).optional() })
    .catch({}),
});
export type User = z.infer<typeof User>;

export const UserAnswer = z.looseObject({ data: User });

/** Asked for the account itself. */
export const ME = {
  path: "/2/users/me",
  query: { "user.fields": "name,profile_image_url,public_metrics,subscription_type,username" },
};

/** What of a request OAuth 1.0a signs; bodies that are JSON or in parts are none of it. */
type Signable = Pick<PlatformRequest, "method" | "url" | "query">;

/** The header of a request that the four keys sign (RFC 5849, 3.5.1). */
export function keysHeader(request: Signable, secrets: Secrets, now: number): string {
  const oauth = {
    oauth_consumer_key: secrets["apiKey"] ?? "",
    oauth_nonce: randomBytes(16).toString("hex"),
    oauth_signature_method: "HMAC-SHA1",
    oauth_timestamp: String(Math.floor(now / SECOND)),
    oauth_token: secrets["accessToken"] ?? "",
    oauth_version: "1.0",
  };
  const signed = { ...oauth, oauth_signature: signatureOf(request, oauth, secrets) };
  const fields = Object.entries(signed).map(([name, value]) => `${name}="${encode(value)}"`);
  return `OAuth ${fields.join(", ")}`;
}

/** RFC 5849, 3.4: over the method, the address and all parameters, those of the address among them. */
export function signatureOf(
  { method, url, query = {} }: Signable,
  oauth: Readonly<Record<string, string>>,
  secrets: Secrets,
): string {
  const { origin, pathname, searchParams } = new URL(url);
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  const parameters = [...searchParams, ...given.map(([name, value]) => [name, String(value)] as const)]
    .concat(Object.entries(oauth))
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted();
  const base = [method, `${origin}${pathname}`, parameters.join("&")].map(encode).join("&");
  const key = [secrets["apiSecret"], secrets["accessSecret"]].map((part) => encode(part ?? "")).join("&");
  return createHmac("sha1", key).update(base).digest("base64");
}

/** RFC 3986's percent encoding: of what JavaScript leaves as it is, five more characters. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

const Problem = z.looseObject({
  type: z.string().catch(""),
  title: z.string().catch(""),
  detail: z.string().catch(""),
  reason: z.string().catch(""),
  code: z.number().nullable().catch(null),
  message: z.string().catch(""),
});
/** What X answers with an error: a problem, or a list of them, beside which there may be data. */
const Body = z.looseObject({ data: z.unknown().optional(), errors: z.array(Problem).catch([]) });

/** What X tells only in words. Its sentences are of its own API, not what a person wrote. */
const WORDS: readonly (readonly [code: string, words: RegExp])[] = [
  ["duplicate", /duplicate content|duplicate status|already said that/i],
  ["too-long", /text is too long|longer than [\d,]+ characters/i],
  ["video-too-long", /video longer than/i],
  ["media-ids", /media ids? (are|is) invalid|invalid media/i],
  ["credits", /does not have any credits|credits?depleted/i],
  ["spend-cap", /spend ?cap|spending limit/i],
  ["daily-limit", /daily limit|daily status update limit/i],
  ["suspended", /suspended/i],
  ["locked", /temporarily locked/i],
  ["read-only", /oauth1.app.permissions|read-only application/i],
  ["cashtags", /cashtag/i],
  ["reply", /reply to this conversation is not allowed|not allowed to reply|restricted who can reply/i],
  ["not-visible", /deleted or not visible/i],
  ["feature", /not permitted to access this feature/i],
  ["invalid-url", /invalid url/i],
  ["plan", /requires an? enterprise (plan|tier|access)|not available on self-serve/i],
  ["access-level", /different access level|access to a subset of /i],
  ["automated", /might be automated/i],
  // Told now and then of tokens that are good: https://github.com/10up/autoshare-for-twitter/issues/387
  ["unknown-authentication", /authenticating with unknown is forbidden/i],
];

/** X tells each refusal of its own as a problem: one without words comes from what stands before its API. */
const NO_PROBLEM = "no-problem";

function codesOf({ status, json }: PlatformResponse): readonly Code[] {
  const body = Body.safeParse(json);
  if (!body.success) return status === 403 ? [NO_PROBLEM] : [];
  const { data, errors } = body.data;
  // Some of what was asked for is there: the rest is told beside it.
  if (status < 300 && data !== undefined && data !== null) return [];
  const problems = [Problem.parse(json), ...errors].filter(isProblem);
  const words = problems.map(({ title, detail, message, type }) => `${title} ${detail} ${message} ${type}`);
  return [
    ...WORDS.filter(([, pattern]) => words.some((text) => pattern.test(text))).map(([code]) => code),
    ...problems.flatMap(({ code, reason, type }) => [
      ...(code === null ? [] : [code]),
      ...(reason === "" ? [] : [reason]),
      ...(type === "" || type === "about:blank" ? [] : [type.slice(type.lastIndexOf("/") + 1)]),
    ]),
  ];
}

function isProblem({ type, title, detail, code, message }: z.infer<typeof Problem>): boolean {
  return code !== null || `${type}${title}${detail}${message}` !== "";
}

const CONSOLE = "the developer console (https://console.x.com)";

/** X already has the same text. */
export const DUPLICATE = "duplicate 187";

const NO_CREDITS = {
  kind: "setup",
  scope: "app",
  message: `X's API credits of this installation are used up. Buy credits in ${CONSOLE}.`,
} as const;

/** What X's answers mean. */
const FAULTS: FaultTable = {
  title: "X",
  codesOf,
  rules: [
    {
      code: "spend-cap",
      kind: "setup",
      scope: "app",
      message: `The spending limit of X's API credits is reached. Raise it in ${CONSOLE}, or wait for the next billing cycle.`,
    },
    { ...NO_CREDITS, code: "credits" },
    { ...NO_CREDITS, status: 402 },
    {
      code: "usage-capped",
      kind: "setup",
      scope: "app",
      message: `The app's quota at X is used up for now. Buy more credits or raise the limit in ${CONSOLE}.`,
    },
    ...byCode("ambiguous", {
      // Also in answers of 200.
      "130 131 internal-error": "X has a problem of its own, so it may have done what was asked.",
    }),
    ...byCode("rate", {
      "88 rate-limit-exceeded": "X asks to slow down.",
      "185 344 daily-limit": "The account has reached X's daily limit of posts.",
    }),
    ...byCode("auth", {
      "suspended user-suspended locked 64 326":
        "X has suspended or locked this account. Settle that with X first.",
    }),
    ...byCode("rejected", {
      [DUPLICATE]:
        "X refused it as a duplicate. The channel has already posted the same text. Change the text, then send the post again.",
    }),
    ...byCode("setup", {
      "read-only oauth1-permissions 261": `The app may only read. Give it "Read and write" in ${CONSOLE}, make new access keys, and reconnect the channel.`,
    }),
    {
      code: [NO_PROBLEM, "unknown-authentication"],
      kind: "transient",
      isNotDone: true,
      message:
        "X refused the request without a reason, as it does now and then. If this goes on, reconnect the channel.",
    },
    {
      code: [226, "automated"],
      kind: "rate",
      retryAfterMs: 15 * MINUTE,
      message: "X takes the post for an automated one, and asks you to try again later.",
    },
    ...byCode("rejected", {
      plan: "X sells this only to apps of its Enterprise plan. Quotes are such: put the address of the post into the caption instead, then send the post again.",
    }),
    ...byCode("setup", {
      "client-forbidden client-not-enrolled unsupported-authentication access-level 453": `X does not let the app do this. Check in ${CONSOLE} that it belongs to a project with paid access and may read and write.`,
    }),
    ...refusedField("caption", {
      "too-long 186": "is longer than X allows this account. Shorten it, or go on in metadata.thread.",
    }),
    ...refusedField("mediaUrl", {
      "video-too-long": "is a longer video than X allows this account. Use one of at most 140 seconds.",
    }),
    ...byCode("rejected", {
      "media-ids 324": "X no longer has the media. It keeps them for a day. Send the post again.",
    }),
    ...refusedField("caption", {
      cashtags:
        "has more than the one cashtag ($ABC) that X allows in posts from programs. Leave the others out.",
      "invalid-url": "has an address that X does not allow. Change it, or leave it out.",
    }),
    ...byCode("rejected", {
      "reply 433":
        "X does not allow this reply. Programs may reply only where the author has mentioned or quoted the account. Reply on x.com.",
      "not-visible 385 not-authorized-for-resource disallowed-resource":
        "The post that this one belongs to is gone, or X does not show it to this account.",
      feature:
        "X does not offer this to the account. Long texts and videos need Premium. Communities need a membership. Leave it out, or look at the account on x.com, then send the post again.",
    }),
    ...byStatus("rejected", {
      403: "X does not permit this post. Change it, or look at the account on x.com, then send it again.",
      "413 431": "X's servers refused the request as too large.",
    }),
  ],
};

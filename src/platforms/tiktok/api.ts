import * as z from "zod";
import { DAY, SECOND } from "../../domain/time.ts";
import type { ConnectIo, Secrets } from "../../ports/connect.ts";
import { type Json, PlatformFault, type PlatformResponse } from "../../ports/platform-io.ts";
import { byCode, type FaultRule, type FaultTable, refusedField } from "../shared/faults.ts";
import { type ApiCall, restApi } from "../shared/rest-api.ts";

export const TIKTOK_API = "https://open.tiktokapis.com";

const api = restApi({ base: TIKTOK_API, faults: () => FAULTS.repeatable });

interface Call extends Pick<ApiCall, "path" | "query"> {
  /** Left out: a GET. Null: a POST without a body. */
  readonly json?: Json;
  readonly kind: keyof typeof FAULTS;
}

/** What TikTok answers stands under `data`. */
export async function callTikTok<T>(
  io: Parameters<typeof api.ask>[0],
  call: Call,
  schema: z.ZodType<T>,
): Promise<T> {
  return (await api.ask(io, toCall(call), z.looseObject({ data: schema }))).data;
}

/** The same while connecting. */
export async function callWith<T>(
  io: ConnectIo,
  secrets: Secrets,
  call: Call,
  schema: z.ZodType<T>,
): Promise<T> {
  return (await api.askWith(io, { secrets }, toCall(call), z.looseObject({ data: schema }))).data;
}

function toCall({ json, kind, ...call }: Call): ApiCall {
  const how = { ...call, isIdempotent: kind !== "change", faults: FAULTS[kind] };
  if (json === undefined) return how;
  const headers = { "content-type": "application/json; charset=UTF-8" };
  return { ...how, method: "POST", headers, ...(json === null ? {} : { json }) };
}

const SaysError = z.looseObject({ error: z.looseObject({ code: z.string() }) });

/** The platform's word for an error, which may come with HTTP 200; "ok" for none; null where it says neither. */
function codeOf({ json }: PlatformResponse): string | null {
  return SaysError.safeParse(json).data?.error.code ?? null;
}

function codesOf(response: PlatformResponse): string[] {
  const code = codeOf(response);
  return code === null || code === "ok" ? [] : [code];
}

const RECONNECT = "TikTok does not accept the channel's permission any more.";
const SCOPE = "scope_not_authorized scope_permission_missed";

const RULES: readonly FaultRule[] = [
  ...byCode("setup", {
    unaudited_client_can_only_post_to_private_accounts:
      "TikTok has not audited the app that POSTHORN_TIKTOK_CLIENT_ID names. Such an app may post only with privacyLevel SELF_ONLY, to accounts that are set to private. " +
      "Apply for the audit of the Content Posting API, or use SELF_ONLY, or mode inbox.",
  }),
  ...byCode(
    { kind: "rate", retryAfterMs: DAY },
    {
      spam_risk_too_many_posts:
        "TikTok's quota is used up. An account may post some 15 times in 24 hours, from all apps together.",
      reached_active_user_cap:
        "TikTok's quota for the app is used up. Until its audit, 5 people may post with it in 24 hours.",
      spam_risk_too_many_pending_share:
        "TikTok's quota of drafts is used up. At most 5 may wait in the inbox in 24 hours. Finish or delete some in the TikTok app.",
    },
  ),
  {
    code: "rate_limit_exceeded",
    kind: "rate",
    retryAfterMs: 60 * SECOND,
    message: "TikTok asks to slow down.",
  },
  ...byCode("rejected", {
    spam_risk_user_banned_from_posting:
      "TikTok has banned this account from posting. Settle that in the TikTok app.",
    "spam_risk spam_risk_text":
      "TikTok refused the post as spam. Change its text and media, then send it again.",
  }),
  ...refusedField("metadata.privacyLevel", {
    privacy_level_option_mismatch: "this account may not choose it now. Choose one that TikTok offers it.",
  }),
  ...byCode("setup", {
    url_ownership_unverified:
      "TikTok fetches photos only from a domain that is verified for the app. Verify the domain of POSTHORN_PUBLIC_URL in TikTok's developer portal, under URL properties.",
  }),
  ...refusedField("mediaUrl", {
    "invalid_file_upload file_format_check_failed":
      "TikTok does not take this file. Export it again as MP4 with H.264.",
  }),
];

const AUTH: readonly FaultRule[] = byCode("auth", {
  access_token_invalid: RECONNECT,
  [SCOPE]: "The channel lacks a permission that TikTok asks for. Reconnect it and leave all of them ticked.",
});

export const NOT_READABLE =
  "The channel may not read this. It comes from TikTok's Display API. Where the app has that API, name its scopes in POSTHORN_TIKTOK_SCOPES and connect again.";

/** For numbers: that they are missing is no reason to stop posting. */
const READS: readonly FaultRule[] = [
  { code: "access_token_invalid", kind: "auth", message: RECONNECT },
  ...byCode("rejected", {
    [SCOPE]: NOT_READABLE,
  }),
];

/** Passing trouble of TikTok's, which it also tells with HTTP 200. */
const broken = (kind: "transient" | "ambiguous"): FaultRule => ({
  code: ["internal_error", "server_error"],
  kind,
  message: "TikTok has a problem of its own.",
});

const table = (rules: readonly FaultRule[]): FaultTable => ({ title: "TikTok", codesOf, rules });

/** `change`: what may be done once only; `repeatable`: what may be asked again; `numbers`: what the channel can do without. */
const FAULTS = {
  change: table([...AUTH, ...RULES, broken("ambiguous")]),
  repeatable: table([...AUTH, ...RULES, broken("transient")]),
  numbers: table([...READS, ...RULES, broken("transient")]),
};

/** TikTok does not know the upload any more, or never as we do: it goes on as it is told, or begins anew. */
export class SessionGone extends PlatformFault {}

/** Of the address that takes the film's bytes, whose errors are plain ones of HTTP. */
export function classifyChunk({ status }: PlatformResponse): PlatformFault | null {
  return [401, 403, 404, 410, 416].includes(status)
    ? new SessionGone("transient", "TikTok ended the upload before it was whole.")
    : null;
}

/** Why TikTok did not post what it had, by its words; the next step included. */
const FAILURES: Readonly<Record<string, string>> = {
  file_format_check_failed: "it does not take the format of the file. Export it as MP4 with H.264.",
  duration_check_failed: "the video is too short or too long for this account.",
  frame_rate_check_failed: "the video must have 23 to 60 frames a second. Export it again.",
  picture_size_check_failed:
    "width and height must be 360 to 4096 pixels, and their ratio between 9:16 and 16:9. Export it again.",
  video_pull_failed: "it could not fetch the video.",
  photo_pull_failed:
    "it could not fetch the photos. The address in POSTHORN_PUBLIC_URL must be open to the internet.",
  publish_cancelled: "it was cancelled.",
  auth_removed: "the permission was taken back. Reconnect the channel.",
  spam_risk_too_many_posts: "the account's quota of some 15 posts in 24 hours is used up.",
  spam_risk_user_banned_from_posting:
    "it has banned this account from posting. Settle that in the TikTok app.",
  spam_risk_text: "it takes the text for spam. Change it.",
  spam_risk: "it takes the post for spam. Change it.",
  internal: "it had a problem of its own.",
};

export function failureOf(reason: string): PlatformFault {
  const known = FAILURES[reason];
  const named = /^[\w.-]{1,60}$/.test(reason) ? ` (${reason})` : "";
  const why = known ?? `it gave a reason that Posthorn does not know${named}.`;
  return new PlatformFault("rejected", `TikTok did not publish the post: ${why} Then send the post again.`);
}

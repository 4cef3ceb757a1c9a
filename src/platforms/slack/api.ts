import * as z from "zod";
import type { ConnectIo } from "../../ports/connect.ts";
import type { PlatformAccount, PlatformIo, PlatformRequest } from "../../ports/platform-io.ts";
import { bearer, byCode, type FaultRule, type FaultTable, refusedField } from "../shared/faults.ts";
import { type ApiCall, restApi } from "../shared/rest-api.ts";

/** What the bot is asked to be allowed. */
/** To find people who are mentioned: an app that was set up before mentions were there may lack it. */
export const PEOPLE_SCOPE = "users:read";

/** What a consent asks for. */
export const ASKED_SCOPES: readonly string[] = [
  "chat:write",
  "chat:write.public",
  "channels:read",
  "groups:read",
  "files:write",
  "files:read",
  "channels:history",
  "groups:history",
];

/** What a new app is made with. */
export const SCOPES: readonly string[] = [...ASKED_SCOPES, PEOPLE_SCOPE];

/** Without them, nothing can be posted, or no channel chosen. */
export const NEEDED_SCOPES: readonly string[] = ["chat:write", "channels:read"];

export const API = "https://slack.com/api";

/** One call of the Web API: a GET, or a POST where it has a body. Slack reads JSON only in some methods. */
interface Call extends Pick<ApiCall, "query" | "form" | "json" | "rules"> {
  readonly method: string;
  /** Repeating it changes nothing. Default: true for a GET. */
  readonly isIdempotent?: boolean;
}

const api = restApi({
  base: API,
  below: "/",
  // The token of the bot that was entered, or that of the consent.
  sign: (secrets) => bearer((secrets["botToken"] ?? "") === "" ? "accessToken" : "botToken")(secrets),
  gone: [{ code: ["message_not_found", "thread_not_found"] }],
  faults: (_io, { isIdempotent = false }) => faultsOf(isIdempotent),
});

function toApiCall({ method, ...call }: Call): ApiCall {
  const isGet = call.json === undefined && call.form === undefined;
  return {
    isIdempotent: isGet,
    ...call,
    method: isGet ? "GET" : "POST",
    path: method,
    // Slack warns of JSON without a charset.
    ...(call.json === undefined ? {} : { headers: { "content-type": "application/json; charset=utf-8" } }),
  };
}

/** A call with the channel's token. */
export function call<T>(io: PlatformIo, one: Call, schema: z.ZodType<T>): Promise<T> {
  return api.ask(io, toApiCall(one), schema);
}

/** Null where what it is about is not there (any more). */
export function callOrGone<T>(
  io: PlatformIo,
  { gone, ...one }: Call & Pick<ApiCall, "gone">,
  schema: z.ZodType<T>,
): Promise<T | null> {
  return api.askOrGone(io, { ...toApiCall(one), ...(gone !== undefined && { gone }) }, schema);
}

/** While connecting: the token is at hand. */
export function callWith<T>(io: ConnectIo, token: string, one: Call, schema: z.ZodType<T>): Promise<T> {
  return io.ask(withToken(io, token, one), schema);
}

export function withToken(io: ConnectIo, accessToken: string, one: Call): PlatformRequest {
  return api.requestWith(io, { secrets: { accessToken } }, toApiCall(one));
}

const TROUBLE = "Slack has a problem of its own, so it may have done what was asked.";

/** How answers are read. */
export function faultsOf(isIdempotent: boolean): FaultTable {
  // "Some aspect of the operation may have succeeded", as Slack says of these.
  const trouble = byCode(isIdempotent ? "transient" : "ambiguous", {
    "internal_error fatal_error service_unavailable request_timeout": TROUBLE,
    update_failed: TROUBLE,
  });
  return { title: "Slack", codesOf, rules: [...trouble, ...RULES] };
}

const Refusal = z.looseObject({ ok: z.literal(false), error: z.string() });

/** Slack refuses with HTTP 200. */
export function codesOf({ json }: { readonly json: unknown }): readonly string[] {
  const refusal = Refusal.safeParse(json);
  return refusal.success ? [refusal.data.error] : [];
}

/** An answer that nothing is read from; a refusal that a rule takes has this form too. */
export const AnyAnswer = z.looseObject({ ok: z.boolean() });

/** What a list gives to go on with; empty on its last page. */
export const Paging = z.looseObject({ next_cursor: z.string().nullish() }).nullish();

const Settings = z.looseObject({ channelId: z.string(), teamName: z.string(), teamUrl: z.string() });

/** What connecting stored of the channel. */
export function channelOf(account: PlatformAccount): z.infer<typeof Settings> {
  return Settings.parse(account.settings);
}

/** As Slack itself makes a message's address; asked for, it may tell another. */
export function addressOf(account: PlatformAccount, channel: string, ts: string): string {
  return `${channelOf(account).teamUrl}/archives/${channel}/p${ts.replace(".", "")}`;
}

/** The channel and the moment that name a message; null for an id that is none of Slack's. */
export function messageIn(platformPostId: string | null): { channel: string; ts: string } | null {
  const [, channel, ts] = /^(\w+):(\d+\.\d+)$/.exec(platformPostId ?? "") ?? [];
  return channel === undefined || ts === undefined ? null : { channel, ts };
}

export function nameOf(channel: string, team: string): string {
  return `#${channel} (${team})`;
}

export const INVITE = "Invite it there with /invite and its name";

/** For sending into another channel than the account's: that one is not in the way of other posts. */
export const INTO_CHANNEL: readonly FaultRule[] = refusedField("metadata.channel", {
  "not_in_channel channel_is_limited_access": `the bot is not in this channel. ${INVITE}, or give another.`,
  channel_not_found: `the bot cannot see this channel. It was deleted, or it is private. ${INVITE}, or give another.`,
  is_archived: "this channel is archived. Give another.",
});

export const SLOW_DOWN = byCode(
  { kind: "rate", isNotDone: true },
  { "ratelimited rate_limited": "Slack asks to slow down." },
);

/** What Slack's errors mean (docs.slack.dev/reference/methods), whichever method gives them. */
const RULES: readonly FaultRule[] = [
  ...SLOW_DOWN,
  ...byCode("auth", {
    "invalid_auth not_authed token_revoked token_expired invalid_token":
      "Slack no longer accepts the bot's token. It was revoked, or it expired. Install the app again and enter the new token.",
    account_inactive:
      "The bot was removed from the workspace, or the workspace is gone. Install the app again and enter the new token.",
    "missing_scope no_permission not_allowed_token_type access_denied":
      "The Slack app lacks some of the permissions (scopes) that it needs. Add them under OAuth & Permissions and install the app again.",
    "not_in_channel channel_is_limited_access": `The bot is not in this Slack channel. ${INVITE}.`,
    channel_not_found: `The bot cannot see this Slack channel. It was deleted, or the bot was removed from it. ${INVITE}.`,
    is_archived: "This Slack channel is archived. Unarchive it in Slack, or connect another one.",
  }),
  {
    code: [
      "restricted_action",
      "restricted_action_read_only_channel",
      "restricted_action_thread_only_channel",
      "restricted_action_non_threadable_channel",
      "restricted_action_thread_locked",
      "posting_to_channel_denied",
      "ekm_access_denied",
      "app_access_restricted",
      "team_access_not_granted",
    ],
    kind: "rejected",
    message:
      "The workspace's settings do not let the bot post in this channel. Ask its administrators to allow it, then send the post again.",
  },
  ...refusedField("caption", {
    "msg_too_long msg_blocks_too_long": "is too long for Slack. Shorten it, or go on in metadata.thread.",
    no_text: "is empty, and Slack takes no message without text. Write some.",
  }),
  ...refusedField("metadata.altText", { alt_txt_too_large: "is too long for Slack. Shorten it." }),
  ...byCode("rejected", {
    message_limit_exceeded:
      "The workspace has used up the messages of its Slack plan. Ask its administrators.",
    "file_upload_size_restricted storage_limit_reached":
      "The workspace has no space for a file of this size. Use a smaller one, or ask its administrators, then send the post again.",
    "file_uploads_disabled file_uploads_except_images_disabled file_type_not_allowed blocked_file_type":
      "The workspace does not allow files of this type. Ask its administrators to allow them, or post without.",
    "file_not_found file_deleted file_update_failed missing_file_data":
      "Slack no longer has the file that was sent to it. Send the post again.",
    edit_window_closed:
      "The workspace's settings let messages be changed only for a while. For this one that time is over.",
    "cant_update_message cant_delete_message compliance_exports_prevent_deletion":
      "Slack does not let the bot change this message. It is another person's, or the workspace forbids it.",
    message_not_found: "The message is no longer in the channel.",
  }),
  ...byCode("setup", {
    "method_deprecated deprecated_endpoint unknown_method":
      "Slack has retired a call that this version of Posthorn makes. Install a newer version.",
  }),
];

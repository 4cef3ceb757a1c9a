import * as z from "zod";
import type { ConnectIo } from "../../ports/connect.ts";
import type { PlatformAccount, PlatformIo, PlatformRequest, SignedRequest } from "../../ports/platform-io.ts";
import { bearer, type FaultRule, faultsBy } from "../shared/faults.ts";

/** What the bot is asked to be allowed. */
export const SCOPES: readonly string[] = [
  "chat:write",
  "chat:write.public",
  "channels:read",
  "groups:read",
  "files:write",
  "files:read",
  "channels:history",
  "groups:history",
];

/** Without them, nothing can be posted, or no channel chosen. */
export const NEEDED_SCOPES: readonly string[] = ["chat:write", "channels:read"];

export const API = "https://slack.com/api";

/** One call of the Web API. Slack reads JSON in some of its methods alone; the others take fields. */
interface Call {
  readonly method: string;
  /** Fields of a GET. */
  readonly query?: PlatformRequest["query"];
  readonly form?: PlatformRequest["form"];
  readonly json?: PlatformRequest["json"];
  /** Repeating it changes nothing. Default: true for a GET. */
  readonly isIdempotent?: boolean;
  /** What some errors mean to whoever calls, before the usual reading. */
  readonly rules?: readonly FaultRule[];
}

/** A call with the channel's token: that of the bot which was entered, or that of the consent. */
export function call<T>(
  io: Pick<PlatformIo, "ask" | "setting">,
  one: Call,
  schema: z.ZodType<T>,
): Promise<T> {
  return io.ask({ ...requestOf(io, one), sign }, schema);
}

/** While connecting: the token is at hand. */
export function callWith<T>(io: ConnectIo, token: string, one: Call, schema: z.ZodType<T>): Promise<T> {
  return io.ask(withToken(io, token, one), schema);
}

export function withToken(io: Pick<ConnectIo, "setting">, token: string, one: Call): PlatformRequest {
  return { ...requestOf(io, one), ...bearer("token")({ token }) };
}

const sign: NonNullable<SignedRequest["sign"]> = (secrets) =>
  bearer((secrets["botToken"] ?? "") === "" ? "accessToken" : "botToken")(secrets);

function requestOf(io: Pick<ConnectIo, "setting">, one: Call): PlatformRequest {
  const { method, rules = [], json, form, query, isIdempotent } = one;
  const isGet = json === undefined && form === undefined;
  const passing = isIdempotent ?? isGet;
  return {
    method: isGet ? "GET" : "POST",
    url: `${io.setting("BASE_URL") ?? API}/${method}`,
    isIdempotent: passing,
    classify: readingOf(passing, rules),
    ...(query === undefined ? {} : { query }),
    ...(form === undefined ? {} : { form }),
    // Slack warns of JSON without a charset.
    ...(json === undefined ? {} : { json, headers: { "content-type": "application/json; charset=utf-8" } }),
  };
}

/** How answers are read; `rules` come first. */
export function readingOf(
  isIdempotent: boolean,
  rules: readonly FaultRule[] = [],
): NonNullable<PlatformRequest["classify"]> {
  return faultsBy({ title: "Slack", codesOf, rules: [...rules, troubleWhere(isIdempotent), ...RULES] });
}

/** "Some aspect of the operation may have succeeded", as Slack says of these. */
function troubleWhere(isIdempotent: boolean): FaultRule {
  return {
    code: ["internal_error", "fatal_error", "service_unavailable", "request_timeout", "update_failed"],
    kind: isIdempotent ? "transient" : "ambiguous",
    message: "Slack has a problem of its own, so it may have done what was asked.",
  };
}

const Refusal = z.looseObject({ ok: z.literal(false), error: z.string() });

/** Slack refuses with HTTP 200. */
export function codesOf({ json }: { readonly json: unknown }): readonly string[] {
  const refusal = Refusal.safeParse(json);
  return refusal.success ? [refusal.data.error] : [];
}

/** An answer of which nothing is needed; a refusal that a rule takes has this form too. */
export const AnyAnswer = z.looseObject({ ok: z.boolean() });

/** What a list gives to go on with; empty on its last page. */
export const Paging = z.looseObject({ next_cursor: z.string().nullish() }).nullish();

const Settings = z.looseObject({ channelId: z.string(), teamName: z.string(), teamUrl: z.string() });

/** What connecting stored of the channel. */
export function channelOf(account: PlatformAccount): z.infer<typeof Settings> {
  return Settings.parse(account.settings);
}

/** As Slack itself makes a message's address; asked for, it may tell another. */
export function addressOf(account: PlatformAccount, ts: string): string {
  const { channelId, teamUrl } = channelOf(account);
  return `${teamUrl}/archives/${channelId}/p${ts.replace(".", "")}`;
}

export function idOf(account: PlatformAccount, ts: string): string {
  return `${channelOf(account).channelId}:${ts}`;
}

/** The channel and the moment that name a message; null for an id that is none of Slack's. */
export function placeOf(platformPostId: string | null): { channel: string; ts: string } | null {
  const [, channel, ts] = /^(\w+):(\d+\.\d+)$/.exec(platformPostId ?? "") ?? [];
  return channel === undefined || ts === undefined ? null : { channel, ts };
}

export function nameOf(channel: string, team: string): string {
  return `#${channel} (${team})`;
}

export const INVITE = "Invite it there with /invite and its name";

/** What Slack's errors mean (docs.slack.dev/reference/methods), whichever method gives them. */
const RULES: readonly FaultRule[] = [
  {
    code: ["ratelimited", "rate_limited"],
    kind: "rate",
    message: "Slack asks to slow down.",
    isNotDone: true,
  },
  {
    code: ["invalid_auth", "not_authed", "token_revoked", "token_expired", "invalid_token"],
    kind: "auth",
    message:
      "Slack no longer accepts the bot's token. It was revoked, or it expired. Install the app again and enter the new token.",
  },
  {
    code: "account_inactive",
    kind: "auth",
    message:
      "The bot was removed from the workspace, or the workspace is gone. Install the app again and enter the new token.",
  },
  {
    code: ["missing_scope", "no_permission", "not_allowed_token_type", "access_denied"],
    kind: "auth",
    message:
      "The Slack app lacks some of the permissions (scopes) that it needs. Add them under OAuth & Permissions and install the app again.",
  },
  {
    code: ["not_in_channel", "channel_is_limited_access"],
    kind: "auth",
    message: `The bot is not in this Slack channel. ${INVITE}.`,
  },
  {
    code: "channel_not_found",
    kind: "auth",
    message: `The bot cannot see this Slack channel. It was deleted, or the bot was removed from it. ${INVITE}.`,
  },
  {
    code: "is_archived",
    kind: "auth",
    message: "This Slack channel is archived. Unarchive it in Slack, or connect another one.",
  },
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
  {
    code: "message_limit_exceeded",
    kind: "rejected",
    message: "The workspace has used up the messages of its Slack plan. Ask its administrators.",
  },
  {
    code: ["msg_too_long", "msg_blocks_too_long"],
    kind: "rejected",
    field: "caption",
    message: "is too long for Slack. Shorten it, or go on in metadata.thread.",
  },
  {
    code: "no_text",
    kind: "rejected",
    field: "caption",
    message: "is empty, and Slack takes no message without text. Write some.",
  },
  {
    code: ["file_upload_size_restricted", "storage_limit_reached"],
    kind: "rejected",
    message:
      "The workspace has no space for a file of this size. Use a smaller one, or ask its administrators, then send the post again.",
  },
  {
    code: [
      "file_uploads_disabled",
      "file_uploads_except_images_disabled",
      "file_type_not_allowed",
      "blocked_file_type",
    ],
    kind: "rejected",
    message:
      "The workspace does not allow files of this type. Ask its administrators to allow them, or post without.",
  },
  {
    code: ["file_not_found", "file_deleted", "file_update_failed", "missing_file_data"],
    kind: "rejected",
    message: "Slack no longer has the file that was sent to it. Send the post again.",
  },
  {
    code: ["alt_txt_too_large"],
    kind: "rejected",
    field: "metadata.altText",
    message: "is too long for Slack. Shorten it.",
  },
  {
    code: "edit_window_closed",
    kind: "rejected",
    message:
      "The workspace's settings let messages be changed only for a while. For this one that time is over.",
  },
  {
    code: ["cant_update_message", "cant_delete_message", "compliance_exports_prevent_deletion"],
    kind: "rejected",
    message:
      "Slack does not let the bot change this message. It is another person's, or the workspace forbids it.",
  },
  {
    code: "message_not_found",
    kind: "rejected",
    message: "The message is no longer in the channel.",
  },
  {
    code: ["method_deprecated", "deprecated_endpoint", "unknown_method"],
    kind: "setup",
    message: "Slack has retired a call that this version of Posthorn makes. Install a newer version.",
  },
];

import * as z from "zod";
import type { PlatformResponse } from "../../ports/platform-io.ts";
import { faultsBy, type Code, type FaultRule } from "../shared/faults.ts";

const Body = z.looseObject({ error: z.string() });

/** The status says little: nearly everything is 400. */
function codesOf({ status, json }: PlatformResponse): Code[] {
  const body = Body.safeParse(json);
  return status >= 400 && status < 500 && body.success ? [body.data.error] : [];
}

const RULES: readonly FaultRule[] = [
  {
    code: [
      "not_logged_in",
      "incorrect_login",
      "missing_totp_token",
      "incorrect_totp_token",
      "token_not_found",
    ],
    kind: "auth",
    message: "The server does not take the channel's login any more. Reconnect the channel.",
  },
  {
    code: [
      "site_ban",
      "banned",
      "person_is_banned_from_site",
      "deleted",
      "registration_application_is_pending",
      "registration_denied",
      "email_not_verified",
    ],
    kind: "auth",
    message:
      "The server has closed this account, or has not let it in yet. Settle that with the server first.",
  },
  {
    // An error of its own in the third version, with status 400.
    code: ["rate_limit_error", "too_many_requests"],
    kind: "rate",
    message: "The server asks to slow down.",
  },
  {
    code: ["couldnt_find_community", "invalid_community"],
    kind: "rejected",
    field: "metadata.community",
    message: "the server knows no such community. Check its name.",
  },
  {
    code: ["person_is_banned_from_community", "banned_from_community"],
    kind: "rejected",
    field: "metadata.community",
    message: "its moderators have banned this account. Name another one.",
  },
  {
    code: ["community_is_blocked", "instance_is_blocked"],
    kind: "rejected",
    field: "metadata.community",
    message: "this account has blocked it, or its server. Unblock it there, then send the post again.",
  },
  {
    code: ["only_mods_can_post_in_community", "not_a_moderator", "not_a_mod_or_admin"],
    kind: "rejected",
    field: "metadata.community",
    message: "only its moderators may post there. Name another one.",
  },
  {
    code: "cannot_create_post_or_comment_in_deleted_or_removed_community",
    kind: "rejected",
    field: "metadata.community",
    message: "it was deleted. Name another one.",
  },
  {
    code: ["invalid_post_title", "post_title_too_long"],
    kind: "rejected",
    field: "metadata.title",
    message: "must be one line of 3 to 200 characters. Change it, then send the post again.",
  },
  {
    code: "invalid_body_field",
    kind: "rejected",
    field: "caption",
    message: "is longer than this server takes. Shorten it, then send the post again.",
  },
  {
    code: "slurs",
    kind: "rejected",
    message:
      "The title or the text has words that this server does not allow. Change them, then send the post again.",
  },
  {
    code: ["blocked_url", "invalid_url", "invalid_url_scheme", "url_length_overflow"],
    kind: "rejected",
    field: "metadata.link",
    message: "the server does not take this address. Change it, then send the post again.",
  },
  {
    code: "alt_text_length_overflow",
    kind: "rejected",
    field: "metadata.altText",
    message: "is longer than 1500 characters. Shorten it, then send the post again.",
  },
  {
    code: "nsfw_not_allowed",
    kind: "rejected",
    field: "metadata.sensitive",
    message: "this server takes no posts marked as not safe for work.",
  },
  {
    code: "language_not_allowed",
    kind: "rejected",
    message:
      "The community does not take posts in the language that the account's settings on that server name.",
  },
  {
    code: [
      "image_upload_disabled",
      "not_an_image_type",
      "pictrs_invalid_image_upload",
      "pictrs_response_error",
    ],
    kind: "rejected",
    field: "mediaUrl",
    message: "the server does not take this picture, or takes no pictures. Give another one, or a link.",
  },
  {
    status: 413,
    kind: "rejected",
    field: "mediaUrl",
    message: "the server refused the file as too large. Give a smaller one, then send the post again.",
  },
  {
    code: ["couldnt_find_post", "not_found", "couldnt_find_object"],
    kind: "rejected",
    message: "The server does not have, or no longer has, what was asked for.",
  },
];

const title = "Lemmy";

export const classify = faultsBy({ title, codesOf, rules: RULES });

/** For what is asked about a post that may be gone; the third version says so with status 400. */
export const classifyGone = faultsBy({
  title,
  codesOf,
  rules: [{ code: ["couldnt_find_post", "not_found"], kind: "ok" }, ...RULES],
});

const CODE_NOW = "Enter the six digits that your app shows now.";

/** For the login itself, which is about what the person entered. */
export const classifyLogin = faultsBy({
  title,
  codesOf,
  rules: [
    {
      code: "missing_totp_token",
      kind: "rejected",
      field: "totp",
      message: `the account asks for a code. ${CODE_NOW}`,
    },
    {
      code: ["incorrect_totp_token", "couldnt_parse_totp_secret"],
      kind: "rejected",
      field: "totp",
      message: `the code is wrong or has expired. ${CODE_NOW}`,
    },
    {
      code: ["incorrect_login", "couldnt_find_person", "couldnt_find_local_user", "not_found"],
      kind: "rejected",
      field: "password",
      message: "the name or the password is wrong. Enter those that you sign in to the server with.",
    },
    ...RULES,
  ],
});

import type { FaultRule } from "../shared/faults.ts";

export const INVITE = "Invite it there with /invite and its name";

/** What Slack's errors mean (docs.slack.dev/reference/methods), whichever method gives them. */
export const RULES: readonly FaultRule[] = [
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

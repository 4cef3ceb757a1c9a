import * as z from "zod";
import { SECOND } from "../../domain/time.ts";
import type { PlatformResponse } from "../../ports/platform-io.ts";
import { faultsBy, type FaultRule } from "../shared/faults.ts";

/**
 * Telegram names errors by a sentence alone (the Bot API server's Client.cpp and those that it passes on), so
 * ours are names for what they say. The first that fits is taken.
 */
const SAID: readonly (readonly [string, RegExp])[] = [
  ["not_modified", /message is not modified/i],
  ["gone", /message to (edit|delete) not found|MESSAGE_ID_INVALID/i],
  ["undeletable", /message can't be deleted/i],
  ["uneditable", /message can't be edited|there is no (text|caption|media) in the message/i],
  ["no_topic", /message thread not found|TOPIC_(CLOSED|DELETED|ID_INVALID)/i],
  ["no_chat", /chat not found|PEER_ID_INVALID|CHANNEL_(INVALID|PRIVATE)|chat was (deactivated|deleted)/i],
  [
    "no_rights",
    /not enough rights|administrator rights|have no rights|CHAT_(WRITE_FORBIDDEN|ADMIN_REQUIRED|RESTRICTED|SEND_\w+_FORBIDDEN)/i,
  ],
  ["too_long", /(message|caption) is too long|MESSAGE_TOO_LONG|CAPTION_TOO_LONG/i],
  ["too_big", /too (big|large)/i],
  ["empty", /text (is|must be non-)empty|MESSAGE_EMPTY/i],
  ["bad_media", /PHOTO_|IMAGE_|VIDEO_|MEDIA_|wrong (type|file)|failed to (get|send)/i],
];

const Refusal = z.looseObject({
  ok: z.literal(false),
  error_code: z.int().optional(),
  description: z.string().catch(""),
  parameters: z
    .looseObject({
      retry_after: z.number().min(0).optional(),
      migrate_to_chat_id: z.union([z.int(), z.string()]).optional(),
    })
    .catch({}),
});

function refusalOf({ json }: PlatformResponse): z.infer<typeof Refusal> | null {
  return Refusal.safeParse(json).data ?? null;
}

function codesOf(response: PlatformResponse): (string | number)[] {
  const refusal = refusalOf(response);
  if (refusal === null) return [];
  const { description, parameters } = refusal;
  const said = SAID.find(([, words]) => words.test(description))?.[0];
  return [
    ...(parameters.migrate_to_chat_id === undefined ? [] : ["migrated"]),
    ...(said === undefined ? [] : [said]),
    refusal.error_code ?? response.status,
  ];
}

const RULES: readonly FaultRule[] = [
  {
    status: 429,
    kind: "rate",
    message: "Telegram asks to slow down.",
    retryAfterMs: (response) => {
      const seconds = refusalOf(response)?.parameters.retry_after;
      return seconds === undefined ? null : seconds * SECOND;
    },
  },
  {
    code: "no_chat",
    kind: "auth",
    message: "Telegram does not find the chat for this bot. Add the bot to it again, or give the right chat.",
  },
  {
    code: "no_rights",
    kind: "auth",
    message: "The bot may not post in the chat. Make it an administrator that may post messages.",
  },
  {
    status: [401, 404],
    kind: "auth",
    message:
      "Telegram does not accept the bot token. It was revoked, or the bot was deleted. Copy its token from @BotFather.",
  },
  {
    status: 403,
    kind: "auth",
    message: "The bot was removed from the chat, or never was in it. Add it again as an administrator.",
  },
  {
    code: "no_topic",
    kind: "rejected",
    field: "metadata.topicId",
    message: "the chat has no such topic, or it is closed. Give another, or leave it out.",
  },
  {
    code: "too_long",
    kind: "rejected",
    field: "caption",
    message: "is too long for Telegram. Shorten it.",
  },
  {
    code: "empty",
    kind: "rejected",
    field: "caption",
    message: "Telegram would show nothing. Write some text.",
  },
  {
    code: "too_big",
    kind: "rejected",
    message:
      "A file is larger than Telegram takes from bots (photos 10 MB, others 50 MB). Give a smaller one.",
  },
  {
    status: 413,
    kind: "rejected",
    message: "The media are larger than Telegram takes from bots at once (50 MB a file). Give smaller ones.",
  },
  {
    code: "bad_media",
    kind: "rejected",
    message:
      "Telegram could not use the media. Their format or size is wrong. Give another file, or set asDocument.",
  },
  {
    code: "undeletable",
    kind: "rejected",
    message:
      "Telegram does not let the bot delete it. Bots can delete a message for 48 hours, and only where they have the right. Delete it in the app.",
  },
  {
    code: "uneditable",
    kind: "rejected",
    message: "Telegram does not let the bot change this message. Change it in the app.",
  },
  { code: "gone", kind: "rejected", message: "The message is not in the chat any more." },
];

const TITLE = "Telegram";

/** For what is sent: an answer that names the chat's new id is taken (`Migrated`), the others are faults. */
export const classifySending = faultsBy({
  title: TITLE,
  codesOf,
  rules: [{ code: "migrated", kind: "ok" }, ...RULES],
});

/** For changes of a message: one that is as wanted already is no error. */
export const classifyChange = faultsBy({
  title: TITLE,
  codesOf,
  rules: [
    { code: "not_modified", kind: "ok" },
    {
      code: "migrated",
      kind: "rejected",
      message: "The group has become a supergroup. Bots cannot change its old messages.",
    },
    ...RULES,
  ],
});

/** The same where it is to be gone. */
export const classifyRemoval: typeof classifyChange = (response) =>
  codesOf(response).includes("gone") ? "ok" : classifyChange(response);

/** A group that became a supergroup has another id. */
export const Migrated = z.looseObject({
  parameters: z.looseObject({ migrate_to_chat_id: z.union([z.int(), z.string()]).transform(String) }),
});

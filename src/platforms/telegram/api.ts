import * as z from "zod";
import { SECOND } from "../../domain/time.ts";
import type { ConnectIo } from "../../ports/connect.ts";
import {
  type JsonObject,
  type PlatformAccount,
  PlatformFault,
  type PlatformIo,
  type PlatformResponse,
} from "../../ports/platform-io.ts";
import type { FormPart } from "../../ports/request-body.ts";
import { byCode, type FaultRule, type FaultTable, refusedField } from "../shared/faults.ts";
import { type ApiCall, restApi } from "../shared/rest-api.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";

/** A method of the Bot API with its parameters; files are parts of a form beside them. */
export interface Call {
  readonly method: string;
  readonly fields: JsonObject;
  readonly files?: readonly FormPart[];
  /** Default: false. */
  readonly isIdempotent?: boolean;
}

const BOT_API = "https://api.telegram.org";

const api = restApi({
  base: BOT_API,
  // The token stands in the path: the address goes nowhere but into the request.
  sign: ({ botToken = "" }, { setting }, { path }) => ({
    url: `${setting("BASE_URL") ?? BOT_API}/bot${botToken}${path}`,
  }),
  gone: [{ code: "gone" }],
  faults: () => CHANGE_FAULTS,
});

/** Where the account posts now: a group that became a supergroup has another id than it was connected with. */
export function chatOf({ settings, platformAccountId }: PlatformAccount): string {
  const { chatId } = settings;
  return typeof chatId === "string" ? chatId : (platformAccountId ?? "");
}

/** About the account's chat. Follows it once where it has moved: the answer proves that nothing was done. */
export async function callChat<T>(io: PlatformIo, call: Call, schema: z.ZodType<T>): Promise<T> {
  const forms = z.union([Migrated, within(schema)]);
  for (let turn = 0; turn < 2; turn += 1) {
    const fields = { chat_id: Number(chatOf(io.account)), ...call.fields };
    const asked = { ...toApiCall({ ...call, fields }), faults: SENDING_FAULTS };
    const answer = await api.ask(io, asked, forms);
    if ("result" in answer) return answer.result;
    await io.remember(answer);
  }
  throw new PlatformFault("rejected", "The group moves to another id again and again. Try again later.");
}

/** Changes a message; without effect where it is as wanted already. */
export async function change(io: PlatformIo, call: Call): Promise<void> {
  await api.send(io, toApiCall({ ...call, isIdempotent: true }));
}

/** Takes a message away; one that is gone already is no error. */
export async function takeAway(io: PlatformIo, call: Call): Promise<void> {
  await api.sendOrGone(io, toApiCall({ ...call, isIdempotent: true }));
}

/** While the bot is not connected yet. */
export async function callBot<T>(
  io: ConnectIo,
  botToken: string,
  { call, schema }: { readonly call: Call; readonly schema: z.ZodType<T> },
): Promise<T> {
  const asked = toApiCall({ ...call, isIdempotent: true });
  return (await api.askWith(io, { secrets: { botToken } }, asked, within(schema))).result;
}

function within<T>(result: z.ZodType<T>) {
  return z.looseObject({ ok: z.literal(true), result }).transform((answer) => ({ result: answer.result }));
}

function toApiCall({ method, fields, files = [], isIdempotent = false }: Call): ApiCall {
  const call = { method: "POST", path: `/${method}`, isIdempotent } as const;
  if (files.length === 0) return { ...call, json: fields };
  const texts = Object.entries(fields).map(([name, value]) => ({
    name,
    text: typeof value === "string" ? value : JSON.stringify(value),
  }));
  return { ...call, ...UPLOAD_TIMES, multipart: [...texts, ...files] };
}

/**
 * Telegram names errors only by a sentence (the Bot API server's Client.cpp and those that it passes on), so
 * ours are names for what they say. The first that fits is taken.
 */
const SAID: readonly (readonly [string, RegExp])[] = [
  ["not_modified", /message is not modified/i],
  ["gone", /message to (edit|delete) not found|MESSAGE_ID_INVALID/i],
  ["undeletable", /message can't be deleted/i],
  ["uneditable", /message can't be edited|there is no (text|caption|media) in the message/i],
  ["no_topic", /message thread not found|TOPIC_(CLOSED|DELETED|ID_INVALID)/i],
  ["no_chat", /chat not found|PEER_ID_INVALID|CHANNEL_(INVALID|PRIVATE)|chat was (deactivated|deleted)/i],
  ["no_polls", /rights to send polls|CHAT_SEND_POLLS_FORBIDDEN/i],
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
  ...refusedField("metadata.poll", {
    no_polls: "the bot may not send polls in this group. Allow it there, or post without.",
  }),
  ...byCode("auth", {
    no_chat: "Telegram does not find the chat for this bot. Add the bot to it again, or give the right chat.",
    no_rights: "The bot may not post in the chat. Make it an administrator that may post messages.",
  }),
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
  ...refusedField("metadata.topicId", {
    no_topic: "the chat has no such topic, or it is closed. Give another, or leave it out.",
  }),
  ...refusedField("caption", {
    too_long: "is too long for Telegram. Shorten it.",
    empty: "Telegram would show nothing. Write some text.",
  }),
  ...byCode("rejected", {
    too_big:
      "A file is larger than Telegram takes from bots (photos 10 MB, others 50 MB). Give a smaller one.",
  }),
  {
    status: 413,
    kind: "rejected",
    message: "The media are larger than Telegram takes from bots at once (50 MB a file). Give smaller ones.",
  },
  ...byCode("rejected", {
    bad_media:
      "Telegram could not use the media. Their format or size is wrong. Give another file, or set asDocument.",
    undeletable:
      "Telegram does not let the bot delete it. Bots can delete a message for 48 hours, and only where they have the right. Delete it in the app.",
    uneditable: "Telegram does not let the bot change this message. Change it in the app.",
    gone: "The message is not in the chat any more.",
  }),
];

const title = "Telegram";

/** For what is sent: an answer that names the chat's new id is taken (`Migrated`), the others are faults. */
const SENDING_FAULTS: FaultTable = {
  title,
  codesOf,
  rules: [{ code: "migrated", kind: "ok" }, ...RULES],
};

/** For changes of a message: one that is as wanted already is no error. */
const CHANGE_FAULTS: FaultTable = {
  title,
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
};

/** A group that became a supergroup has another id. */
const Migrated = z
  .looseObject({
    parameters: z.looseObject({ migrate_to_chat_id: z.union([z.int(), z.string()]).transform(String) }),
  })
  .transform(({ parameters }) => ({ chatId: parameters.migrate_to_chat_id }));

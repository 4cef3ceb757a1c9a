import * as z from "zod";
import { SECOND } from "../../domain/time.ts";
import type { ConnectIo } from "../../ports/connect.ts";
import {
  type JsonObject,
  type PlatformAccount,
  PlatformFault,
  type PlatformIo,
  type PlatformRequest,
  type PlatformResponse,
} from "../../ports/platform-io.ts";
import type { FormPart } from "../../ports/request-body.ts";
import { type FaultRule, faultsBy } from "../shared/faults.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";

/** A method of the Bot API with its parameters; files are parts of a form beside them. */
export interface Call {
  readonly method: string;
  readonly fields: JsonObject;
  readonly files?: readonly FormPart[];
  /** Default: false. */
  readonly isIdempotent?: boolean;
}

/** Where the account posts now: a group that became a supergroup has another id than it was connected with. */
export function chatOf({ settings, platformAccountId }: PlatformAccount): string {
  const { chatId } = settings;
  return typeof chatId === "string" ? chatId : (platformAccountId ?? "");
}

/** About the account's chat. Follows it once where it has moved: the answer proves that nothing was done. */
export async function callChat<T>(io: PlatformIo, call: Call, schema: z.ZodType<T>): Promise<T> {
  const forms = z.union([Migrated, z.looseObject({ ok: z.literal(true), result: schema })]);
  for (let turn = 0; turn < 2; turn += 1) {
    const { method, fields } = call;
    const inChat = { ...call, fields: { chat_id: Number(chatOf(io.account)), ...fields } };
    const answer = await io.ask(
      {
        ...requestOf(inChat),
        classify: classifySending,
        url: "",
        sign: ({ botToken = "" }) => ({ url: methodUrl(io, botToken, method) }),
      },
      forms,
    );
    if (!Migrated.safeParse(answer).success) return z.looseObject({ result: schema }).parse(answer).result;
    await io.remember({ chatId: Migrated.parse(answer).parameters.migrate_to_chat_id });
  }
  throw new PlatformFault("rejected", "The group moves to another id again and again. Try again later.");
}

/** Changes a message; without effect where it is as wanted already. */
export async function change(
  io: PlatformIo,
  call: Call,
  classify: PlatformRequest["classify"] = classifyChange,
): Promise<void> {
  await io.request({
    ...requestOf({ ...call, isIdempotent: true }),
    ...(classify === undefined ? {} : { classify }),
    url: "",
    sign: ({ botToken = "" }) => ({ url: methodUrl(io, botToken, call.method) }),
  });
}

/** While the bot is not connected yet. */
export async function callBot<T>(
  io: ConnectIo,
  botToken: string,
  { call, schema }: { readonly call: Call; readonly schema: z.ZodType<T> },
): Promise<T> {
  const request = {
    ...requestOf({ ...call, isIdempotent: true }),
    classify: classifyChange,
    url: methodUrl(io, botToken, call.method),
  };
  const answer = await io.ask(request, z.looseObject({ ok: z.literal(true), result: schema }));
  return z.looseObject({ result: schema }).parse(answer).result;
}

const BOT_API = "https://api.telegram.org";

/** The token stands in the path: the address goes nowhere but into the request. */
function methodUrl({ setting }: Pick<ConnectIo, "setting">, botToken: string, method: string): string {
  return `${setting("BASE_URL") ?? BOT_API}/bot${botToken}/${method}`;
}

function requestOf({ fields, files = [], isIdempotent = false }: Call): Omit<PlatformRequest, "url"> {
  const request = { method: "POST", isIdempotent } as const;
  if (files.length === 0) return { ...request, json: fields };
  const texts = Object.entries(fields).map(([name, value]) => ({
    name,
    text: typeof value === "string" ? value : JSON.stringify(value),
  }));
  return { ...request, ...UPLOAD_TIMES, multipart: [...texts, ...files] };
}

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
const classifySending = faultsBy({
  title: TITLE,
  codesOf,
  rules: [{ code: "migrated", kind: "ok" }, ...RULES],
});

/** For changes of a message: one that is as wanted already is no error. */
const classifyChange = faultsBy({
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
const Migrated = z.looseObject({
  parameters: z.looseObject({ migrate_to_chat_id: z.union([z.int(), z.string()]).transform(String) }),
});

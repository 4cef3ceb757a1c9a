import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { Connected, ConnectInput, ConnectIo, SecretsWay } from "../../ports/connect.ts";
import { definePlatform, type Inspection } from "../../ports/platform.ts";
import type { PlatformAccount, PlatformIo } from "../../ports/platform-io.ts";
import { type Call, callBot, callChat, chatOf } from "./api.ts";
import { oneChannel, secretField, textField } from "../shared/connect.ts";
import { naming } from "../shared/faults.ts";
import { textSeen } from "../shared/markdown.ts";
import { Id } from "../../ports/platform-values.ts";
import type { StatedCapabilities } from "../../domain/accounts/capabilities.ts";
import { ACCOUNT_METRICS, analytics, edit, remove, setThumbnail } from "./live.ts";
import { DOCUMENTS, publish, SHOWN, textOf } from "./publish.ts";
import { checkPost, MAX_ITEMS, TelegramMetadata } from "./metadata.ts";

const TOKEN_PLACE =
  "@BotFather (https://t.me/BotFather) gives it to you in Telegram, after /newbot, or after /token for a bot that you have.";

const CHAT_PLACE =
  "Give the @name of a public channel or group, its address on t.me, or the numeric id (-100…) of a private one.";

const BOT: SecretsWay = {
  kind: "secrets",
  name: "bot",
  label: "Bot token",
  fields: [
    secretField("botToken", "Bot token", `${TOKEN_PLACE} It looks like 123456789:AAExampleExample.`),
    textField("chat", "Channel or group", CHAT_PLACE),
  ],
  instructions:
    "A bot of yours posts into the channel or group. Telegram asks for no review and no fee. Bots can send photos up to 10 MB and other files up to 50 MB.",
  steps: [
    "In Telegram, open @BotFather: https://t.me/BotFather",
    "Send /newbot and answer its questions, or /token for a bot that you have.",
    "Copy the token that it answers.",
    "In Telegram, open the channel's settings, Administrators, and add the bot. It needs the right to post messages. To change or delete posts, it also needs the rights to edit and delete messages. In a group, add it as a member that may send messages.",
  ],
  renewal: null,
  connect,
};

const Bot = z.looseObject({ id: Id });

const Chat = z.looseObject({
  id: Id,
  type: z.string(),
  title: z.string().optional(),
  username: z.string().optional(),
  first_name: z.string().optional(),
});
type Chat = z.infer<typeof Chat>;

const Member = z.looseObject({
  status: z.string(),
  can_post_messages: z.boolean().optional(),
  can_send_messages: z.boolean().optional(),
});

async function connect(input: ConnectInput, io: ConnectIo): Promise<Connected> {
  const botToken = readToken(input.secrets["botToken"] ?? "");
  const wanted = readChat(input.secrets["chat"] ?? "");
  const ask = <T>(field: string, call: Call, schema: z.ZodType<T>): Promise<T> =>
    naming(field, () => callBot(io, botToken, { call, schema }));
  const bot = await ask("botToken", { method: "getMe", fields: {} }, Bot);
  const asked = { chat_id: currentId(wanted, input.reconnecting) };
  const chat = await ask("chat", { method: "getChat", fields: asked }, Chat);
  const fields = { chat_id: Number(chat.id), user_id: Number(bot.id) };
  const member = await ask("chat", { method: "getChatMember", fields }, Member);
  const problem = problemOf(chat, member);
  if (problem !== null) throw new AppError("invalid", `chat: ${problem}`);
  const username = chat.username ?? null;
  return oneChannel({
    platformAccountId: accountId(chat.id, input.reconnecting),
    name: input.name ?? chat.title ?? chat.first_name ?? username ?? chat.id,
    handle: username,
    profileUrl: username === null ? null : `https://t.me/${username}`,
    // The address of a chat's picture would hold the token.
    avatarUrl: null,
    settings: { chatId: chat.id, botId: bot.id },
    secrets: { botToken, chat: chat.id },
  });
}

/** Whether the bot may still post, and the chat's public name, which may be another by now. */
async function inspect(io: PlatformIo): Promise<Inspection> {
  const chat = await callChat(io, { method: "getChat", fields: {}, isIdempotent: true }, Chat);
  const fields = { user_id: Number(io.account.settings["botId"]) };
  const member = await callChat(io, { method: "getChatMember", fields, isIdempotent: true }, Member);
  return { handle: chat.username ?? null, problem: problemOf(chat, member) };
}

function readToken(text: string): string {
  if (/^\d+:[\w-]+$/.test(text)) return text;
  throw new AppError("invalid", `botToken: is not a bot's token. ${TOKEN_PLACE} Copy all of it.`);
}

/** A name with its @, or an id. */
function readChat(text: string): string {
  const address =
    /^(?:https?:\/\/)?(?:t|telegram)\.me\/(?:c\/(\d+)|(?:s\/)?([A-Za-z]\w{3,31}))(?:\/.*)?$/.exec(text);
  const [, inside, named] = address ?? [];
  if (inside !== undefined) return `-100${inside}`;
  if (named !== undefined) return `@${named}`;
  if (/^-?\d{1,16}$/.test(text)) return text;
  const name = /^@?([A-Za-z]\w{3,31})$/.exec(text)?.[1];
  if (name !== undefined) return `@${name}`;
  throw new AppError("invalid", `chat: is not a channel or group. ${CHAT_PLACE}`);
}

/** A group that is reconnected by the id it was connected with may have another by now. */
function currentId(wanted: string, reconnecting: PlatformAccount | null): string | number {
  if (wanted.startsWith("@")) return wanted;
  return Number(
    reconnecting !== null && wanted === reconnecting.platformAccountId ? chatOf(reconnecting) : wanted,
  );
}

/** The channel stays the same one when its group has become a supergroup. */
function accountId(chatId: string, reconnecting: PlatformAccount | null): string {
  return reconnecting !== null && chatOf(reconnecting) === chatId
    ? (reconnecting.platformAccountId ?? chatId)
    : chatId;
}

function problemOf({ type }: Chat, member: z.infer<typeof Member>): string | null {
  const { status } = member;
  if (status === "left" || status === "kicked")
    return "The bot is not in the chat. Add it as an administrator that may post messages.";
  const isAdministrator = status === "creator" || status === "administrator";
  if (type === "channel" && (!isAdministrator || member.can_post_messages === false))
    return "The bot may not post in the channel. Make it an administrator that may post messages.";
  if (status === "restricted" && member.can_send_messages === false)
    return "The bot may not send messages in the group. Remove its restriction, or make it an administrator.";
  return null;
}

const CAPABILITIES: StatedCapabilities = {
  media: { required: false, maxItems: MAX_ITEMS, accepts: SHOWN },
  // "After entities parsing", which counts offsets in UTF-16 units; the limit's own unit is not told.
  caption: { maxLength: 4_096, withMedia: 1_024, unit: "utf16" },
  // Only people's accounts can schedule messages.
  thumbnail: { set: true, replaceAfterPublish: true },
  editPublished: { fields: ["caption", "format", "link", "linkPreview", "captionAbove"] },
  analytics: { account: [...ACCOUNT_METRICS], post: [] },
  reconciles: "blind",
};

/** Its question is shorter, and stays as it is. */
const OF_A_POLL = {
  caption: { maxLength: 300, unit: "utf16" },
  editPublished: { fields: [] },
} as const satisfies Partial<StatedCapabilities>;

export default definePlatform({
  name: "telegram",
  title: "Telegram",
  docs: "https://core.telegram.org/bots/api",
  baseUrl: "https://api.telegram.org",
  capabilities: CAPABILITIES,
  capabilitiesOf: (_account, post) => ({
    ...CAPABILITIES,
    ...(post?.metadata.asDocument === true ? { media: { ...CAPABILITIES.media, accepts: DOCUMENTS } } : {}),
    ...(post?.metadata.poll === undefined ? {} : OF_A_POLL),
  }),
  metadata: TelegramMetadata,
  connect: [BOT],
  check: checkPost,
  preview: (post) => {
    const write = (text: string): string => textSeen(text, post.metadata.format);
    return { body: write(textOf(post)), write };
  },
  inspect,
  publish,
  edit,
  setThumbnail,
  analytics,
  remove,
});

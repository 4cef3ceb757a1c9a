import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { Connected, ConnectInput, ConnectIo, SecretsWay } from "../../ports/connect.ts";
import { definePlatform, type Inspection } from "../../ports/platform.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import { Id } from "../../ports/platform-values.ts";
import { oneChannel, optional, secretField, textField } from "../shared/connect.ts";
import { naming } from "../shared/faults.ts";
import { plainMentions } from "../../domain/posts/mentions.ts";
import { textSeen } from "../shared/markdown.ts";
import { captionAs } from "../shared/shown.ts";
import { ask, askWith, guildPath, readWebhook } from "./api.ts";
import type { StatedCapabilities } from "../../domain/accounts/capabilities.ts";
import {
  ACCOUNT_METRICS,
  analytics,
  channelChoices,
  edit,
  insights,
  mentionChoices,
  remove,
  tagChoices,
} from "./live.ts";
import { acceptedUpTo, publish } from "./publish.ts";
import {
  channelOf,
  checkPost,
  contentOf,
  DiscordMetadata,
  isPostable,
  isWebhook,
  MAX_FILE_BYTES,
  MAX_FILES,
  maxBytesAt,
  maxBytesOf,
  measure,
  questionOf,
} from "./metadata.ts";
const TOKEN_PLACE = "Copy it from the page Bot of your app on https://discord.com/developers/applications.";
const WEBHOOK_PLACE =
  "In Discord, open the channel's settings, Integrations, Webhooks, and copy the address of one.";

const CHANNEL_PLACE = "Give the channel's link (Copy link in the channel's menu) or its id.";

const BOT: SecretsWay = {
  kind: "secrets",
  name: "bot",
  label: "Bot",
  fields: [
    secretField("botToken", "Bot token", TOKEN_PLACE),
    optional(textField("channel", "Channel", `${CHANNEL_PLACE} Empty until the bot is on your server.`)),
  ],
  instructions:
    "A bot of yours posts into the channel. It costs nothing, needs no review, and takes some five minutes.",
  steps: [
    "Open https://discord.com/developers/applications and press New Application.",
    "On its page Bot, press Reset Token, and copy the token.",
    "Enter the token, leave the channel empty, and press Connect. Posthorn answers with the address that invites the bot.",
    "Open that address and add the bot to your server.",
    "Copy the channel's link in Discord: Copy link in the channel's menu.",
    "Enter the token again and the channel's link, and press Connect.",
  ],
  renewal: null,
  connect: connectBot,
};

const WEBHOOK: SecretsWay = {
  kind: "secrets",
  name: "webhook",
  label: "Webhook",
  fields: [{ ...secretField("webhookUrl", "Webhook address", WEBHOOK_PLACE), isSeen: true }],
  instructions: `${WEBHOOK_PLACE} It can post only into that channel. After a lost answer, Posthorn cannot ask Discord whether the post is there. A bot can.`,
  renewal: null,
  connect: connectWebhook,
};

const User = z.looseObject({ id: Id });
const Channel = z.looseObject({
  id: Id,
  type: z.int(),
  name: z.string().nullish(),
  guild_id: Id.optional(),
});
const Guild = z.looseObject({ name: z.string().optional(), premium_tier: z.int().optional() });
const Webhook = z.looseObject({ id: Id, name: z.string().nullish(), channel_id: Id, guild_id: Id.nullish() });

/** View Channels, Send Messages, the same in threads, Attach Files, Embed Links, Send Polls; Read Message History finds a post again. */
const PERMISSIONS = [10, 11, 38, 15, 14, 16, 49].reduce((sum, bit) => sum + 2 ** bit, 0);

/** A bot has the id of its application. */
function inviting({ id }: z.infer<typeof User>): string {
  return (
    `Open https://discord.com/oauth2/authorize?client_id=${id}&scope=bot&permissions=${PERMISSIONS} to add the bot to your server. ` +
    "Then enter the token again, and the channel's link."
  );
}

/** A channel that the bot does not see is most often on a server that it was not invited to. */
function withInvitation(error: unknown, bot: z.infer<typeof User>): unknown {
  if (!(error instanceof PlatformFault) || !["auth", "rejected"].includes(error.kind)) return error;
  const { kind, sentence, cause, says, httpStatus } = error;
  return new PlatformFault(kind, `${sentence} ${inviting(bot)}`, {
    cause,
    says,
    ...(httpStatus === null ? {} : { httpStatus }),
  });
}

async function connectBot(input: ConnectInput, io: ConnectIo): Promise<Connected> {
  const botToken = (input.secrets["botToken"] ?? "").replace(/^Bot\s+/i, "");
  const given = input.secrets["channel"] ?? "";
  const channelId = /^(?:https:\/\/\S+\/channels\/\d+\/)?(\d{5,20})$/.exec(given)?.[1];
  if (channelId === undefined && given !== "")
    throw new AppError("invalid", `channel: is not a Discord channel. ${CHANNEL_PLACE}`);
  if (!/^[\w.-]+$/.test(botToken))
    throw new AppError("invalid", `botToken: is not a bot's token. ${TOKEN_PLACE}`);
  const as = { secrets: { botToken } };
  const bot = await naming("botToken", () => askWith(io, as, { path: "/users/@me" }, User));
  if (channelId === undefined) throw new AppError("invalid", `channel: is empty. ${inviting(bot)}`);
  const channel = await naming("channel", () =>
    askWith(io, as, { path: `/channels/${channelId}` }, Channel).catch((error: unknown) => {
      throw withInvitation(error, bot);
    }),
  );
  const { guild_id: guildId } = channel;
  if (guildId === undefined || !isPostable(channel.type))
    throw new AppError(
      "invalid",
      "channel: posts go into text, announcement, forum and media channels of a server. Give one of these.",
    );
  return oneChannel({
    platformAccountId: channelId,
    name: input.name ?? channel.name ?? channelId,
    profileUrl: urlOf(guildId, channelId),
    settings: { way: "bot", guildId, kind: channel.type, botId: bot.id },
    secrets: { botToken, channel: channelId },
  });
}

async function connectWebhook(input: ConnectInput, io: ConnectIo): Promise<Connected> {
  const path = readWebhook(input.secrets["webhookUrl"] ?? "", io);
  if (path === null)
    throw new AppError("invalid", `webhookUrl: is not the address of a Discord webhook. ${WEBHOOK_PLACE}`);
  const webhook = await naming("webhookUrl", () => askWith(io, {}, { path }, Webhook));
  const { channel_id: channelId, guild_id: guildId = null } = webhook;
  return oneChannel({
    platformAccountId: channelId,
    name: input.name ?? webhook.name ?? channelId,
    profileUrl: urlOf(guildId, channelId),
    settings: { way: "webhook", guildId },
    // What else the address holds is not asked again.
    secrets: { webhookUrl: `https://discord.com/api${path}` },
  });
}

function urlOf(guildId: string | null, channelId: string): string | null {
  return guildId === null ? null : `https://discord.com/channels/${guildId}/${channelId}`;
}

/** Whether it may still be posted to, and how large its files may be. */
async function inspect(io: PlatformIo): Promise<Inspection> {
  if (isWebhook(io.account)) {
    await ask(io, { path: "" }, Webhook);
    return { problem: null };
  }
  await ask(io, { path: `/channels/${channelOf(io.account)}` }, Channel);
  const { premium_tier: tier = 0 } = await ask(io, { path: guildPath(io) }, Guild);
  return { limits: { maxBytes: maxBytesAt(tier) }, problem: null };
}

const CAPABILITIES = {
  media: { required: false, maxItems: MAX_FILES, accepts: acceptedUpTo(MAX_FILE_BYTES) },
  // Of what is sent, with the escapes that keep the text as it was written.
  caption: { maxLength: 2_000, unit: "weighted" },
  editPublished: { fields: ["caption", "format"] },
  analytics: { account: [...ACCOUNT_METRICS], post: ["likes", "comments"] },
  // By its nonce for minutes, then in the channel's history.
  reconciles: "list",
  knowsRepeats: true,
} satisfies StatedCapabilities;

/** Its question is shorter, and stays as it is. */
const OF_A_POLL = {
  caption: { maxLength: 300, unit: "characters" },
  editPublished: { fields: [] },
} as const satisfies Partial<StatedCapabilities>;

export default definePlatform({
  name: "discord",
  title: "Discord",
  docs: "https://docs.discord.com/developers/resources/message",
  baseUrl: "https://discord.com/api/v10",
  capabilities: CAPABILITIES,
  capabilitiesOf: (account, post) => ({
    ...CAPABILITIES,
    caption: captionAs<StatedCapabilities["caption"]>(CAPABILITIES.caption, post?.metadata.format),
    ...(post?.metadata.poll === undefined ? {} : OF_A_POLL),
    media: { ...CAPABILITIES.media, accepts: acceptedUpTo(maxBytesOf(account)) },
    ...(isWebhook(account)
      ? { reconciles: "blind", analytics: { ...CAPABILITIES.analytics, account: [] } }
      : {}),
  }),
  metadata: DiscordMetadata,
  connect: [BOT, WEBHOOK],
  choices: { tagIds: tagChoices, channel: channelChoices, mention: mentionChoices },
  check: checkPost,
  preview: (post) => {
    const { caption, metadata } = post;
    if (metadata.poll !== undefined)
      return { body: questionOf(post), counted: (text) => [plainMentions(text)] };
    const body = textSeen(caption ?? "", metadata.format);
    return metadata.format === "markdown"
      ? { body, counted: (text) => [contentOf(text, { metadata })] }
      : { body };
  },
  measure,
  inspect,
  publish,
  edit,
  insights,
  analytics,
  remove,
});

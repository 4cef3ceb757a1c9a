import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { Connected, ConnectInput, ConnectIo } from "../../ports/connect.ts";
import type { Choice, Inspection } from "../../ports/platform.ts";
import type { JsonObject, PlatformIo, PlatformRequest } from "../../ports/platform-io.ts";
import { baseOf, channelOf, classifySending, headersOf, readWebhook, signedBy } from "./api.ts";
import { Id } from "../../ports/platform-values.ts";
import { isWebhook, maxBytesAt } from "./metadata.ts";
import { naming } from "../shared/faults.ts";

const TOKEN_PLACE = "Copy it from the page Bot of your app on https://discord.com/developers/applications.";
const WEBHOOK_PLACE =
  "In Discord, open the channel's settings, Integrations, Webhooks, and copy the address of one.";

const CHANNEL_PLACE = "Give the channel's link (Copy link in the channel's menu) or its id.";

export const BOT_FIELDS = [
  { name: "botToken", label: "Bot token", help: TOKEN_PLACE, isRequired: true, isSecret: true },
  {
    name: "channel",
    label: "Channel",
    help: CHANNEL_PLACE,
    isRequired: true,
    isSecret: false,
  },
] as const;

export const BOT_INSTRUCTIONS =
  "A bot of yours posts into the channel. It costs nothing, needs no review, and takes some five minutes.";

export const BOT_STEPS: readonly string[] = [
  "Open https://discord.com/developers/applications and make a new application.",
  "On its page Bot, press Reset Token and copy the token.",
  'On its page Installation, add the scope "bot" under Guild Install, and there these permissions: View Channels, Send Messages, Send Messages in Threads, Attach Files, Embed Links, Read Message History. The last one lets Posthorn find a post again after a lost answer.',
  "Open the install link of that page and add the bot to your server.",
  "Copy the channel's link in Discord: Copy link in the channel's menu.",
];

export const WEBHOOK_FIELDS = [
  {
    name: "webhookUrl",
    label: "Webhook address",
    help: WEBHOOK_PLACE,
    isRequired: true,
    isSecret: true,
    isSeen: true,
  },
] as const;

export const WEBHOOK_INSTRUCTIONS =
  `${WEBHOOK_PLACE} It can post only into that channel. After a lost answer, Posthorn cannot ask Discord whether the post ` +
  `is there. A bot can.`;

const User = z.looseObject({ id: Id });
const Channel = z.looseObject({
  id: Id,
  type: z.int(),
  name: z.string().nullish(),
  guild_id: Id.optional(),
  available_tags: z.array(z.looseObject({ id: Id, name: z.string() })).optional(),
});
const Guild = z.looseObject({ name: z.string().optional(), premium_tier: z.int().optional() });
const Webhook = z.looseObject({
  id: Id,
  name: z.string().nullish(),
  channel_id: Id,
  guild_id: Id.nullish(),
});

/** Text, announcements, threads of both, forum, media. */
const POSTABLE: readonly number[] = [0, 5, 10, 11, 12, 15, 16];

export async function connectBot(input: ConnectInput, io: ConnectIo): Promise<Connected> {
  const botToken = (input.secrets["botToken"] ?? "").replace(/^Bot\s+/i, "");
  const given = input.secrets["channel"] ?? "";
  const channelId = /^(?:https:\/\/\S+\/channels\/\d+\/)?(\d{5,20})$/.exec(given)?.[1];
  if (channelId === undefined)
    throw new AppError("invalid", `channel: is not a Discord channel. ${CHANNEL_PLACE}`);
  if (!/^[\w.-]+$/.test(botToken))
    throw new AppError("invalid", `botToken: is not a bot's token. ${TOKEN_PLACE}`);
  const headers = { authorization: `Bot ${botToken}` };
  const ask = askWith(io, headers);
  const bot = await naming("botToken", () => ask("/users/@me", User));
  const channel = await naming("channel", () => ask(`/channels/${channelId}`, Channel));
  if (channel.guild_id === undefined || !POSTABLE.includes(channel.type)) {
    throw new AppError(
      "invalid",
      "channel: posts go into text, announcement, forum and media channels of a server. Give one of these.",
    );
  }
  const { guild_id: guildId } = channel;
  return target(input, {
    channelId,
    guildId,
    name: channel.name ?? null,
    settings: { way: "bot", guildId, kind: channel.type, botId: bot.id },
    secrets: { botToken, channel: channelId },
  });
}

export async function connectWebhook(input: ConnectInput, io: ConnectIo): Promise<Connected> {
  const path = readWebhook(input.secrets["webhookUrl"] ?? "", io);
  if (path === null)
    throw new AppError("invalid", `webhookUrl: is not the address of a Discord webhook. ${WEBHOOK_PLACE}`);
  const webhook = await naming("webhookUrl", () => askWith(io, {})(path, Webhook));
  const guildId = webhook.guild_id ?? null;
  return target(input, {
    channelId: webhook.channel_id,
    guildId,
    name: webhook.name ?? null,
    settings: { way: "webhook", guildId },
    // What else the address holds is not asked again.
    secrets: { webhookUrl: `https://discord.com/api${path}` },
  });
}

interface Found {
  readonly channelId: string;
  readonly guildId: string | null;
  readonly name: string | null;
  readonly settings: JsonObject;
  readonly secrets: Record<string, string>;
}

function target(input: ConnectInput, { channelId, guildId, name, settings, secrets }: Found): Connected {
  return {
    tokens: null,
    targets: [
      {
        platformAccountId: channelId,
        name: input.name ?? name ?? channelId,
        handle: null,
        profileUrl: guildId === null ? null : `https://discord.com/channels/${guildId}/${channelId}`,
        avatarUrl: null,
        settings,
        secrets,
      },
    ],
  };
}

/** Whether it may still be posted to, and how large its files may be. */
export async function inspect(io: PlatformIo): Promise<Inspection> {
  if (isWebhook(io.account)) {
    await read(io, { bot: "", webhook: "" }, Webhook);
    return { problem: null };
  }
  await read(io, `/channels/${channelOf(io.account)}`, Channel);
  const { premium_tier: tier = 0 } = await read(io, guildPath(io), Guild);
  return { limits: { maxBytes: maxBytesAt(tier) }, problem: null };
}

/** The tags of a forum. */
export async function tagChoices(search: string, io: PlatformIo): Promise<readonly Choice[]> {
  if (isWebhook(io.account)) return [];
  const { available_tags: tags = [] } = await read(io, `/channels/${channelOf(io.account)}`, Channel);
  return tags
    .map(({ id, name }) => ({ value: id, label: name }))
    .filter(({ label }) => label.toLowerCase().includes(search.toLowerCase()));
}

export function guildPath({ account }: Pick<PlatformIo, "account">): string {
  return `/guilds/${String(account.settings["guildId"])}`;
}

/** A path of the bot's alone, or one for each way. */
export function read<T>(
  io: PlatformIo,
  path: string | { bot: string; webhook: string },
  schema: z.ZodType<T>,
  classify = classifySending,
): Promise<T> {
  const sign = signedBy(io, typeof path === "string" ? { bot: path, webhook: "" } : path);
  return io.ask(
    {
      method: "GET",
      url: "",
      headers: headersOf(io),
      classify,
      ...(sign === undefined ? {} : { sign }),
    },
    schema,
  );
}

function askWith(io: ConnectIo, headers: Record<string, string>) {
  return <T>(path: string, schema: z.ZodType<T>): Promise<T> => {
    const request: PlatformRequest = {
      method: "GET",
      url: `${baseOf(io)}${path}`,
      headers: { ...headersOf(io), ...headers },
      classify: classifySending,
    };
    return io.ask(request, schema);
  };
}

import * as z from "zod";
import { parseUrl } from "../../domain/parse-url.ts";
import { SECOND } from "../../domain/time.ts";
import type { ConnectIo } from "../../ports/connect.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import { byCode, type FaultRule, type FaultTable, type Match, refusedField } from "../shared/faults.ts";
import { restApi } from "../shared/rest-api.ts";
import { isWebhook } from "./metadata.ts";

const API = "https://discord.com/api/v10";

type Settings = Pick<ConnectIo, "setting">;

function baseOf({ setting }: Settings): string {
  return setting("BASE_URL") ?? API;
}

export const { ask, askOrGone, askWith, send, sendOrGone } = restApi({
  base: API,
  // Without it, bots are turned away (https://docs.discord.com/developers/reference#user-agent).
  headers: ({ publicUrl }) => ({ "user-agent": `DiscordBot (${publicUrl}, 1)` }),
  // A webhook's address is its secret: it goes nowhere but into the request.
  sign: ({ botToken = "", webhookUrl = "" }, io, { path }) =>
    io.account !== undefined && isWebhook(io.account)
      ? { url: `${baseOf(io)}${readWebhook(webhookUrl, io) ?? ""}${path}` }
      : { headers: { authorization: `Bot ${botToken}` } },
  // Calls that bring rules bring all of them: the same code means another thing there.
  faults: (_io, { rules }) => ({ title: "Discord", codesOf, rules: rules === undefined ? SENDING : [] }),
});

/** Where a message is, for the way that the account is connected: a webhook is a channel itself. */
export function pathFor({ account }: Pick<PlatformIo, "account">, bot: string, webhook = ""): string {
  return isWebhook(account) ? webhook : bot;
}

/** Where a message is. */
export const SentMessage = z.object({
  id: z.string(),
  channelId: z.string(),
  guildId: z.string().nullable(),
});
export type SentMessage = z.infer<typeof SentMessage>;

export const SEND_STEP = "send";

/** A webhook's id and token out of its address; null where it is none. */
export function readWebhook(text: string, io: Settings): string | null {
  const url = parseUrl(text);
  if (url === null) return null;
  const { hostname, pathname } = url;
  const own = new URL(baseOf(io)).hostname;
  const isDiscord = hostname === own || /^(\w+\.)?discord(app)?\.com$/.test(hostname);
  const [, id, token] = /^\/api(?:\/v\d+)?\/webhooks\/(\d+)\/([\w-]+)\/?$/.exec(pathname) ?? [];
  return isDiscord && id !== undefined && token !== undefined ? `/webhooks/${id}/${token}` : null;
}

export function guildPath({ account }: Pick<PlatformIo, "account">): string {
  return `/guilds/${String(account.settings["guildId"])}`;
}

const Refusal = z.looseObject({ code: z.int().optional(), retry_after: z.number().min(0).optional() });

const codesOf: FaultTable["codesOf"] = ({ status, json }) => {
  const { data } = Refusal.safeParse(json);
  return status < 300 || data?.code === undefined || data.code === 0 ? [] : [String(data.code)];
};

const retryAfterMs = ({ json }: { readonly json: unknown }): number | null => {
  const seconds = Refusal.safeParse(json).data?.retry_after;
  return seconds === undefined ? null : Math.ceil(seconds * SECOND);
};

const NOT_THERE = "The message is not in the channel any more.";
const TOO_LARGE = "The files are larger than Discord takes in this server. Give smaller ones.";

/** https://docs.discord.com/developers/topics/opcodes-and-status-codes#json */
const RULES: readonly FaultRule[] = [
  { status: 429, kind: "rate", message: "Discord asks to slow down.", retryAfterMs },
  ...byCode({ kind: "rate", retryAfterMs }, { "20016 20028 20029": "Discord asks to slow down." }),
  ...byCode("auth", {
    "10015 50027":
      "The webhook no longer exists, or its address is wrong. Make one in the channel's settings.",
  }),
  {
    status: 401,
    kind: "auth",
    message:
      "Discord does not accept the bot token. It was reset. Copy the new one from the developer portal.",
  },
  ...byCode("rejected", { 40005: TOO_LARGE }),
  { status: 413, kind: "rejected", message: TOO_LARGE },
  ...refusedField("caption", { 50006: "Discord would show nothing. Write some text." }),
  ...refusedField("metadata.tagIds", { 40067: "the forum asks for a tag. Give one of its tags." }),
  ...refusedField("metadata.title", {
    220001: "the webhook belongs to a forum, whose posts need one. Give it, or threadId.",
    220003: "only a post in a forum or media channel has one. Leave it out.",
  }),
  ...refusedField("metadata.threadId", {
    "50083 160005": "the thread is locked or archived. Give another, or leave it out.",
  }),
  ...byCode("rejected", {
    "200000 200001 240000":
      "The server's AutoMod, or Discord, refused this text. Change it, then send the post again.",
    "50035 50109": "Discord does not take the post as it is. Change it, then send the post again.",
    10008: NOT_THERE,
  }),
];

/** Where the bot cannot get in: a person must let it in. */
export const SENDING: readonly FaultRule[] = [
  ...byCode("auth", {
    "10003 10004 50001 50013":
      "The bot may not post in the channel, or it is gone. Let it view the channel, send messages and attach files.",
  }),
  ...RULES,
];

const CHANGING: readonly FaultRule[] = [
  ...byCode("rejected", {
    "50001 50005 50013": "Discord does not let this channel's connection do that. Do it in the app.",
  }),
  ...RULES,
];

/** For sending into a thread that a post names. */
export const INTO_THREAD: readonly FaultRule[] = [
  ...refusedField("metadata.threadId", {
    10003: "there is no such thread in the channel. Give another, or leave it out.",
  }),
  ...SENDING,
];

/** A poll needs a permission of its own, whose lack is not in the way of other posts. */
export const A_POLL: readonly FaultRule[] = refusedField("metadata.poll", {
  50013:
    "the bot may not send polls in the channel. Let it send messages and polls there, or post without one.",
});

/** For sending into another channel than the account's: that one is not in the way of other posts. */
export const INTO_CHANNEL: readonly FaultRule[] = [
  ...refusedField("metadata.channel", {
    "10003 10004 50001 50013":
      "the bot may not post in this channel, or it is gone. Let the bot view it and send messages there, or give another.",
  }),
  ...RULES,
];

/** For what is done with a message that was sent; a thread that is gone took it along. */
export const CHANGE: readonly FaultRule[] = [
  ...byCode("rejected", { "10003 10008": NOT_THERE }),
  ...CHANGING,
];

/** Where it is to be gone: no message, no thread. */
export const GONE: readonly Match[] = [{ code: ["10003", "10008"] }];

/** Publishing to followers: what they have already is no error (40033). */
export const CROSSPOST: readonly FaultRule[] = [{ code: "40033", kind: "ok" }, ...CHANGING];

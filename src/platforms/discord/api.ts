import * as z from "zod";
import { parseUrl } from "../../domain/parse-url.ts";
import { SECOND } from "../../domain/time.ts";
import type { ConnectIo, Secrets } from "../../ports/connect.ts";
import type { PlatformAccount, PlatformIo, Signed, SignedRequest } from "../../ports/platform-io.ts";
import { type FaultRule, faultsBy, type FaultTable } from "../shared/faults.ts";
import { isWebhook } from "./metadata.ts";

const API = "https://discord.com/api/v10";

type Address = Pick<ConnectIo, "setting" | "publicUrl">;

export function baseOf({ setting }: Pick<ConnectIo, "setting">): string {
  return setting("BASE_URL") ?? API;
}

/** Without it, bots are turned away (https://docs.discord.com/developers/reference#user-agent). */
export function headersOf({ publicUrl }: Address): Record<string, string> {
  return { "user-agent": `DiscordBot (${publicUrl}, 1)` };
}

/** Where a message is. */
export const Sent = z.object({ id: z.string(), channelId: z.string(), guildId: z.string().nullable() });
export type Sent = z.infer<typeof Sent>;

export const SEND_STEP = "send";

/** A webhook's id and token out of its address; null where it is none. */
export function readWebhook(text: string, { setting }: Pick<ConnectIo, "setting">): string | null {
  const url = parseUrl(text);
  if (url === null) return null;
  const { hostname, pathname } = url;
  const own = new URL(baseOf({ setting })).hostname;
  const isDiscord = hostname === own || /^(\w+\.)?discord(app)?\.com$/.test(hostname);
  const [, id, token] = /^\/api(?:\/v\d+)?\/webhooks\/(\d+)\/([\w-]+)\/?$/.exec(pathname) ?? [];
  return isDiscord && id !== undefined && token !== undefined ? `/webhooks/${id}/${token}` : null;
}

/** Of the account, by the way that it is connected: a bot's paths need the channel, a webhook is one itself. */
export function signedBy(io: PlatformIo, path: { bot: string; webhook: string }): SignedRequest["sign"] {
  if (!isWebhook(io.account))
    return ({ botToken = "" }) => ({
      url: `${baseOf(io)}${path.bot}`,
      headers: { authorization: `Bot ${botToken}` },
    });
  // The address is the secret: it goes nowhere but into the request.
  return ({ webhookUrl = "" }: Secrets): Signed => ({
    url: `${baseOf(io)}${readWebhook(webhookUrl, io) ?? ""}${path.webhook}`,
  });
}

export function channelOf({ platformAccountId }: PlatformAccount): string {
  return platformAccountId ?? "";
}

const Refusal = z.looseObject({ code: z.int().optional(), retry_after: z.number().min(0).optional() });

const codesOf: FaultTable["codesOf"] = ({ status, json }) => {
  const { data } = Refusal.safeParse(json);
  return status < 300 || data?.code === undefined || data.code === 0 ? [] : [data.code];
};

const retryAfterMs = ({ json }: { readonly json: unknown }): number | null => {
  const seconds = Refusal.safeParse(json).data?.retry_after;
  return seconds === undefined ? null : Math.ceil(seconds * SECOND);
};

const SLOW = "Discord asks to slow down.";

const GONE: FaultRule = {
  code: 10008,
  kind: "rejected",
  message: "The message is not in the channel any more.",
};

/** https://docs.discord.com/developers/topics/opcodes-and-status-codes#json */
const RULES: readonly FaultRule[] = [
  { status: 429, kind: "rate", message: SLOW, retryAfterMs },
  { code: [20016, 20028, 20029], kind: "rate", message: SLOW, retryAfterMs },
  {
    code: [10015, 50027],
    kind: "auth",
    message: "The webhook no longer exists, or its address is wrong. Make one in the channel's settings.",
  },
  {
    status: 401,
    kind: "auth",
    message:
      "Discord does not accept the bot token. It was reset. Copy the new one from the developer portal.",
  },
  {
    code: [40005],
    kind: "rejected",
    message: "The files are larger than Discord takes in this server. Give smaller ones.",
  },
  {
    status: 413,
    kind: "rejected",
    message: "The files are larger than Discord takes in this server. Give smaller ones.",
  },
  {
    code: 50006,
    kind: "rejected",
    field: "caption",
    message: "Discord would show nothing. Write some text.",
  },
  {
    code: 40067,
    kind: "rejected",
    field: "metadata.tagIds",
    message: "the forum asks for a tag. Give one of its tags.",
  },
  {
    code: 220001,
    kind: "rejected",
    field: "metadata.title",
    message: "the webhook belongs to a forum, whose posts need one. Give it, or threadId.",
  },
  {
    code: 220003,
    kind: "rejected",
    field: "metadata.title",
    message: "only a post in a forum or media channel has one. Leave it out.",
  },
  {
    code: [50083, 160005],
    kind: "rejected",
    field: "metadata.threadId",
    message: "the thread is locked or archived. Give another, or leave it out.",
  },
  {
    code: [200000, 200001, 240000],
    kind: "rejected",
    message: "The server's AutoMod, or Discord, refused this text. Change it, then send the post again.",
  },
  {
    code: [50035, 50109],
    kind: "rejected",
    message: "Discord does not take the post as it is. Change it, then send the post again.",
  },
  GONE,
];

/** Where the bot cannot get in: it is mended by a person. */
const CLOSED: FaultRule = {
  code: [10003, 10004, 50001, 50013],
  kind: "auth",
  message:
    "The bot may not post in the channel, or it is gone. Let it view the channel, send messages and attach files.",
};

const NOT_ALLOWED: FaultRule = {
  code: [50001, 50005, 50013],
  kind: "rejected",
  message: "Discord does not let this channel's connection do that. Do it in the app.",
};

const TITLE = "Discord";

export const classifySending = faultsBy({ title: TITLE, codesOf, rules: [CLOSED, ...RULES] });

/** Into a thread that a post names. */
export const classifyThread = faultsBy({
  title: TITLE,
  codesOf,
  rules: [
    {
      code: 10003,
      kind: "rejected",
      field: "metadata.threadId",
      message: "there is no such thread in the channel. Give another, or leave it out.",
    },
    CLOSED,
    ...RULES,
  ],
});

/** For what is done with a message that was sent; a thread that is gone took it along. */
export const classifyChange = faultsBy({
  title: TITLE,
  codesOf,
  rules: [{ ...GONE, code: [10003, 10008] }, NOT_ALLOWED, ...RULES],
});

/** Where it is to be gone: no message, no thread. */
export const classifyRemoval = faultsBy({
  title: TITLE,
  codesOf,
  rules: [{ code: [10003, 10008], kind: "ok" }, NOT_ALLOWED, ...RULES],
});

/** Publishing to followers: what they have already is no error (40033). */
export const classifyCrosspost = faultsBy({
  title: TITLE,
  codesOf,
  rules: [{ code: 40033, kind: "ok" }, NOT_ALLOWED, ...RULES],
});

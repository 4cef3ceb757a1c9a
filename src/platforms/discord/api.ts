import * as z from "zod";
import { parseUrl } from "../../domain/parse-url.ts";
import type { ConnectIo, Secrets } from "../../ports/connect.ts";
import type { PlatformAccount, PlatformIo, Signed, SignedRequest } from "../../ports/platform-io.ts";
import { isWebhook } from "./metadata.ts";

const API = "https://discord.com/api/v10";

type Place = Pick<ConnectIo, "setting" | "publicUrl">;

export function baseOf({ setting }: Pick<ConnectIo, "setting">): string {
  return setting("BASE_URL") ?? API;
}

/** Without it, bots are turned away (https://docs.discord.com/developers/reference#user-agent). */
export function headersOf({ publicUrl }: Place): Record<string, string> {
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

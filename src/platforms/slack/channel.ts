import * as z from "zod";
import type { PlatformAccount } from "../../ports/platform-io.ts";

const Settings = z.looseObject({ channelId: z.string(), teamName: z.string(), teamUrl: z.string() });

/** What connecting stored of the channel. */
export function channelOf(account: PlatformAccount): z.infer<typeof Settings> {
  return Settings.parse(account.settings);
}

/** As Slack itself makes a message's address; asked for, it may tell another. */
export function addressOf(account: PlatformAccount, ts: string): string {
  const { channelId, teamUrl } = channelOf(account);
  return `${teamUrl}/archives/${channelId}/p${ts.replace(".", "")}`;
}

export function idOf(account: PlatformAccount, ts: string): string {
  return `${channelOf(account).channelId}:${ts}`;
}

/** The channel and the moment that name a message; null for an id that is none of Slack's. */
export function placeOf(platformPostId: string | null): { channel: string; ts: string } | null {
  const [, channel, ts] = /^(\w+):(\d+\.\d+)$/.exec(platformPostId ?? "") ?? [];
  return channel === undefined || ts === undefined ? null : { channel, ts };
}

export function nameOf(channel: string, team: string): string {
  return `#${channel} (${team})`;
}

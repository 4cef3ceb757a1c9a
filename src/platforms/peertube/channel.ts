import * as z from "zod";
import { parseUrl } from "../../domain/parse-url.ts";
import type { AnalyticsDay, Choice, Inspection, PlatformAnalytics } from "../../ports/platform.ts";
import type { ConnectIo } from "../../ports/connect.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import { serverOf } from "../shared/servers.ts";
import { askOwn, askServer } from "./api.ts";

/** Path of old servers, address of new ones. */
const Avatar = z.looseObject({ fileUrl: z.string().optional(), path: z.string().optional() });

const RawChannel = z.looseObject({
  id: z.int(),
  name: z.string().min(1),
  displayName: z.string().catch(""),
  avatars: z.array(Avatar).catch([]),
});

const RawUser = z.looseObject({
  username: z.string().min(1),
  videoQuota: z.number().catch(-1),
  videoQuotaDaily: z.number().catch(-1),
  videoChannels: z.array(RawChannel).catch([]),
});

export type Channel = Pick<z.infer<typeof RawChannel>, "id" | "name" | "displayName"> & {
  readonly avatarUrl: string | null;
};
export interface User {
  readonly username: string;
  readonly videoChannels: readonly Channel[];
  /** How many bytes one file may have at most; null where nobody counts. */
  readonly maxBytes: number | null;
}

const ME = { call: { path: "users/me" }, schema: RawUser } as const;

/** Whose token it is, with all channels. */
export async function readUser(
  io: Pick<ConnectIo, "ask">,
  at: { readonly server: string; readonly token: string },
): Promise<User> {
  return userOf(at.server, await askServer(io, at, ME));
}

function userOf(server: string, raw: z.infer<typeof RawUser>): User {
  const quotas = [raw.videoQuota, raw.videoQuotaDaily].filter((bytes) => bytes >= 0);
  return {
    username: raw.username,
    maxBytes: quotas.length === 0 ? null : Math.min(...quotas),
    videoChannels: raw.videoChannels.map(({ id, name, displayName, avatars }) => {
      const { fileUrl, path } = avatars.at(-1) ?? {};
      const avatar = fileUrl ?? path;
      const avatarUrl = avatar === undefined ? null : (parseUrl(avatar, server)?.href ?? null);
      return { id, name, displayName, avatarUrl };
    }),
  };
}

const Config = z.looseObject({
  video: z.looseObject({ file: z.looseObject({ extensions: z.array(z.string()) }) }),
});

/** Who the channel is now, and which files its server takes. */
export async function inspect(io: PlatformIo): Promise<Inspection> {
  const server = serverOf(io);
  const { maxBytes, videoChannels } = userOf(server, await askOwn(io, ME.call, ME.schema));
  const channel = videoChannels.find(({ id }) => String(id) === io.account.platformAccountId);
  if (channel === undefined)
    return { problem: "The account no longer has this channel. Connect again and choose another one." };
  const { video } = await askOwn(io, { path: "config" }, Config);
  const { name, displayName, avatarUrl } = channel;
  return {
    name: displayName === "" ? name : displayName,
    handle: `${name}@${new URL(server).host}`,
    avatarUrl,
    limits: { extensions: video.file.extensions, maxBytes },
    problem:
      maxBytes === 0 ? "The server gives this account no space for videos. Ask its administrator." : null,
  };
}

/** Lists of a server are objects: names by their numbers. */
const Names = z.record(z.string(), z.string());

const choicesOf =
  (path: string) =>
  async (search: string, io: PlatformIo): Promise<Choice[]> => {
    const all = Object.entries(await askOwn(io, { path }, Names));
    const wanted = search.toLowerCase();
    return all
      .filter(([value, label]) => value === search || label.toLowerCase().includes(wanted))
      .map(([value, label]) => ({ value, label }));
  };

export const CHOICES = {
  categoryId: choicesOf("videos/categories"),
  licenseId: choicesOf("videos/licences"),
} as const;

const Stats = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.int(),
      followersCount: z.int().optional(),
      viewsPerDay: z.array(z.looseObject({ date: z.string(), views: z.number() })).optional(),
    }),
  ),
});

const LAST_DAYS = "PeerTube gives views only of the last 30 days.";

/** Followers as they are now, and views by day. */
export async function analytics(
  { from, to }: { readonly from: string; readonly to: string },
  io: PlatformIo,
): Promise<PlatformAnalytics> {
  const path = `accounts/${encodeURIComponent(String(io.account.settings["accountName"] ?? ""))}/video-channels`;
  const { data } = await askOwn(io, { path, query: { withStats: true, count: 100 } }, Stats);
  const channel = data.find(({ id }) => String(id) === io.account.platformAccountId);
  const days = (channel?.viewsPerDay ?? [])
    .map(({ date, views }): AnalyticsDay => ({ date: date.slice(0, 10), metrics: { views } }))
    .filter(({ date }) => date >= from && date <= to);
  const views = days.reduce((sum, { metrics }) => sum + (metrics["views"] ?? 0), 0);
  const followers = channel?.followersCount;
  return {
    totals: { ...(days.length === 0 ? {} : { views }), ...(followers === undefined ? {} : { followers }) },
    days,
    unavailable: [
      ...(days.length === 0 ? [{ metric: "views", reason: LAST_DAYS }] : []),
      ...(followers === undefined
        ? [{ metric: "followers", reason: "The server does not give this number." }]
        : []),
    ],
  };
}

import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { PlatformAnalytics, PostInsights } from "../../ports/platform.ts";
import { PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { onlyFollowers } from "../shared/live.ts";
import { ask, CHANGE, channelOf, guildPath, pathFor, REMOVAL, send, SEND_STEP, Sent } from "./api.ts";
import { type DiscordPost, escapeMarkdown, isForum, isWebhook } from "./metadata.ts";
import { NO_MENTIONS } from "./publish.ts";

/** The message and its channel, which is a thread where it was posted into one. */
function messageOf(post: DiscordPost, io: PlatformIo): { id: string; channelId: string } {
  const { data } = Sent.safeParse(io.resultOf(SEND_STEP));
  const [, channel] = /\/channels\/\d+\/(\d+)\/\d+$/.exec(post.platformUrl ?? "") ?? [];
  const id = post.platformPostId ?? data?.id;
  if (id === undefined)
    throw new AppError("conflict", "Discord gave no id for this message. Change it in the app.");
  return { id, channelId: data?.channelId ?? channel ?? post.metadata.threadId ?? channelOf(io.account) };
}

function pathOf(post: DiscordPost, io: PlatformIo): string {
  const { id, channelId } = messageOf(post, io);
  const thread = channelId === channelOf(io.account) ? "" : `?thread_id=${channelId}`;
  return pathFor(io, `/channels/${channelId}/messages/${id}`, `/messages/${id}${thread}`);
}

/** Files that are not named stay. */
export async function edit(post: DiscordPost, _changed: readonly string[], io: PublishIo): Promise<object> {
  const json = { content: escapeMarkdown(post.caption ?? ""), ...NO_MENTIONS };
  await send(io, { method: "PATCH", path: pathOf(post, io), json, isIdempotent: true, rules: CHANGE });
  return {};
}

/** A post in a forum goes with its thread, where it is the bot's. */
export async function remove(post: DiscordPost, io: PlatformIo): Promise<void> {
  const { id, channelId } = messageOf(post, io);
  const isThread = isForum(io.account) && id === channelId;
  const path = isThread ? pathFor(io, `/channels/${id}`) : pathOf(post, io);
  await send(io, { method: "DELETE", path, isIdempotent: true, rules: REMOVAL });
}

const Message = z.looseObject({
  reactions: z.array(z.looseObject({ count: z.int().min(0).catch(0) })).optional(),
  thread: z.looseObject({ message_count: z.int().min(0).optional() }).optional(),
});

/** Reactions, and the messages of its thread: Discord counts nothing else. */
export async function insights(post: DiscordPost, io: PlatformIo): Promise<PostInsights> {
  try {
    const { reactions = [], thread } = await ask(io, { path: pathOf(post, io), rules: CHANGE }, Message);
    const likes = reactions.reduce((sum, { count }) => sum + count, 0);
    const comments = thread?.message_count;
    const metrics = { likes, ...(comments === undefined ? {} : { comments }) };
    return { state: "live", visibility: null, metrics };
  } catch (error) {
    if (!(error instanceof PlatformFault) || error.httpStatus !== 404 || error.kind !== "rejected")
      throw error;
    return { state: "removed", visibility: null, metrics: {} };
  }
}

export const ACCOUNT_METRICS = ["followers"] as const;

const Guild = z.looseObject({ approximate_member_count: z.int().min(0).optional() });

/** Members of the server, as they are now. */
export async function analytics(_range: object, io: PlatformIo): Promise<PlatformAnalytics> {
  if (isWebhook(io.account)) return onlyFollowers("Discord", undefined);
  const guild = await ask(io, { path: guildPath(io), query: { with_counts: true } }, Guild);
  return onlyFollowers("Discord", guild.approximate_member_count);
}

import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { AnyPlatform, PlatformAnalytics } from "../../ports/platform.ts";
import { PlatformFault, type PlatformIo, type PlatformRequest } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { channelOf, classifyChange, classifyRemoval, headersOf, SEND_STEP, Sent, signedBy } from "./api.ts";
import { guildPath, read } from "./connect.ts";
import { type DiscordPost, escapeMarkdown, isForum, isWebhook } from "./metadata.ts";
import { NO_MENTIONS } from "./publish.ts";

/** The message and its channel, which is a thread where it was posted into one. */
function placeOf(post: DiscordPost, io: PlatformIo): { id: string; channelId: string } {
  const { data } = Sent.safeParse(io.resultOf(SEND_STEP));
  const [, channel] = /\/channels\/\d+\/(\d+)\/\d+$/.exec(post.platformUrl ?? "") ?? [];
  const id = post.platformPostId ?? data?.id;
  if (id === undefined)
    throw new AppError("conflict", "Discord gave no id for this message. Change it in the app.");
  return { id, channelId: data?.channelId ?? channel ?? post.metadata.threadId ?? channelOf(io.account) };
}

function messagePaths(post: DiscordPost, io: PlatformIo): { bot: string; webhook: string } {
  const { id, channelId } = placeOf(post, io);
  const thread = channelId === channelOf(io.account) ? "" : `?thread_id=${channelId}`;
  return { bot: `/channels/${channelId}/messages/${id}`, webhook: `/messages/${id}${thread}` };
}

async function change(
  io: PlatformIo,
  paths: { bot: string; webhook: string },
  request: Pick<PlatformRequest, "method" | "json" | "classify">,
): Promise<void> {
  const sign = signedBy(io, paths);
  await io.request({
    url: "",
    headers: headersOf(io),
    isIdempotent: true,
    ...request,
    ...(sign === undefined ? {} : { sign }),
  });
}

/** Files that are not named stay. */
export async function edit(post: DiscordPost, _changed: readonly string[], io: PublishIo): Promise<object> {
  const json = { content: escapeMarkdown(post.caption ?? ""), ...NO_MENTIONS };
  await change(io, messagePaths(post, io), { method: "PATCH", json, classify: classifyChange });
  return {};
}

/** A post in a forum goes with its thread, where it is the bot's. */
export async function remove(post: DiscordPost, io: PlatformIo): Promise<void> {
  const { id, channelId } = placeOf(post, io);
  const isThread = isForum(io.account) && id === channelId;
  const paths = isThread ? { bot: `/channels/${id}`, webhook: "" } : messagePaths(post, io);
  await change(io, paths, { method: "DELETE", classify: classifyRemoval });
}

const Message = z.looseObject({
  reactions: z.array(z.looseObject({ count: z.int().min(0).catch(0) })).optional(),
  thread: z.looseObject({ message_count: z.int().min(0).optional() }).optional(),
});

type Insights = ReturnType<NonNullable<AnyPlatform["insights"]>>;

/** Reactions, and the messages of its thread: Discord counts nothing else. */
export async function insights(post: DiscordPost, io: PlatformIo): Insights {
  try {
    const { reactions = [], thread } = await read(io, messagePaths(post, io), Message, classifyChange);
    const likes = reactions.reduce((sum, { count }) => sum + count, 0);
    const comments = thread?.message_count;
    return {
      state: "live",
      visibility: null,
      metrics: { likes, ...(comments === undefined ? {} : { comments }) },
    };
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
  const reason = "Discord does not count this.";
  const unavailable = ["views", "impressions", "reach", "clicks"].map((metric) => ({ metric, reason }));
  if (isWebhook(io.account)) return { totals: {}, days: [], unavailable };
  const { approximate_member_count: followers } = await read(io, `${guildPath(io)}?with_counts=true`, Guild);
  return { totals: followers === undefined ? {} : { followers }, days: [], unavailable };
}

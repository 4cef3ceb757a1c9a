import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { PlatformAnalytics } from "../../ports/platform.ts";
import type { PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { callChat, change, takeAway } from "./api.ts";
import { captionFields, COVER_PART, looksOf, sentOf, textFields, toCover } from "./publish.ts";
import { urlsOf, type TelegramPost } from "./metadata.ts";

/** The message that carries the text, in the chat that it was sent to. */
function messageOf({ platformPostId }: TelegramPost): { chat_id: number; message_id: number } {
  const [, chat, message] = /^(-?\d+):(\d+)/.exec(platformPostId ?? "") ?? [];
  if (chat === undefined || message === undefined)
    throw new AppError(
      "conflict",
      "Telegram gave no id for this message, so Posthorn cannot change it. Change it in the app.",
    );
  return { chat_id: Number(chat), message_id: Number(message) };
}

export async function edit(post: TelegramPost, _changed: readonly string[], io: PublishIo): Promise<object> {
  const message = messageOf(post);
  if (urlsOf(post).length === 0) {
    await change(io, { method: "editMessageText", fields: { ...message, ...textFields(post) } });
    return {};
  }
  const { captionAbove } = post.metadata;
  const above = captionAbove === undefined ? {} : { show_caption_above_media: captionAbove };
  const fields = { ...message, ...captionFields(post), ...above };
  await change(io, { method: "editMessageCaption", fields });
  return {};
}

/** Sets the same video again with another cover; what is not told anew would be lost. */
export async function setThumbnail(post: TelegramPost, thumbnailUrl: string, io: PublishIo): Promise<void> {
  const message = messageOf(post);
  const fileId = sentOf(io)[0]?.fileId ?? null;
  if (fileId === null)
    throw new AppError("conflict", "Only a video has a cover on Telegram, and this post shows none.");
  const cover = await toCover(thumbnailUrl, io);
  const media = {
    type: "video",
    media: fileId,
    cover: `attach://${COVER_PART}`,
    ...captionFields(post),
    supports_streaming: true,
    ...looksOf("video", post),
  };
  await change(io, { method: "editMessageMedia", fields: { ...message, media }, files: [cover] });
}

/** Each of its messages. */
export async function remove(post: TelegramPost, io: PlatformIo): Promise<void> {
  const first = messageOf(post);
  const sent = sentOf(io).flatMap(({ chatId, messageIds }) =>
    messageIds.map((id) => ({ chat_id: Number(chatId), message_id: id })),
  );
  const others = sent.filter(({ message_id: id }) => id !== 0 && id !== first.message_id);
  for (const fields of [first, ...others]) await takeAway(io, { method: "deleteMessage", fields });
}

const UNCOUNTED = ["views", "impressions", "reach", "likes", "comments", "shares"].map((metric) => ({
  metric,
  reason: "Telegram does not give bots this number.",
}));

export const ACCOUNT_METRICS = ["followers"] as const;

/** Members as they are now. */
export async function analytics(_range: object, io: PlatformIo): Promise<PlatformAnalytics> {
  const call = { method: "getChatMemberCount", fields: {}, isIdempotent: true };
  const followers = await callChat(io, call, z.int().min(0));
  return { totals: { followers }, days: [], unavailable: UNCOUNTED };
}

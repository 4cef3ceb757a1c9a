import * as z from "zod";
import { MEDIA_KINDS } from "../../domain/accounts/account.ts";
import type { AcceptedMedia } from "../../domain/accounts/capabilities.ts";
import { AppError } from "../../domain/errors.ts";
import { HOUR, SECOND } from "../../domain/time.ts";
import type { ImageLimits, MediaItem } from "../../ports/media.ts";
import type { Json, JsonObject, PlatformIo } from "../../ports/platform-io.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import type { LiveAt, PublishIo } from "../../ports/publish-io.ts";
import type { FormPart } from "../../ports/request-body.ts";
import { ACCEPTED, calledOf, fitFile, inOrder, toPart } from "../shared/media.ts";
import { blind } from "../shared/reconcile.ts";
import { type Call, callChat, chatOf } from "./api.ts";
import {
  ALBUM_ITEMS,
  formatted,
  MAX_ITEMS,
  mixProblem,
  NO_COVER,
  type TelegramPost,
  urlsOf,
} from "./metadata.ts";

/** What became of one sending. */
const SentBatch = z.object({
  chatId: z.string(),
  username: z.string().nullable(),
  /** Of each message, in order; 0 where Telegram sends it later by itself and does not tell. */
  messageIds: z.array(z.int()),
  /** Of a video, for what is done with it later. */
  fileId: z.string().nullable(),
});
type SentBatch = z.infer<typeof SentBatch>;

const FIRST_STEP = "send";

/** The messages of one album, or one message; what an album does not hold follows in further ones. */
export async function publish(post: TelegramPost, io: PublishIo): Promise<PublishOutcome> {
  if (!io.isDue) return { state: "prepared" };
  const batches = batchesOf(post);
  const sent = await sendBatch(post, io, { step: FIRST_STEP, at: 0 });
  for (const at of batches.keys()) {
    if (at === 0) continue;
    await io.followUp(`The message with the media after the first ${at * ALBUM_ITEMS}`, async () => {
      await sendBatch(post, io, { step: stepOf(at), at });
    });
  }
  return { state: "live", ...liveAt(sent) };
}

/** Every message of a post that this run sent, the first one first. */
export function sentOf(io: Pick<PlatformIo, "resultOf">): SentBatch[] {
  const sent: SentBatch[] = [];
  for (let at = 0; ; at += 1) {
    const { data } = SentBatch.safeParse(io.resultOf(stepOf(at)));
    if (data === undefined) return sent;
    sent.push(data);
  }
}

function stepOf(at: number): string {
  return at === 0 ? FIRST_STEP : `${FIRST_STEP} ${at + 1}`;
}

/** What goes out together; a post without media is one batch of nothing. */
function batchesOf(post: TelegramPost): string[][] {
  const urls = urlsOf(post);
  const count = Math.max(1, Math.ceil(urls.length / ALBUM_ITEMS));
  return Array.from({ length: count }, (_, at) => urls.slice(at * ALBUM_ITEMS, (at + 1) * ALBUM_ITEMS));
}

async function sendBatch(
  post: TelegramPost,
  io: PublishIo,
  { step, at }: { readonly step: string; readonly at: number },
): Promise<SentBatch> {
  // What went out already needs its media no more.
  const call = io.resultOf(step) === null ? await toCall(post, io, at) : null;
  const result = await io.effect<Json>({
    step,
    request: {
      caption: post.caption,
      media: batchesOf(post)[at] ?? [],
      metadata: z.json().parse(post.metadata),
    },
    send: async () => send(call ?? (await toCall(post, io, at)), io),
    reconcile: blind("Telegram"),
    ...(at === 0 ? { live: (done: Json) => liveAt(SentBatch.parse(done)) } : {}),
  });
  return SentBatch.parse(result);
}

async function toCall(post: TelegramPost, io: PublishIo, at: number): Promise<Call> {
  const all = await openAll(post, io);
  const { metadata } = post;
  const how = { asDocument: metadata.asDocument === true, isAlbum: all.length > 1 };
  const batch = all.slice(at * ALBUM_ITEMS, (at + 1) * ALBUM_ITEMS);
  const sendables = await inOrder(batch, (item) => toSendable(item, how, io));
  const { thumbnailUrl } = metadata;
  const cover = at > 0 || thumbnailUrl === undefined ? null : await toCover(thumbnailUrl, io);
  const [only] = sendables;
  if (only === undefined) return textCall(post);
  const caption = at === 0 && (post.caption ?? "") !== "" ? captionFields(post) : {};
  return sendables.length === 1
    ? mediaCall(post, { only, cover, caption })
    : albumCall(post, { sendables, cover, caption });
}

function textCall(post: TelegramPost): Call {
  const { poll } = post.metadata;
  if (poll !== undefined) return pollCall(post, poll);
  return { method: "sendMessage", fields: { ...textFields(post), ...optionsOf(post) } };
}

/** Channels take anonymous ones alone, which is the default. */
function pollCall(
  post: TelegramPost,
  { options, hours, multiple }: NonNullable<TelegramPost["metadata"]["poll"]>,
): Call {
  const fields = {
    question: post.caption ?? "",
    options: options.map((text) => ({ text })),
    open_period: Math.round((hours * HOUR) / SECOND),
    allows_multiple_answers: multiple === true,
    ...optionsOf(post),
  };
  return { method: "sendPoll", fields };
}

/** A link that stands alone is its own text. */
export function textOf({
  caption,
  mediaUrl,
  metadata,
}: Pick<TelegramPost, "caption" | "mediaUrl" | "metadata">): string {
  return caption ?? (mediaUrl === "" ? metadata.link : undefined) ?? "";
}

/** Entities instead of a parse mode: nothing has to be escaped. */
export function textFields(post: TelegramPost): JsonObject {
  const { link, linkPreview } = post.metadata;
  const { text, entities } = formatted(textOf(post), post);
  return {
    text,
    ...(entities.length === 0 ? {} : { entities }),
    ...(link === undefined ? {} : { link_preview_options: { url: link } }),
    ...(linkPreview === false ? { link_preview_options: { is_disabled: true } } : {}),
  };
}

/** The caption of media, empty too. */
export function captionFields(post: TelegramPost): JsonObject {
  const { text: caption, entities } = formatted(post.caption ?? "", post);
  return { caption, ...(entities.length === 0 ? {} : { caption_entities: entities }) };
}

interface MediaFields {
  readonly cover: FormPart | null;
  readonly caption: JsonObject;
}

const METHODS = {
  photo: "sendPhoto",
  video: "sendVideo",
  animation: "sendAnimation",
  audio: "sendAudio",
  document: "sendDocument",
} as const satisfies Record<Kind, string>;

function mediaCall(
  post: TelegramPost,
  { only, cover, caption }: MediaFields & { readonly only: Sendable },
): Call {
  const fields = {
    ...caption,
    ...looksOf(only.kind, post),
    ...only.figures,
    ...(cover === null ? {} : { cover: `attach://${COVER_PART}` }),
    ...optionsOf(post),
  };
  const files = [only.file(only.kind), ...(cover === null ? [] : [cover])];
  return { method: METHODS[only.kind], fields, files };
}

function albumCall(
  post: TelegramPost,
  { sendables, cover, caption }: MediaFields & { readonly sendables: readonly Sendable[] },
): Call {
  const media = sendables.map(({ kind, figures }, at) => ({
    type: kind,
    media: `attach://item${at}`,
    ...looksOf(kind, post),
    ...figures,
    // The album's caption is that of its first item.
    ...(at === 0 ? caption : {}),
    ...(at === 0 && cover !== null ? { cover: `attach://${COVER_PART}` } : {}),
  }));
  const files = sendables.map(({ file }, at) => file(`item${at}`));
  return {
    method: "sendMediaGroup",
    fields: { media, ...optionsOf(post) },
    files: cover === null ? files : [...files, cover],
  };
}

/** How pictures and films look; sounds and files have nothing of it. */
export function looksOf(kind: Kind, { metadata }: TelegramPost): JsonObject {
  if (kind === "audio" || kind === "document") return {};
  return {
    ...(metadata.captionAbove === true ? { show_caption_above_media: true } : {}),
    ...(metadata.sensitive === true ? { has_spoiler: true } : {}),
  };
}

function optionsOf({ metadata }: TelegramPost): JsonObject {
  const { silent, protectContent, topicId } = metadata;
  return {
    ...(silent === true ? { disable_notification: true } : {}),
    ...(protectContent === true ? { protect_content: true } : {}),
    ...(topicId === undefined ? {} : { message_thread_id: topicId }),
  };
}

const Message = z.looseObject({
  message_id: z.int(),
  chat: z
    .looseObject({
      id: z.union([z.int(), z.string()]),
      type: z.string().optional(),
      username: z.string().optional(),
    })
    .optional(),
  video: z.looseObject({ file_id: z.string() }).optional().catch(undefined),
});

const Messages = z.union([Message.transform((one) => [one]), z.array(Message).min(1)]);

async function send(call: Call, io: PublishIo): Promise<SentBatch> {
  const answer = await callChat(io, call, Messages);
  const [first] = answer;
  const { id = chatOf(io.account), type, username = io.account.handle } = first?.chat ?? {};
  return {
    chatId: String(id),
    // A person's name leads to the person, and not to what they were written.
    username: type === "private" ? null : username,
    messageIds: answer.map(({ message_id: messageId }) => messageId),
    fileId: first?.video?.file_id ?? null,
  };
}

/** Where readers find it. A message that Telegram sends later by itself has no id yet. */
function liveAt({ chatId, username, messageIds }: SentBatch): LiveAt {
  const id = messageIds.find((one) => one !== 0);
  if (id === undefined) return { platformPostId: null, platformUrl: null };
  return { platformPostId: `${chatId}:${id}`, platformUrl: urlOf({ chatId, username, id }) };
}

/** A small group has no addresses for its messages, a private channel those for its members. */
function urlOf({
  chatId,
  username,
  id,
}: Pick<SentBatch, "chatId" | "username"> & { id: number }): string | null {
  if (username !== null) return `https://t.me/${username}/${id}`;
  return chatId.startsWith("-100") ? `https://t.me/c/${chatId.slice("-100".length)}/${id}` : null;
}

const MB = 1_000_000;

/** https://core.telegram.org/bots/api#sending-files */
const MAX_PHOTO_BYTES = 10 * MB;
const MAX_FILE_BYTES = 50 * MB;

/** Telegram keeps no more pixels of a photo (https://core.telegram.org/api/files#image-thumbnail-types). */
const PHOTO_LIMITS = {
  maxBytes: MAX_PHOTO_BYTES,
  mimeTypes: ["image/jpeg", "image/png", "image/webp"],
  maxWidth: 2_560,
  maxHeight: 2_560,
} as const satisfies ImageLimits;

const GIF_LIMITS: ImageLimits = { maxBytes: MAX_FILE_BYTES, mimeTypes: ["image/gif"] };
const DOCUMENT_LIMITS: ImageLimits = { maxBytes: MAX_FILE_BYTES, mimeTypes: ACCEPTED.image };
const COVER_LIMITS: ImageLimits = { ...PHOTO_LIMITS, mimeTypes: ["image/jpeg"] };

/** What Telegram's apps show in the chat; everything else is a file to download. */
export const SHOWN: readonly AcceptedMedia[] = [
  {
    kind: "image",
    ...PHOTO_LIMITS,
    maxItems: MAX_ITEMS,
    minAspectRatio: 1 / 20,
    maxAspectRatio: 20,
    animated: false,
  },
  { kind: "image", mimeTypes: ["image/gif"], maxBytes: MAX_FILE_BYTES, maxItems: MAX_ITEMS },
  { kind: "video", mimeTypes: ["video/mp4"], maxBytes: MAX_FILE_BYTES, maxItems: MAX_ITEMS },
  { kind: "audio", mimeTypes: ["audio/mpeg", "audio/mp4"], maxBytes: MAX_FILE_BYTES, maxItems: MAX_ITEMS },
  { kind: "document", mimeTypes: ACCEPTED.document, maxBytes: MAX_FILE_BYTES, maxItems: MAX_ITEMS },
];

export const DOCUMENTS: readonly AcceptedMedia[] = MEDIA_KINDS.map((kind) => ({
  kind,
  mimeTypes: ACCEPTED[kind],
  maxBytes: MAX_FILE_BYTES,
  maxItems: MAX_ITEMS,
}));

/** As the methods and the types of media call it. */
type Kind = "photo" | "video" | "animation" | "audio" | "document";

/** An item that is ready to be sent. */
interface Sendable {
  readonly kind: Kind;
  /** The file, as a part of this name. */
  file(name: string): FormPart;
  /** What is told of it beside the file. */
  readonly figures: JsonObject;
}

/** Opens all media before anything is sent: what cannot be posted is refused as a whole. */
async function openAll(post: TelegramPost, io: PublishIo): Promise<readonly MediaItem[]> {
  const items = await inOrder(urlsOf(post), (url) => io.media.item(url));
  const asDocument = post.metadata.asDocument === true;
  const kinds = items.map(({ facts }) => facts);
  const mixed = mixProblem(kinds, { isAlbum: items.length > 1, asDocument });
  if (mixed !== null) throw new AppError("invalid", mixed);
  if (post.metadata.thumbnailUrl !== undefined && (asDocument || kinds[0]?.type !== "video"))
    throw new AppError("invalid", NO_COVER);
  return items;
}

/** How media are sent. */
interface Showing {
  readonly asDocument: boolean;
  readonly isAlbum: boolean;
}

async function toSendable(
  item: MediaItem,
  { asDocument, isAlbum }: Showing,
  io: PublishIo,
): Promise<Sendable> {
  const { type, width, height, durationSeconds } = item.facts;
  const isGif = item.facts.mimeType === "image/gif" && !isAlbum;
  const limits = asDocument ? DOCUMENT_LIMITS : isGif ? GIF_LIMITS : PHOTO_LIMITS;
  const fitted = await fitFile(item, limits, io);
  const called = calledOf(item, type === "image" ? "picture" : asDocument ? "file" : type);
  const file = (name: string): FormPart => toPart(name, fitted, called);
  if (asDocument || type === "document") return { kind: "document", file, figures: {} };
  if (type === "image") return { kind: isGif ? "animation" : "photo", file, figures: {} };
  const duration = durationSeconds === null ? {} : { duration: Math.round(durationSeconds) };
  if (type === "audio") return { kind: "audio", file, figures: duration };
  const size = width === null || height === null ? {} : { width, height };
  return { kind: "video", file, figures: { ...duration, ...size, supports_streaming: true } };
}

/** The field `cover` names the part that holds it. */
export const COVER_PART = "cover_file";

export async function toCover(url: string, io: PublishIo): Promise<FormPart> {
  const { bytes, mimeType } = await io.media.fitImage(await io.media.item(url), COVER_LIMITS);
  return { name: COVER_PART, fileName: "cover.jpg", mimeType, bytes };
}

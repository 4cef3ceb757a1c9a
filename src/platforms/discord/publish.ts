import * as z from "zod";
import type { AcceptedMedia } from "../../domain/accounts/capabilities.ts";
import { AppError } from "../../domain/errors.ts";
import { MINUTE, SECOND } from "../../domain/time.ts";
import type { Json, JsonObject, PlatformIo } from "../../ports/platform-io.ts";
import { Id, readableBy } from "../../ports/platform-values.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import type { EffectContext, EffectSpec, LiveAt, PublishIo } from "../../ports/publish-io.ts";
import type { FormPart } from "../../ports/request-body.ts";
import { ACCEPTED, filePart, inOrder, itemsOf, openAll } from "../shared/media.ts";
import { findFirst, pages } from "../shared/pages.ts";
import { blind, reconcileByListing } from "../shared/reconcile.ts";
import type { ApiCall } from "../shared/rest-api.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";
import type { FaultRule } from "../shared/faults.ts";
import {
  A_POLL,
  ask,
  CROSSPOST,
  guildPath,
  INTO_CHANNEL,
  INTO_THREAD,
  pathFor,
  send as sendCall,
  SENDING,
  SEND_STEP,
  SentMessage,
} from "./api.ts";
import {
  channelOf,
  checkPlace,
  contentOf,
  type DiscordPost,
  isNewThread,
  isPostable,
  isWebhook,
  MAX_FILES,
  maxBytesOf,
  mayPing,
  type Place,
  placeOf,
  questionOf,
  tooMuch,
} from "./metadata.ts";

/** A repeated nonce is known "for the past few minutes". */
const NONCE_MS = 3 * MINUTE;
const NONCE_CHARS = 25;

/** How long a message may take until listings have it. */
const LISTED_MS = 10 * SECOND;

export async function publish(post: DiscordPost, io: PublishIo): Promise<PublishOutcome> {
  if (!io.isDue) return { state: "prepared" };
  const place = await findPlace(post, io);
  // What went out already needs its files no more.
  const open = (): Promise<FileAttachment[]> => attach(post, io);
  const files = io.resultOf(SEND_STEP) === null ? await open() : null;
  const sent = SentMessage.parse(
    await io.effect<Json>({
      step: SEND_STEP,
      request: {
        caption: post.caption,
        media: itemsOf(post).map((one) => ({ ...one })),
        metadata: z.json().parse(post.metadata),
      },
      send: async (context) => send(post, io, { context, place, files: files ?? (await open()) }),
      reconcile: reconcileOf(post, io, place),
      live: (result) => liveAt(SentMessage.parse(result)),
    }),
  );
  if (post.metadata.crosspost === true)
    await io.followUp("Publishing to followers", () => crosspost(sent, io));
  return { state: "live", ...liveAt(sent) };
}

const Channel = z.looseObject({ type: z.int(), guild_id: Id.optional() });

/** Another channel than the account's is asked what it is, before anything is sent. */
async function findPlace(post: DiscordPost, io: PublishIo): Promise<Place> {
  const place = placeOf(post, io.account);
  if (post.metadata.channel === undefined || place.kind !== undefined) return place;
  const { channel } = place;
  const asked = { path: `/channels/${channel}`, rules: INTO_CHANNEL };
  const kind = await io.once("channel", async () => {
    const { type, guild_id: guild } = await ask(io, asked, Channel);
    const isHere = guild === undefined || guild === io.account.settings["guildId"];
    if (isHere && isPostable(type)) return type;
    throw new AppError(
      "invalid",
      "metadata.channel: is no text, announcement, forum or media channel of this server. Give another.",
    );
  });
  const [problem] = checkPlace(post, { channel, kind });
  if (problem !== undefined) throw new AppError("invalid", problem);
  return { channel, kind };
}

/** What a refusal means for a post of this kind, and where it goes. */
function rulesOf({ metadata }: DiscordPost, { account }: Pick<PlatformIo, "account">): readonly FaultRule[] {
  const { channel = channelOf(account), threadId, poll } = metadata;
  const isOwn = channel === channelOf(account);
  const place = threadId !== undefined ? INTO_THREAD : isOwn ? SENDING : INTO_CHANNEL;
  return poll === undefined ? place : [...A_POLL, ...place];
}

/** A file, and what it shows. */
interface FileAttachment {
  readonly part: FormPart;
  readonly altText: string | null;
}

async function attach(post: DiscordPost, io: PublishIo): Promise<FileAttachment[]> {
  const items = await openAll(itemsOf(post), io);
  const accepts = acceptedUpTo(maxBytesOf(io.account));
  const files = await inOrder(items, async (item, at) => {
    const part = await filePart(`files[${at}]`, item, { io, accepts, called: String(at + 1) });
    return { part, altText: item.altText };
  });
  const bytes = files.reduce((sum, { part }) => sum + sizeOf(part), 0);
  const [problem] = tooMuch(bytes, io.account);
  if (problem !== undefined) throw new AppError("invalid", problem);
  return files;
}

function sizeOf(part: FormPart): number {
  if ("bytes" in part) return part.bytes.length;
  return "sizeBytes" in part ? part.sizeBytes : 0;
}

const UNREADABLE =
  "the answer was lost, and the bot may not read the channel's history to look for the post.";

function reconcileOf(post: DiscordPost, io: PublishIo, place: Place): EffectSpec<Json>["reconcile"] {
  if (isWebhook(io.account)) return blind("a webhook of Discord");
  return async (context) => {
    if (isNewThread(post, place)) {
      const find = (since: number): Promise<SentMessage | null> => findThread(post, io, { place, since });
      return reconcileByListing(context, { io, listedAfterMs: LISTED_MS, find });
    }
    return reconcileByListing(context, {
      io,
      listedAfterMs: LISTED_MS,
      keyMs: NONCE_MS,
      doubt: (await mayReadHistory(post, io)) ? undefined : UNREADABLE,
      find: (since) => findMessage(post, io, { since, nonce: nonceOf(context) }),
    });
  };
}

function nonceOf({ key }: Pick<EffectContext, "key">): string {
  return key.slice(0, NONCE_CHARS);
}

const Posted = z.looseObject({ id: Id, channel_id: Id });
const Thread = z.looseObject({ id: Id });

interface Sending {
  readonly context: EffectContext;
  readonly place: Place;
  readonly files: readonly FileAttachment[];
}

async function send(
  post: DiscordPost,
  io: PublishIo,
  { context, place, files }: Sending,
): Promise<SentMessage> {
  const { threadId, title, tagIds } = post.metadata;
  const guild = io.account.settings["guildId"];
  const guildId = typeof guild === "string" ? guild : null;
  const tags = tagIds === undefined ? {} : { applied_tags: tagIds };
  const body = bodyOf(post, files);
  const parts = files.map(({ part }) => part);
  const channel = `/channels/${threadId ?? place.channel}`;
  const rules = rulesOf(post, io);
  if (isNewThread(post, place)) {
    const json = { name: title ?? "", ...tags, message: body };
    const { id } = await ask(io, { ...toCall(`${channel}/threads`, json, parts), rules }, Thread);
    // The message that begins a thread has its id.
    return { id, channelId: id, guildId };
  }
  const isHook = isWebhook(io.account);
  const name = isHook && title !== undefined ? { thread_name: title, ...tags } : {};
  const nonce = isHook ? {} : { nonce: nonceOf(context), enforce_nonce: true };
  const call = {
    ...toCall(pathFor(io, `${channel}/messages`), { ...body, ...name, ...nonce }, parts),
    rules,
    ...(isHook ? { query: { wait: true, thread_id: threadId } } : {}),
  };
  const { id, channel_id: channelId } = await ask(io, call, Posted);
  return { id, channelId, guildId };
}

function toCall(path: string, json: JsonObject, parts: readonly FormPart[]): ApiCall {
  if (parts.length === 0) return { method: "POST", path, json };
  const payload = { name: "payload_json", text: JSON.stringify(json) };
  return { ...UPLOAD_TIMES, method: "POST", path, multipart: [payload, ...parts] };
}

/** A file of one's own may have a longer one, which is no reason to refuse it. */
const MAX_ALT_CHARS = 1_024;

const SUPPRESS_EMBEDS = 4;
const SUPPRESS_NOTIFICATIONS = 4_096;

function bodyOf(post: DiscordPost, files: readonly FileAttachment[]): JsonObject {
  const { linkPreview, silent, sensitive, poll } = post.metadata;
  const flags =
    (linkPreview === false ? SUPPRESS_EMBEDS : 0) + (silent === true ? SUPPRESS_NOTIFICATIONS : 0);
  const attachments = files.map(({ altText }, at) => ({
    id: String(at),
    ...(altText === null ? {} : { description: [...altText].slice(0, MAX_ALT_CHARS).join("") }),
    ...(sensitive === true ? { is_spoiler: true } : {}),
  }));
  return {
    ...saidBy(post),
    ...mayPing(poll === undefined ? (post.caption ?? "") : ""),
    ...(flags === 0 ? {} : { flags }),
    ...(attachments.length === 0 ? {} : { attachments }),
  };
}

/** Its text, or a poll with the text for its question, which is plain. */
function saidBy(post: DiscordPost): JsonObject {
  const { caption, metadata } = post;
  if (metadata.poll !== undefined) {
    const { options, hours, multiple } = metadata.poll;
    const answers = options.map((text) => ({ poll_media: { text } }));
    const question = { text: questionOf(post) };
    return { poll: { question, answers, duration: hours, allow_multiselect: multiple === true } };
  }
  return caption === null ? {} : { content: contentOf(caption, post) };
}

async function crosspost({ id, channelId }: SentMessage, io: PublishIo): Promise<void> {
  const path = pathFor(io, `/channels/${channelId}/messages/${id}/crosspost`);
  await io.effect<Json>({
    step: "crosspost",
    request: { id },
    send: async () => {
      await sendCall(io, { method: "POST", path, isIdempotent: true, rules: CROSSPOST });
      return null;
    },
    // A second time is answered with an error that says so.
    reconcile: async () => ({ outcome: "send_again" }),
  });
}

function liveAt({ id, channelId, guildId }: SentMessage): LiveAt {
  return {
    platformPostId: id,
    platformUrl: guildId === null ? null : `https://discord.com/channels/${guildId}/${channelId}/${id}`,
  };
}

/** What its apps show in the channel. */
const PICTURES = ["image/jpeg", "image/png", "image/gif", "image/webp"];

export function acceptedUpTo(maxBytes: number): AcceptedMedia[] {
  return [
    { kind: "image", mimeTypes: PICTURES, maxBytes, maxItems: MAX_FILES },
    {
      kind: "video",
      mimeTypes: ["video/mp4", "video/webm", "video/quicktime"],
      maxBytes,
      maxItems: MAX_FILES,
    },
    { kind: "audio", mimeTypes: ACCEPTED.audio, maxBytes, maxItems: MAX_FILES },
    { kind: "document", mimeTypes: ACCEPTED.document, maxBytes, maxItems: MAX_FILES },
  ];
}

/** Ids begin with the milliseconds since then (https://docs.discord.com/developers/reference#snowflakes). */
const EPOCH = 1_420_070_400_000;
const PAGE = 100;
const MAX_PAGES = 20;

function snowflakeAt(ms: number): bigint {
  return BigInt(Math.max(0, Math.floor(ms) - EPOCH)) << 22n;
}

/** Holds the moment it was made at. */
const Snowflake = Id.refine(readableBy(BigInt), "is not the id of something on Discord");

const Message = z.looseObject({
  id: Snowflake,
  channel_id: Id,
  content: z.string().catch(""),
  nonce: Id.nullish().catch(null),
  author: z.looseObject({ id: Id }),
  attachments: z.array(z.unknown()).catch([]),
  poll: z
    .looseObject({ question: z.looseObject({ text: z.string() }) })
    .optional()
    .catch(undefined),
});
type Message = z.infer<typeof Message>;
const Messages = z.array(Message);

/** The messages where the post goes. */
function listing(
  post: DiscordPost,
  io: PlatformIo,
  query: { after?: string; limit: number },
): Promise<Message[]> {
  const channel = post.metadata.threadId ?? placeOf(post, io.account).channel;
  return ask(io, { path: `/channels/${channel}/messages`, query, rules: rulesOf(post, io) }, Messages);
}

/** To a bot that may not read it, every history is empty. */
async function mayReadHistory(post: DiscordPost, io: PlatformIo): Promise<boolean> {
  return (await listing(post, io, { limit: 1 })).length > 0;
}

/** The bot's own message of this nonce, or with this text and as many files. */
async function findMessage(
  post: DiscordPost,
  io: PlatformIo,
  { since, nonce }: { readonly since: number; readonly nonce: string },
): Promise<SentMessage | null> {
  const isPoll = post.metadata.poll !== undefined;
  const said = (isPoll ? questionOf(post) : contentOf(post.caption ?? "", post)).trim();
  const files = itemsOf(post).length;
  const listed = pages(MAX_PAGES, async (after: bigint = snowflakeAt(since)) => {
    const messages = await listing(post, io, { after: String(after), limit: PAGE });
    const own = messages.filter(({ author }) => author.id === io.account.settings["botId"]);
    const found =
      own.find((one) => one.nonce === nonce) ??
      own.find(
        ({ content, poll, attachments }) =>
          (isPoll ? poll?.question.text : content)?.trim() === said && attachments.length === files,
      );
    const last = messages.map(({ id }) => BigInt(id)).reduce((a, b) => (a > b ? a : b), after);
    return { items: found === undefined ? [] : [found], next: messages.length < PAGE ? null : last };
  });
  const found = await findFirst(listed, () => true);
  return found === null ? null : sentOf(io, found.id, found.channel_id);
}

const Threads = z.looseObject({
  threads: z.array(
    z.looseObject({
      id: Snowflake,
      parent_id: Id.nullish(),
      owner_id: Id.nullish(),
      name: z.string().nullish(),
    }),
  ),
});

/** The bot's own post of this title in the forum. */
async function findThread(
  post: DiscordPost,
  io: PlatformIo,
  { place, since }: { readonly place: Place; readonly since: number },
): Promise<SentMessage | null> {
  const { threads } = await ask(io, { path: `${guildPath(io)}/threads/active` }, Threads);
  const found = threads.find(
    ({ id, parent_id: parent, owner_id: owner, name }) =>
      parent === place.channel &&
      owner === io.account.settings["botId"] &&
      name === post.metadata.title &&
      BigInt(id) >= snowflakeAt(since),
  );
  return found === undefined ? null : sentOf(io, found.id, found.id);
}

function sentOf({ account }: Pick<PlatformIo, "account">, id: string, channelId: string): SentMessage {
  return { id, channelId, guildId: String(account.settings["guildId"]) };
}

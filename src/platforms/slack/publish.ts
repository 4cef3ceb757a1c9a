import * as z from "zod";
import { MINUTE, SECOND } from "../../domain/time.ts";
import type { ImageLimits, MediaItem } from "../../ports/media.ts";
import { type JsonObject, PlatformFault, type PlatformIo } from "../../ports/platform-io.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import type { LiveAt, PublishIo, ReconcileContext, Reconciled } from "../../ports/publish-io.ts";
import { type FaultRule, faultsBy } from "../shared/faults.ts";
import { calledOf, fileNameOf, fitFile, inOrder, openAll } from "../shared/media.ts";
import { findFirst, pages } from "../shared/pages.ts";
import { reconcileByListing } from "../shared/reconcile.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";
import { type TextFormat, textSeen } from "../shared/markdown.ts";
import { addressOf, AnyAnswer, call, faultsOf, INTO_CHANNEL, Paging } from "./api.ts";
import {
  blocksFor,
  channelFor,
  escapeText,
  hasMarkup,
  type Part,
  partsOf,
  plainBlocks,
  type SlackPost,
} from "./metadata.ts";

export const MESSAGE = "message";

/** The step that sends the reply at this place, from 1. */
export function replyStep(at: number): string {
  return `reply ${at}`;
}

/** Slack shows files once it has looked at them. */
const SHOWN_AGAIN_MS = 2 * SECOND;

class NotShownYet extends Error {}

/** One message, looked for by its metadata or its file where an answer is lost; then the replies to it. */
export async function publish(post: SlackPost, io: PublishIo): Promise<PublishOutcome> {
  if (!io.isDue) return { state: "prepared" };
  const [part, ...replies] = partsOf(post);
  const hasPreviews = post.metadata.linkPreviews ?? true;
  const { channel: other, format } = post.metadata;
  const channel = channelFor(post, io.account);
  const at = { io, channel, format, hasPreviews, rules: other === undefined ? [] : INTO_CHANNEL };
  const live = ({ ts }: SentMessage) => liveAt(io, channel, ts);
  const sent = await sendPart(part, { ...at, step: MESSAGE, threadTs: null, live });
  try {
    const ts = sent.ts ?? (await io.once("shown", () => waitForShare(sent, post, io)));
    const found = liveAt(io, channel, ts);
    await io.live(found);
    if (replies.length > 0) {
      // One follow-up: a reply that waits keeps those after it waiting.
      await io.followUp("The thread", async () => {
        const threadTs = requireTs(ts);
        for (const [n, reply] of replies.entries())
          await sendPart(reply, { ...at, step: replyStep(n + 1), threadTs });
      });
    }
    return {
      state: "live",
      ...found,
      platformUrl: ts === null ? null : await findPermalink(channel, ts, io),
    };
  } catch (error) {
    if (error instanceof NotShownYet) return { state: "processing", checkAgainMs: SHOWN_AGAIN_MS };
    throw error;
  }
}

function liveAt({ account }: PlatformIo, channel: string, ts: string | null): LiveAt {
  return ts === null
    ? { platformPostId: null, platformUrl: null }
    : { platformPostId: `${channel}:${ts}`, platformUrl: addressOf(account, channel, ts) };
}

/** Null where it went out and the bot may not look for it. */
async function waitForShare({ files }: SentMessage, post: SlackPost, io: PublishIo): Promise<string | null> {
  const [fileId = ""] = files;
  try {
    const since = post.scheduledAt - MINUTE;
    const ts = await findShare(io, { channel: channelFor(post, io.account), since, threadTs: null, fileId });
    if (ts !== null) return ts;
  } catch (error) {
    if (error instanceof PlatformFault && error.kind === "rejected") return null;
    throw error;
  }
  throw new NotShownYet();
}

function requireTs(ts: string | null): string {
  if (ts !== null) return ts;
  throw new PlatformFault(
    "rejected",
    "Slack does not say which message to reply to, because the bot may not read the channel. Add the scopes files:read, channels:history and groups:history.",
  );
}

const Permalink = AnyAnswer.extend({ permalink: z.url({ protocol: /^https?$/ }) });

/** The address that Slack tells; the usual one where it cannot be asked. */
async function findPermalink(channel: string, ts: string, io: PublishIo): Promise<string> {
  const query = { channel, message_ts: ts };
  try {
    return (await call(io, { method: "chat.getPermalink", query }, Permalink)).permalink;
  } catch (error) {
    if (!(error instanceof PlatformFault)) throw error;
    io.log.warn({ err: error }, "Slack did not tell a message's address");
    return addressOf(io.account, channel, ts);
  }
}

const MB = 1_000_000;

/** What Slack shows as a picture; larger ones are files to download. */
export const IMAGE_LIMITS = {
  mimeTypes: ["image/jpeg", "image/png", "image/gif", "image/webp"],
  maxBytes: 20 * MB,
} as const satisfies ImageLimits;

/** What was sent; of files, the message's name is told later. */
export const SentMessage = z.object({ ts: z.string().nullable(), files: z.array(z.string()) });
export type SentMessage = z.infer<typeof SentMessage>;

interface Sending {
  readonly io: PublishIo;
  /** Names the step; unique in the post. */
  readonly step: string;
  /** The message that it replies to; null: it is the message. */
  readonly threadTs: string | null;
  readonly channel: string;
  /** What a refusal means there. */
  readonly rules: readonly FaultRule[];
  readonly format: TextFormat;
  readonly hasPreviews: boolean;
  live?(sent: SentMessage): LiveAt;
}

/** A message, or a reply, under the protocol. */
async function sendPart(part: Part, to: Sending): Promise<SentMessage> {
  if (part.files.length === 0) return SentMessage.parse(await sendText(part.text, to));
  const items = await openAll(part.files, to.io);
  const files = await inOrder(items, (item, at) => upload(item, `${to.step} file ${at + 1}`, to.io));
  return SentMessage.parse(await share(part, files, to));
}

const Posted = AnyAnswer.extend({ ts: z.string() });

function sendText(text: string, to: Sending): Promise<JsonObject> {
  const { io, step, threadTs, channel, rules, format, hasPreviews, live } = to;
  const blocks = blocksFor(text, format);
  const json = {
    channel,
    // Beside blocks, it is what notices show.
    text: escapeText(textSeen(text, format)),
    ...(blocks === null ? {} : { blocks }),
    mrkdwn: false,
    unfurl_links: hasPreviews,
    unfurl_media: hasPreviews,
    ...(threadTs === null ? {} : { thread_ts: threadTs }),
  };
  return io.effect<JsonObject>({
    step,
    request: json,
    send: async ({ key }) => {
      const metadata = { event_type: EVENT_TYPE, event_payload: { key } };
      const { ts } = await call(
        io,
        { method: "chat.postMessage", json: { ...json, metadata }, rules },
        Posted,
      );
      return { ts, files: [] };
    },
    reconcile: (context) =>
      reconcileByLooking(context, io, {
        listedAfterMs: 30 * SECOND,
        find: async (since) => {
          const ts = await findMessage(io, { channel, since, threadTs, isIt: hasKey(context.key) });
          return ts === null ? null : { ts, files: [] };
        },
      }),
    ...(live === undefined ? {} : { live: (result: JsonObject) => live(SentMessage.parse(result)) }),
  });
}

/** Shows uploaded files in one message. Slack does that after it has answered. */
function share(part: Part, files: readonly string[], to: Sending): Promise<JsonObject> {
  const { io, step, threadTs, channel, rules, format } = to;
  const json = {
    channel_id: channel,
    files: files.map((id, at) => {
      const title = part.files[at]?.title ?? null;
      return { id, ...(title === null ? {} : { title }) };
    }),
    ...commentOf(part.text, format),
    ...(threadTs === null ? {} : { thread_ts: threadTs }),
  };
  const done = { ts: null, files: [...files] };
  const [fileId = ""] = files;
  return io.effect<JsonObject>({
    step,
    request: json,
    send: async () => {
      await call(io, { method: "files.completeUploadExternal", json, rules }, AnyAnswer);
      return done;
    },
    reconcile: (context) =>
      reconcileByLooking(context, io, {
        listedAfterMs: 2 * MINUTE,
        find: async (since) =>
          (await findShare(io, { channel, since, threadTs, fileId })) === null ? null : done,
      }),
  });
}

/** The comment is always read as mrkdwn: what that would change goes as blocks instead. */
function commentOf(text: string, format: TextFormat): JsonObject {
  if (text === "") return {};
  const blocks = blocksFor(text, format);
  if (blocks !== null) return { blocks };
  return hasMarkup(text) ? { blocks: plainBlocks(text) } : { initial_comment: escapeText(text) };
}

const UploadUrl = AnyAnswer.extend({ upload_url: z.string(), file_id: z.string() });

/** One file, which no one sees before it is shared: one that is lost on its way is sent again. */
function upload(item: MediaItem, step: string, io: PublishIo): Promise<string> {
  return io.effect<string>({
    step,
    request: { url: item.url, altText: item.altText },
    send: async () => {
      const { body, sizeBytes, mimeType, type } = await fitFile(item, IMAGE_LIMITS, io);
      const form = {
        filename: fileNameOf(mimeType, calledOf(item, type)),
        length: sizeBytes,
        ...(item.altText ? { alt_txt: item.altText } : {}),
      };
      const asked = { method: "files.getUploadURLExternal", form, isIdempotent: true };
      const { upload_url: url, file_id } = await call(io, asked, UploadUrl);
      await io.request({
        ...UPLOAD_TIMES,
        method: "POST",
        url,
        headers: { "content-type": mimeType, "content-length": String(sizeBytes) },
        body,
        isIdempotent: true,
        classify: faultsBy(faultsOf(true)),
      });
      return file_id;
    },
    reconcile: async () => ({ outcome: "send_again" }),
  });
}

/** Names our messages among a channel's; the key in it names the one that is meant. */
const EVENT_TYPE = "posthorn_post";

const PAGE = 200;
const MAX_PAGES = 50;

/** An app that is distributed commercially gets 15 at a time, whatever it asks for. */
const UNREADABLE: FaultRule = {
  code: ["missing_scope", "not_in_channel", "channel_not_found", "channel_is_limited_access"],
  kind: "rejected",
  message:
    "the bot may not read the channel, where it would have to look. Add the scopes channels:history and groups:history, and invite the bot.",
};

export const Message = z.looseObject({
  ts: z.string(),
  subtype: z.string().optional(),
  metadata: z
    .looseObject({
      event_type: z.string().optional(),
      event_payload: z.looseObject({ key: z.unknown().optional() }),
    })
    .optional()
    .catch(undefined),
  files: z
    .array(z.looseObject({ id: z.string() }))
    .optional()
    .catch(undefined),
  reply_count: z.int().min(0).optional().catch(undefined),
  reactions: z
    .array(z.looseObject({ count: z.int().min(0) }))
    .optional()
    .catch(undefined),
});
export type Message = z.infer<typeof Message>;

const Page = AnyAnswer.extend({ messages: z.array(Message), response_metadata: Paging });

interface Search {
  readonly channel: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** Among the replies to this message; null: in the channel. */
  readonly threadTs: string | null;
  isIt(message: Message): boolean;
}

/** The moment that names the message; null: it is not there. Throws `rejected` where the bot may not look. */
async function findMessage(
  io: PlatformIo,
  { channel, threadTs, since, isIt }: Search,
): Promise<string | null> {
  const asked = {
    channel,
    ...(threadTs === null ? {} : { ts: threadTs }),
    oldest: (since / SECOND).toFixed(6),
    inclusive: true,
    include_all_metadata: true,
    limit: PAGE,
  };
  const method = threadTs === null ? "conversations.history" : "conversations.replies";
  const listed = pages(
    MAX_PAGES,
    async (cursor) => {
      const one = { method, query: { ...asked, cursor }, rules: [UNREADABLE] };
      const { messages: items, response_metadata: paging } = await call(io, one, Page);
      return { items, next: paging?.next_cursor };
    },
    () => {
      throw new PlatformFault("transient", "Slack has too many messages since then to look through.");
    },
  );
  return (await findFirst(listed, isIt))?.ts ?? null;
}

function hasKey(key: string): Search["isIt"] {
  return ({ metadata }) => metadata?.event_type === EVENT_TYPE && metadata.event_payload.key === key;
}

const Share = z.array(z.looseObject({ ts: z.string().nullish() }));
const Shares = z.record(z.string(), Share).optional().catch(undefined);
const FileAnswer = AnyAnswer.extend({
  file: z
    .looseObject({ shares: z.looseObject({ public: Shares, private: Shares }).optional().catch(undefined) })
    .optional(),
});

/** Not there before it is complete; and not to be seen where the token has no scope files:read. */
const NO_FILE: FaultRule = {
  code: ["file_not_found", "file_deleted", "missing_scope", "not_visible", "access_denied"],
  kind: "ok",
};

/**
 * The message that shows the file, by the file itself, else by the channel's messages. Slack shows it some
 * time after it was told to.
 */
export async function findShare(
  io: PlatformIo,
  { fileId, ...search }: Omit<Search, "isIt"> & { readonly fileId: string },
): Promise<string | null> {
  const one = { method: "files.info", query: { file: fileId }, rules: [NO_FILE] };
  const { ok, file } = await call(io, one, FileAnswer);
  for (const shares of [file?.shares?.public, file?.shares?.private]) {
    const ts = shares?.[search.channel]?.find((share) => typeof share.ts === "string")?.ts;
    if (typeof ts === "string") return ts;
  }
  if (ok) return null;
  return findMessage(io, { ...search, isIt: ({ files }) => files?.some(({ id }) => id === fileId) === true });
}

/** How an open step turned out, by looking. */
async function reconcileByLooking<R>(
  context: ReconcileContext,
  io: PlatformIo,
  { listedAfterMs, find }: { readonly listedAfterMs: number; find(since: number): Promise<R | null> },
): Promise<Reconciled<R>> {
  try {
    return await reconcileByListing(context, { io, listedAfterMs, find });
  } catch (error) {
    if (!(error instanceof PlatformFault) || error.kind !== "rejected") throw error;
    return { outcome: "unknown", reason: `the answer was lost, and ${error.message}` };
  }
}

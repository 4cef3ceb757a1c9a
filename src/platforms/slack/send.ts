import * as z from "zod";
import { MINUTE, SECOND } from "../../domain/time.ts";
import type { ImageLimits, MediaItem } from "../../ports/media.ts";
import type { JsonObject } from "../../ports/platform-io.ts";
import type { LiveAt, PublishIo } from "../../ports/publish-io.ts";
import { UPLOAD_TIMES } from "../shared/media/chunks.ts";
import { fileNameOf } from "../shared/media/file-name.ts";
import { AnyAnswer, call, readingOf } from "./api.ts";
import { channelOf } from "./channel.ts";
import { EVENT_TYPE, findMessage, findShare, hasKey, settleByLooking } from "./look-up.ts";
import type { Part } from "./metadata.ts";
import { escapeText, hasMarkup, richText } from "./text.ts";

const MB = 1_000_000;

/** What Slack shows as a picture; larger ones are files to download. */
export const IMAGE_LIMITS = {
  mimeTypes: ["image/jpeg", "image/png", "image/gif", "image/webp"],
  maxBytes: 20 * MB,
} as const satisfies ImageLimits;

/** What was sent; of files, the message's name is told later. */
export const Sent = z.object({ ts: z.string().nullable(), files: z.array(z.string()) });
export type Sent = z.infer<typeof Sent>;

export interface Sending {
  readonly io: PublishIo;
  /** Names the step; unique in the post. */
  readonly step: string;
  /** The message that it replies to; null: it is the message. */
  readonly threadTs: string | null;
  readonly hasPreviews: boolean;
  live?(sent: Sent): LiveAt;
}

/** A message, or a reply, under the protocol. */
export async function sendPart(part: Part, to: Sending): Promise<Sent> {
  if (part.files.length === 0) return Sent.parse(await sendText(part.text, to));
  const items: MediaItem[] = [];
  // All are looked at before anything is sent.
  for (const { url, altText } of part.files) items.push(await to.io.media.item(url, altText));
  const files: string[] = [];
  for (const [at, item] of items.entries())
    files.push(await upload(item, `${to.step} file ${at + 1}`, to.io));
  return Sent.parse(await share(part, files, to));
}

const Posted = AnyAnswer.extend({ ts: z.string() });

function sendText(text: string, to: Sending): Promise<JsonObject> {
  const { io, step, threadTs, hasPreviews, live } = to;
  const { channelId: channel } = channelOf(io.account);
  const json = {
    channel,
    text: escapeText(text),
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
      const { ts } = await call(io, { method: "chat.postMessage", json: { ...json, metadata } }, Posted);
      return { ts, files: [] };
    },
    settle: (context) =>
      settleByLooking(context, io, {
        settleMs: 30 * SECOND,
        find: async (since) => {
          const ts = await findMessage(io, { since, threadTs, isIt: hasKey(context.key) });
          return ts === null ? null : { ts, files: [] };
        },
      }),
    ...(live === undefined ? {} : { live: (result: JsonObject) => live(Sent.parse(result)) }),
  });
}

/** Shows uploaded files in one message. Slack does that after it has answered. */
function share(part: Part, files: readonly string[], { io, step, threadTs }: Sending): Promise<JsonObject> {
  const { channelId: channel_id } = channelOf(io.account);
  const json = {
    channel_id,
    files: files.map((id, at) => ({ id, ...titleOf(part, at) })),
    ...commentOf(part.text),
    ...(threadTs === null ? {} : { thread_ts: threadTs }),
  };
  const done = { ts: null, files: [...files] };
  const [fileId = ""] = files;
  return io.effect<JsonObject>({
    step,
    request: json,
    send: async () => {
      await call(io, { method: "files.completeUploadExternal", json }, AnyAnswer);
      return done;
    },
    settle: (context) =>
      settleByLooking(context, io, {
        settleMs: 2 * MINUTE,
        find: async (since) => ((await findShare(io, { since, threadTs, fileId })) === null ? null : done),
      }),
  });
}

function titleOf({ files }: Part, at: number): { title?: string } {
  const title = files[at]?.title ?? null;
  return title === null ? {} : { title };
}

/** The comment is always read as mrkdwn: what that would change goes as blocks instead. */
function commentOf(text: string): JsonObject {
  if (text === "") return {};
  return hasMarkup(text) ? { blocks: richText(text) } : { initial_comment: escapeText(text) };
}

const Place = AnyAnswer.extend({ upload_url: z.string(), file_id: z.string() });

/** One file, which nobody sees before it is shared: one that is lost on its way is sent again. */
function upload(item: MediaItem, step: string, io: PublishIo): Promise<string> {
  return io.effect<string>({
    step,
    request: { url: item.url, altText: item.altText },
    send: async () => {
      const { body, sizeBytes, mimeType } = await contentOf(item, io);
      const form = {
        filename: fileNameOf(mimeType, item.facts.type),
        length: sizeBytes,
        ...(item.altText === null || item.altText === "" ? {} : { alt_txt: item.altText }),
      };
      const asked = { method: "files.getUploadURLExternal", form, isIdempotent: true };
      const { upload_url: url, file_id } = await call(io, asked, Place);
      await io.request({
        ...UPLOAD_TIMES,
        method: "POST",
        url,
        headers: { "content-type": mimeType, "content-length": String(sizeBytes) },
        body,
        isIdempotent: true,
        classify: readingOf(true),
      });
      return file_id;
    },
    settle: async () => ({ outcome: "send_again" }),
  });
}

async function contentOf(item: MediaItem, io: PublishIo) {
  const { type, sizeBytes, mimeType } = item.facts;
  if (type !== "image") return { body: () => item.open(), sizeBytes, mimeType };
  const fitted = await io.media.fitImage(item, IMAGE_LIMITS);
  return { body: fitted.bytes, sizeBytes: fitted.bytes.length, mimeType: fitted.mimeType };
}

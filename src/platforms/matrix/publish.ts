import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { MINUTE, SECOND } from "../../domain/time.ts";
import type { MediaItem } from "../../ports/media.ts";
import type { JsonObject, PlatformIo } from "../../ports/platform-io.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import type { LiveAt, PublishIo } from "../../ports/publish-io.ts";
import { calledOf, fileNameOf, fitFile, inOrder, itemsOf, type PostItem } from "../shared/media.ts";
import { findFirst, pages } from "../shared/pages.ts";
import { reconcileByListing, repeatableStep } from "../shared/reconcile.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";
import { askAs, SENDING_FAULTS, UPLOAD_FAULTS, linkTo, roomOf, roomPath } from "./api.ts";
import { capabilitiesOf, type MatrixPost, NO_THUMBNAIL, type Text, textFor, textOf } from "./metadata.ts";

/** Names the step that sends the message at this place, from 0: the post's own, then those of further files. */
export function stepOf(at: number): string {
  return at === 0 ? "message" : `message ${at + 1}`;
}

/** Unseen files first; then the message with text and first file, then one for each other file. */
export async function publish(post: MatrixPost, io: PublishIo): Promise<PublishOutcome> {
  const files = await inOrder(itemsOf(post), (item, at) => {
    const thumbnailUrl = at === 0 ? (post.metadata.thumbnailUrl ?? null) : null;
    return upload(item, { io, step: `file ${at + 1}`, thumbnailUrl });
  });
  if (!io.isDue) return { state: "prepared" };
  const [first, ...more] = itemsOf(post).map(({ altText }, at) => ({ altText, file: files[at] }));
  const text = textFor(post);
  const eventId = await send({ ...text, ...fileIn(text, first?.file) }, { at: 0, io });
  if (more.length > 0) {
    // One follow-up: they arrive in their order.
    await io.followUp("The messages with further files", async () => {
      for (const [index, { altText, file }] of more.entries()) {
        const told = textOf(altText ?? "");
        await send({ ...told, ...fileIn(told, file) }, { at: index + 1, io });
      }
    });
  }
  return { state: "live", ...liveAt(eventId, io) };
}

/** A file whose `body` is another text than its name is shown with that text. */
function fileIn({ body }: Pick<Text, "body">, file: FileContent | undefined): JsonObject {
  return file === undefined ? {} : { ...file, ...(body === "" ? { body: file.filename } : {}) };
}

/** In the event itself: servers forget transactions, and tell them only to the same device. */
export const KEY_FIELD = "posthorn.key";

const Sent = z.looseObject({ event_id: z.string().startsWith("$") });

/** Synapse knows a transaction for a day, others for half an hour. */
const TRANSACTION_MS = 30 * MINUTE;

function send(
  content: JsonObject,
  { at, io }: { readonly at: number; readonly io: PublishIo },
): Promise<string> {
  return io.effect<string>({
    step: stepOf(at),
    request: content,
    send: async ({ key }) => sendEvent(io, { ...content, [KEY_FIELD]: key }, key),
    reconcile: async (context) => {
      const find = (since: number): Promise<string | null> => findMessage(io, context.key, since);
      // Another token may have brought another device, which the transaction is unknown to.
      const found = await find(context.intentAt - MINUTE);
      if (found !== null) return { outcome: "done", result: found };
      const listing = { io, listedAfterMs: 30 * SECOND, keyMs: TRANSACTION_MS, find };
      return reconcileByListing(context, listing);
    },
    ...(at === 0 ? { live: (eventId: string) => liveAt(eventId, io) } : {}),
  });
}

/** The same transaction a second time is answered with the event that came of the first. */
export async function sendEvent(io: PlatformIo, content: JsonObject, transaction: string): Promise<string> {
  const path = `${roomPath(roomOf(io.account).roomId)}/send/m.room.message/${encodeURIComponent(transaction)}`;
  const call = { method: "PUT", path, json: content, isIdempotent: true, newConnection: true } as const;
  return (await askAs(io)({ ...call, faults: SENDING_FAULTS }, Sent)).event_id;
}

const PAGE = 100;
const MAX_PAGES = 20;

const Messages = z.looseObject({
  chunk: z.array(
    z.looseObject({
      event_id: z.string(),
      origin_server_ts: z.number(),
      content: z.record(z.string(), z.unknown()),
    }),
  ),
  end: z.string().optional(),
});

/** The account's own message with this key since then (milliseconds since 1970); null: there is none. */
async function findMessage(io: PlatformIo, key: string, since: number): Promise<string | null> {
  const { roomId, userId } = roomOf(io.account);
  const filter = JSON.stringify({ types: ["m.room.message"], senders: [userId] });
  const path = `${roomPath(roomId)}/messages`;
  const listed = pages(MAX_PAGES, async (from) => {
    const query = { dir: "b", limit: PAGE, filter, from };
    const { chunk, end } = await askAs(io)({ path, query, faults: SENDING_FAULTS }, Messages);
    return { items: chunk, next: chunk.some(({ origin_server_ts: at }) => at < since) ? null : end };
  });
  return (await findFirst(listed, ({ content }) => content[KEY_FIELD] === key))?.event_id ?? null;
}

function liveAt(eventId: string, { account }: Pick<PlatformIo, "account">): LiveAt {
  const { roomId, userId } = roomOf(account);
  return { platformPostId: eventId, platformUrl: linkTo(roomId, { eventId, userId }) };
}

/** A file in the server's media repository that no message names yet, as a message will. */
type FileContent = {
  readonly msgtype: string;
  readonly filename: string;
  readonly url: string;
  readonly info: JsonObject;
};

const Stored = z.looseObject({ content_uri: z.string().regex(/^mxc:\/\/[\w.:[\]-]{1,255}\/[\w-]{1,255}$/) });

interface Uploading {
  readonly io: PublishIo;
  readonly step: string;
  readonly thumbnailUrl: string | null;
}

/** Brings one file to the server, with the picture in front of it. */
function upload({ url, altText }: PostItem, { io, step, thumbnailUrl }: Uploading): Promise<FileContent> {
  return repeatableStep<FileContent>(io, {
    step,
    request: { url, altText, thumbnailUrl },
    send: async () => {
      const item = await io.media.item(url, altText);
      const { type } = item.facts;
      if (thumbnailUrl !== null && type !== "video") throw new AppError("invalid", NO_THUMBNAIL);
      const thumbnail = thumbnailUrl === null ? null : await store(await io.media.item(thumbnailUrl), io);
      const file = await store(item, io);
      const { durationSeconds } = item.facts;
      return {
        msgtype: type === "document" ? "m.file" : `m.${type}`,
        filename: file.name,
        url: file.uri,
        info: {
          ...file.info,
          ...(durationSeconds === null ? {} : { duration: Math.round(durationSeconds * 1_000) }),
          ...(thumbnail === null ? {} : { thumbnail_url: thumbnail.uri, thumbnail_info: thumbnail.info }),
        },
      };
    },
  });
}

async function store(item: MediaItem, io: PublishIo) {
  const accepted = capabilitiesOf(io.account).media.accepts.find(({ kind }) => kind === "image");
  const { mimeTypes = [], maxBytes } = accepted ?? {};
  const file = await fitFile(item, { mimeTypes, maxBytes: maxBytes ?? 0 }, io);
  const { mimeType, sizeBytes, width, height, body } = file;
  const name = fileNameOf(mimeType, calledOf(item, item.facts.type));
  const { content_uri: uri } = await askAs(io)(
    {
      ...UPLOAD_TIMES,
      method: "POST",
      path: "/media/v3/upload",
      query: { filename: name },
      headers: { "content-type": mimeType, "content-length": String(sizeBytes) },
      body,
      faults: UPLOAD_FAULTS,
    },
    Stored,
  );
  const size = width === null || height === null ? {} : { w: width, h: height };
  return { uri, name, info: { mimetype: mimeType, size: sizeBytes, ...size } };
}

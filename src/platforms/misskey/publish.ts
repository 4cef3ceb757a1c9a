import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import type { Poll } from "../../domain/posts/common-metadata.ts";
import { HOUR, MINUTE } from "../../domain/time.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import type { JsonObject, PlatformIo } from "../../ports/platform-io.ts";
import type { LiveAt, PublishIo } from "../../ports/publish-io.ts";
import { UPLOAD_TIMES } from "../shared/uploads.ts";
import { filePart, inOrder, type PostItem } from "../shared/media.ts";
import { idOnServer, serverOf } from "../shared/servers.ts";
import { findFirst, pages } from "../shared/pages.ts";
import { repeatableStep, reconcileByListing } from "../shared/reconcile.ts";
import { type Part, partsOf, type InThread, sendThread } from "../shared/thread.ts";
import { Note, own } from "./api.ts";
import { capabilitiesOf, type MisskeyPost, plainMfm, writerOf } from "./metadata.ts";

/** A request that was given up may still arrive more than a minute later. */
const LISTED_AFTER_MS = 2 * MINUTE;

/** The most that `users/notes` gives at once. */
const PAGE = 100;
const MAX_PAGES = 10;

/** A note as the ledger keeps it. */
type CreatedEntity = { readonly id: string };

/** Files first, unseen, into the drive; then the note, and those that follow it. */
export async function publish(post: MisskeyPost, io: PublishIo): Promise<PublishOutcome> {
  const parts = partsOf(post, writerOf(post.metadata));
  const isSensitive = post.metadata.sensitive ?? false;
  const files = await inOrder(parts, ({ media }, at) =>
    inOrder(media, (item, index) => upload(item, { step: uploadStep(at, index), isSensitive }, io)),
  );
  if (!io.isDue) return { state: "prepared" };
  const send = (part: Part, at: InThread): Promise<CreatedEntity> =>
    sendNote({ post, part, fileIds: (files[at.at] ?? []).map(({ id }) => id), ...at }, io);
  return { state: "live", ...liveAt(await sendThread(parts, send, io), io) };
}

async function upload(
  { url, altText }: PostItem,
  { step, isSensitive }: { readonly step: string; readonly isSensitive: boolean },
  io: PublishIo,
): Promise<CreatedEntity> {
  const item = await io.media.item(url, altText);
  const { accepts } = capabilitiesOf(io.account).media;
  return repeatableStep<CreatedEntity>(io, {
    step,
    request: { url, altText, isSensitive },
    send: async () => {
      const multipart = [
        // Else a file of the same bytes that is in the drive is given, with the alternative text of then.
        { name: "force", text: "true" },
        { name: "isSensitive", text: String(isSensitive) },
        ...(altText ? [{ name: "comment", text: altText }] : []),
        await filePart("file", item, { io, accepts }),
      ];
      const call = { method: "drive/files/create", multipart, isChange: true, ...UPLOAD_TIMES };
      const { id } = await own(io, call, Note.pick({ id: true }));
      return { id };
    },
  });
}

function liveAt({ id }: CreatedEntity, io: PlatformIo): LiveAt {
  return { platformPostId: id, platformUrl: `${serverOf(io)}/notes/${id}` };
}

/** Names the step that brings a file of a part of the thread, both from 0. */
export function uploadStep(at: number, index: number): string {
  return `upload ${at + 1}.${index + 1}`;
}

/** Names the step that brings a part of the thread, from 0. */
export function stepOf(at: number): string {
  return `note ${at + 1}`;
}

interface Outgoing extends InThread {
  readonly post: MisskeyPost;
  readonly part: Part;
  readonly fileIds: readonly string[];
}

const Created = z.looseObject({ createdNote: Note });

function sendNote(outgoing: Outgoing, io: PublishIo): Promise<CreatedEntity> {
  const json = bodyOf(outgoing);
  return io.effect<CreatedEntity>({
    step: stepOf(outgoing.at),
    request: json,
    send: async () => {
      const { createdNote } = await own(io, { method: "notes/create", json, isChange: true }, Created);
      return { id: createdNote.id };
    },
    reconcile: (context) =>
      reconcileByListing(context, {
        io,
        listedAfterMs: LISTED_AFTER_MS,
        // The account's own notes are all in it, whatever their visibility.
        find: (since) => findNote(io, json, since),
      }),
    ...(outgoing.at === 0 ? { live: (posted: CreatedEntity) => liveAt(posted, io) } : {}),
  });
}

const VISIBILITY = { public: "public", unlisted: "home", private: "followers" } as const;

function bodyOf({ post, part, fileIds, replyTo, at }: Outgoing): JsonObject {
  const { visibility = "public", spoilerText = "", poll } = post.metadata;
  const { text } = part;
  if (text === "" && fileIds.length === 0)
    throw new AppError(
      "invalid",
      "caption: is empty, and there is no media. Give text, a picture or a video.",
    );
  return {
    visibility: VISIBILITY[visibility],
    ...(text === "" ? {} : { text }),
    ...(fileIds.length === 0 ? {} : { fileIds: [...fileIds] }),
    ...(replyTo === null ? {} : { replyId: replyTo }),
    ...(spoilerText.trim() === "" ? {} : { cw: plainMfm(spoilerText) }),
    ...(poll === undefined || at > 0 ? {} : { poll: pollOf(poll) }),
  };
}

function pollOf({ options, hours, multiple = false }: Poll): JsonObject {
  return { choices: [...options], multiple, expiredAfter: Math.round(hours * HOUR) };
}

/** The note that was sent, known by its files, its text and what it answers. */
async function findNote(io: PlatformIo, sent: JsonObject, since: number): Promise<CreatedEntity | null> {
  const { text = null, cw = null, replyId = null, fileIds = [] } = sent;
  const found = await findFirst(
    listNotes(io, since),
    (note) =>
      (note.text ?? null) === text &&
      (note.cw ?? null) === cw &&
      (note.replyId ?? null) === replyId &&
      JSON.stringify(note.fileIds) === JSON.stringify(fileIds),
  );
  return found === null ? null : { id: found.id };
}

/** The account's notes since then (milliseconds since 1970), the oldest first, without renotes. */
export function listNotes(io: PlatformIo, since: number): AsyncGenerator<Note> {
  const all = { userId: idOnServer(io), limit: PAGE, withReplies: true, withChannelNotes: true };
  return pages(MAX_PAGES, async (sinceId) => {
    const from = sinceId === undefined ? { sinceDate: since } : { sinceId };
    const json = { ...all, withRenotes: false, ...from };
    const notes = await own(io, { method: "users/notes", json }, z.array(Note));
    const items = notes.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    return { items, next: items.length < PAGE ? null : items.at(-1)?.id };
  });
}

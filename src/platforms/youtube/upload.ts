import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { MINUTE, SECOND, toIso } from "../../domain/time.ts";
import { MediaUnavailable, type MediaItem } from "../../ports/media.ts";
import { PlatformFault, type Json } from "../../ports/platform-io.ts";
import type { EffectContext, PublishIo, Settled, SettleContext } from "../../ports/publish-io.ts";
import { sendInChunks } from "../shared/chunks.ts";
import { bearer } from "../shared/faults.ts";
import { settleByListing } from "../shared/settle.ts";
import { findUpload } from "./find-upload.ts";
import { visibilityOf, type YoutubePost } from "./metadata.ts";
import { askSession, beginSession, isGone, Session } from "./session.ts";
import { youtubeFaults } from "./faults.ts";
import { declaredOf, snippetOf, Video } from "./video.ts";

/** A multiple of 256 KiB, as YouTube wants; what a broken connection sends twice. */
const CHUNK_BYTES = 8 * 1024 * 1024;

/** What was uploaded stands in the list of uploads by then. */
const LISTED_AFTER_MS = 5 * MINUTE;

/** YouTube has every byte, and has not made a video of them yet. */
const ASSEMBLING_MS = 5 * SECOND;

const Uploaded = z.object({ id: z.string(), at: z.number() });

/** A video that is on YouTube; `at`: since when, in milliseconds since 1970. */
export type Uploaded = z.infer<typeof Uploaded>;

/**
 * Brings the film onto YouTube, for nobody to see. One step: its handle is the session, which says after
 * whatever happened how far it is, or which video came of it. No video exists before the last byte arrived.
 */
export async function upload(post: YoutubePost, io: PublishIo): Promise<Uploaded> {
  const open = io.resultOf("upload") === null ? await openFilm(post, io) : unopened;
  const body = bodyOf(post, io);
  const uploaded = await io.effect<Json>({
    step: "upload",
    request: { mediaUrl: post.mediaUrl, ...body },
    send: (context) => send({ post, io, body, film: open() }, context),
    settle: (context) => settle(post, io, context),
  });
  return Uploaded.parse(uploaded);
}

/**
 * Opened before the step is taken. That it could not be opened is told where its bytes are needed: what is in
 * doubt is settled without them.
 */
async function openFilm(post: YoutubePost, io: PublishIo): Promise<() => MediaItem> {
  const [opened] = await Promise.allSettled([io.media.item(post.mediaUrl)]);
  return () => {
    if (opened.status === "fulfilled") return opened.value;
    const cause: unknown = opened.reason;
    if (cause instanceof AppError) throw new PlatformFault("rejected", cause.message, { cause });
    if (cause instanceof MediaUnavailable) throw new PlatformFault("not_sent", cause.message, { cause });
    throw cause;
  };
}

function unopened(): never {
  throw new Error("The film was uploaded already.");
}

/** YouTube flips what is to be public at its time by itself; anything else is flipped by us. */
function bodyOf(post: YoutubePost, io: PublishIo): { snippet: Json; status: Json } {
  const isFlipped = visibilityOf(post) === "public" && !io.isDue;
  const publishAt = isFlipped ? { publishAt: toIso(post.scheduledAt) } : {};
  return {
    snippet: snippetOf(post),
    status: { privacyStatus: "private", ...publishAt, ...declaredOf(post) },
  };
}

interface Sending {
  readonly post: YoutubePost;
  readonly io: PublishIo;
  readonly body: { readonly snippet: Json; readonly status: Json };
  readonly film: MediaItem;
}

async function send(to: Sending, { handle, saveHandle }: EffectContext): Promise<Uploaded> {
  const { io, film } = to;
  const { sizeBytes } = film.facts;
  const known = Session.safeParse(handle).data;
  // A film that was replaced meanwhile is another one; of the first, nothing came into being.
  const session = known?.sizeBytes === sizeBytes ? known : null;
  const progress = session === null ? null : await askSession(io, session);
  if (progress?.state === "gone") throw forgotten();
  if (progress?.state === "whole") return { id: progress.video.id, at: io.now() };
  const from = progress?.committed ?? 0;
  if (from >= sizeBytes) throw new PlatformFault("transient", "YouTube has not put the video together yet.");

  const fresh = session ?? (await beginSession(io, to));
  if (session === null) await saveHandle(fresh);
  const response = await sendInChunks(io, {
    item: film,
    chunkBytes: CHUNK_BYTES,
    from,
    before: async ({ isLast }) => {
      if (isLast && !fresh.isLastSent) await saveHandle({ ...fresh, isLastSent: true });
    },
    request: {
      url: fresh.url,
      sign: bearer(),
      classify: (answer) => (isGone(answer) ? forgotten() : youtubeFaults(io)(answer)),
    },
  });
  const video = Video.safeParse(response.json);
  if (video.success) return { id: video.data.id, at: io.now() };
  throw new PlatformFault("transient", "YouTube did not tell which video came of the upload.");
}

/** What follows is decided when the step is settled: whether anything came of it. */
function forgotten(): PlatformFault {
  return new PlatformFault("transient", "YouTube does not know the upload any more.");
}

async function settle(post: YoutubePost, io: PublishIo, context: SettleContext): Promise<Settled<Json>> {
  const session = Session.safeParse(context.handle).data;
  // A session that nobody fills makes no video.
  if (session === undefined) return { outcome: "send_again" };
  const progress = await askOrRefused(io, session);
  switch (progress.state) {
    case "whole":
      return { outcome: "done", result: { id: progress.video.id, at: io.now() } };
    case "partial":
      return progress.committed < session.sizeBytes
        ? { outcome: "send_again" }
        : { outcome: "ask_again", afterMs: ASSEMBLING_MS };
    case "refused":
      return { outcome: "send_again" };
    case "gone":
      if (session.isLastSent) return settleByUploads(post, io, { context, session });
      await context.saveHandle(null);
      return { outcome: "send_again" };
  }
}

/** A finished session repeats its answer, a refusal too: nothing came of it, and the next sending is told why. */
async function askOrRefused(
  io: PublishIo,
  session: Session,
): Promise<Awaited<ReturnType<typeof askSession>> | { readonly state: "refused" }> {
  try {
    return await askSession(io, session);
  } catch (error) {
    if (error instanceof PlatformFault && error.kind === "rejected") return { state: "refused" };
    throw error;
  }
}

const Note = z.object({ absentAt: z.number() });

/** The last byte may have arrived before the session died: then the video is among the channel's uploads. */
function settleByUploads(
  post: YoutubePost,
  io: PublishIo,
  { context, session }: { readonly context: SettleContext; readonly session: Session },
): Promise<Settled<Json>> {
  const { absentAt } = session;
  return settleByListing<Json>(
    {
      intentAt: session.beganAt,
      handle: absentAt === null ? null : { absentAt },
      // Proven absent, the next sending begins a session of its own.
      saveHandle: (note) => context.saveHandle(note === null ? null : { ...session, ...Note.parse(note) }),
    },
    {
      now: io.now(),
      settleMs: LISTED_AFTER_MS,
      isReliable: true,
      reason: "YouTube does not tell whether the video is there.",
      find: async (since) => {
        const id = await findUpload(io, { post, since, sizeBytes: session.sizeBytes });
        return id === null ? null : { id, at: io.now() };
      },
    },
  );
}

import * as z from "zod";
import { SECOND, MINUTE } from "../../../domain/time.ts";
import { AppError } from "../../../domain/errors.ts";
import { MediaUnavailable, type MediaItem } from "../../../ports/media.ts";
import {
  PlatformFault,
  type Json,
  type JsonObject,
  type PlatformRequest,
  type PlatformResponse,
  type SignedRequest,
} from "../../../ports/platform-io.ts";
import type { EffectContext, PublishIo, Reconciled, ReconcileContext } from "../../../ports/publish-io.ts";
import { committedBytes, sendInChunks } from "../uploads.ts";
import { reconcileByListing } from "../reconcile.ts";

/** What was uploaded stands in the list of uploads by then. */
const LISTED_AFTER_MS = 5 * MINUTE;

/** The platform has every byte, and has not made a video of them yet. */
const ASSEMBLING_MS = 5 * SECOND;

/** An upload under way, as it is kept. */
const Session = z.object({
  url: z.string(),
  sizeBytes: z.int(),
  /** In milliseconds since 1970. */
  beganAt: z.number(),
  /** The last chunk left, or may have: until then no video can have come of it. */
  isLastSent: z.boolean(),
  /** When the video was looked for first, and was not there. */
  absentAt: z.number().nullable(),
});
type Session = z.infer<typeof Session>;

/** A video on the platform, and where people look at it. */
export interface Film {
  readonly id: string;
  readonly url: string;
}

export const UploadedVideo = z.object({
  id: z.string(),
  url: z.string().nullable().default(null),
  at: z.number(),
});

/** `at`: since when it is on the platform, in milliseconds since 1970. */
export type UploadedVideo = z.infer<typeof UploadedVideo>;

export interface Lost {
  /** It was begun then, in milliseconds since 1970. */
  readonly since: number;
  readonly sizeBytes: number;
  /** The step's, as `begin` got it. */
  readonly key: string;
}

/**
 * How a platform takes films in sessions of PUTs with Content-Range: YouTube's protocol
 * (https://developers.google.com/youtube/v3/guides/using_resumable_upload_protocol), and node-uploadx's.
 */
interface FilmSessions {
  /** Of the platform, for sentences. */
  readonly title: string;
  readonly mediaUrl: string;
  /** What is said of the film. */
  readonly request: JsonObject;
  /** What a broken connection sends twice. */
  readonly chunkBytes: number;
  /** Of the chunks; default: the film's. */
  readonly contentType?: string;
  readonly sign: NonNullable<SignedRequest["sign"]>;
  readonly classify: NonNullable<PlatformRequest["classify"]>;
  /** Opens a session, which is forgotten by itself when its answer is lost; its address. */
  begin(film: MediaItem, key: string): Promise<string>;
  /** What the last answer says came of it; null where it does not. */
  read(answer: unknown): Film | null;
  /** The video among the account's uploads; null: it is not there. */
  find(lost: Lost): Promise<Film | null>;
}

/**
 * Brings the film onto the platform, unseen. One step: its handle is the session, which says at any time how far
 * it is, or which video came of it. No video exists before the last byte arrived.
 */
export async function uploadFilm(io: PublishIo, to: FilmSessions): Promise<UploadedVideo> {
  const open = io.resultOf("upload") === null ? await openFilm(io, to.mediaUrl) : unopened;
  const uploaded = await io.effect<Json>({
    step: "upload",
    request: { mediaUrl: to.mediaUrl, ...to.request },
    send: (context) => send({ io, to, film: open() }, context),
    reconcile: (context) => reconcile(io, to, context),
  });
  return UploadedVideo.parse(uploaded);
}

/**
 * Opened before the step is taken. That it could not be opened is told where its bytes are needed: what is in
 * doubt is reconciled without them.
 */
export async function openFilm(io: Pick<PublishIo, "media">, mediaUrl: string): Promise<() => MediaItem> {
  const [opened] = await Promise.allSettled([io.media.item(mediaUrl)]);
  return () => {
    if (opened.status === "fulfilled") return opened.value;
    throw asFault(opened.reason);
  };
}

/** What a step says of a file that cannot be read. */
export function asFault(cause: unknown): unknown {
  if (cause instanceof AppError) return new PlatformFault("rejected", cause.message, { cause });
  if (cause instanceof MediaUnavailable) return new PlatformFault("not_sent", cause.message, { cause });
  return cause;
}

export function unopened(): never {
  throw new Error("The video was uploaded already.");
}

interface Sending {
  readonly io: PublishIo;
  readonly to: FilmSessions;
  readonly film: MediaItem;
}

async function send({ io, to, film }: Sending, context: EffectContext): Promise<UploadedVideo> {
  const { handle, saveHandle, key } = context;
  const { sizeBytes } = film.facts;
  const known = Session.safeParse(handle).data;
  // A film that was replaced meanwhile is another one; of the first, nothing came into being.
  const session = known?.sizeBytes === sizeBytes ? known : null;
  const progress = session === null ? null : await askSession(io, to, session);
  if (progress?.state === "gone") throw forgotten(to);
  if (progress?.state === "whole") return { ...progress.film, at: io.now() };
  const from = progress?.committed ?? 0;
  if (from >= sizeBytes)
    throw new PlatformFault("transient", `${to.title} has not finished putting the video together.`);

  const begin = async (): Promise<Session> => {
    const url = await to.begin(film, key);
    return { url, sizeBytes, beganAt: io.now(), isLastSent: false, absentAt: null };
  };
  const fresh = session ?? (await begin());
  if (session === null) await saveHandle(fresh);
  const response = await sendInChunks(io, {
    item: film,
    chunkBytes: to.chunkBytes,
    from,
    before: async ({ isLast }) => {
      if (isLast && !fresh.isLastSent) await saveHandle({ ...fresh, isLastSent: true });
    },
    request: {
      url: fresh.url,
      sign: to.sign,
      ...(to.contentType === undefined ? {} : { headers: { "content-type": to.contentType } }),
      classify: (answer) => (isGone(answer) ? forgotten(to) : to.classify(answer)),
    },
  });
  const made = to.read(response.json);
  if (made !== null) return { ...made, at: io.now() };
  throw unnamed(to);
}

/** The session is over: too old, or never was. */
function isGone({ status }: PlatformResponse): boolean {
  return status === 404 || status === 410;
}

/** What follows is decided when the step is reconciled: whether anything came of it. */
function forgotten({ title }: FilmSessions): PlatformFault {
  return new PlatformFault("transient", `${title} does not know the upload any more.`);
}

function unnamed({ title }: FilmSessions): PlatformFault {
  return new PlatformFault("transient", `${title} did not say which video the upload became.`);
}

/** How far an upload is. */
type Progress =
  | { readonly state: "whole"; readonly film: Film }
  | { readonly state: "partial"; readonly committed: number }
  | { readonly state: "gone" };

/** Throws what the upload was refused with. */
async function askSession(io: PublishIo, to: FilmSessions, session: Session): Promise<Progress> {
  const response = await io.request({
    method: "PUT",
    url: session.url,
    headers: { "content-length": "0", "content-range": `bytes */${session.sizeBytes}` },
    isIdempotent: true,
    sign: to.sign,
    classify: (answer) => (answer.status === 308 || isGone(answer) ? "ok" : to.classify(answer)),
  });
  if (isGone(response)) return { state: "gone" };
  if (response.status === 308) return { state: "partial", committed: committedBytes(response) };
  const film = to.read(response.json);
  if (film !== null) return { state: "whole", film };
  throw unnamed(to);
}

async function reconcile(
  io: PublishIo,
  to: FilmSessions,
  context: ReconcileContext,
): Promise<Reconciled<Json>> {
  const session = Session.safeParse(context.handle).data;
  // A session that is not filled makes no video.
  if (session === undefined) return { outcome: "send_again" };
  const progress = await askOrRefused(io, to, session);
  switch (progress.state) {
    case "whole":
      return { outcome: "done", result: { ...progress.film, at: io.now() } };
    case "partial":
      return progress.committed < session.sizeBytes
        ? { outcome: "send_again" }
        : { outcome: "ask_again", afterMs: ASSEMBLING_MS };
    case "refused":
      return { outcome: "send_again" };
    case "gone":
      if (session.isLastSent) return reconcileByUploads(io, to, { context, session });
      await context.saveHandle(null);
      return { outcome: "send_again" };
  }
}

/** A finished session repeats its answer, a refusal too: nothing came of it, and the next sending is told why. */
async function askOrRefused(
  ...asked: Parameters<typeof askSession>
): Promise<Progress | { readonly state: "refused" }> {
  try {
    return await askSession(...asked);
  } catch (error) {
    if (error instanceof PlatformFault && error.kind === "rejected") return { state: "refused" };
    throw error;
  }
}

const Note = z.object({ absentAt: z.number() });

/** The last byte may have arrived before the session died: then the video is among the account's uploads. */
function reconcileByUploads(
  io: PublishIo,
  { find }: FilmSessions,
  { context, session }: { readonly context: ReconcileContext; readonly session: Session },
): Promise<Reconciled<Json>> {
  const { absentAt, beganAt, sizeBytes } = session;
  return reconcileByListing<Json>(
    {
      intentAt: beganAt,
      wasTaken: context.wasTaken,
      handle: absentAt === null ? null : { absentAt },
      // Proven absent, the next sending begins a session of its own.
      saveHandle: (note) => context.saveHandle(note === null ? null : { ...session, ...Note.parse(note) }),
    },
    {
      io,
      listedAfterMs: LISTED_AFTER_MS,
      find: async (since) => {
        const film = await find({ since, sizeBytes, key: context.key });
        return film === null ? null : { ...film, at: io.now() };
      },
    },
  );
}

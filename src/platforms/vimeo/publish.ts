import * as z from "zod";
import { MINUTE } from "../../domain/time.ts";
import type { MediaItem } from "../../ports/media.ts";
import { type Json, type JsonObject, PlatformFault } from "../../ports/platform-io.ts";
import type { EffectContext, PublishIo, ReconcileContext, Reconciled } from "../../ports/publish-io.ts";
import { openFilm, unopened, UploadedVideo } from "../shared/film/sessions.ts";
import { reconcileByListing } from "../shared/reconcile.ts";
import { sendByTus, tusOffset, type TusUpload } from "../shared/uploads.ts";
import { askOwn, findVideo, idOf, removeVideo, Video, vimeoFaults } from "./api.ts";
import { fieldsOf, privacyOf, titleOf, VIEWS, type VimeoPost } from "./metadata.ts";
import { faultsBy } from "../shared/faults.ts";

/** What a broken connection sends twice at most. */
const CHUNK_BYTES = 16 * 1024 * 1024;

/** A video that was made stands in the list by then. */
const LISTED_AFTER_MS = MINUTE;

/** A video that is there, private, and waits for its film. */
const Session = z.object({
  id: z.string(),
  url: z.string().nullable(),
  uploadUrl: z.string(),
  sizeBytes: z.int(),
});
type Session = z.infer<typeof Session>;

/** Brings the film onto Vimeo in private: the video is made first, and filled chunk by chunk. */
export async function upload(post: VimeoPost, io: PublishIo): Promise<UploadedVideo> {
  const open = io.resultOf("upload") === null ? await openFilm(io, post.mediaUrl) : unopened;
  const said = { ...fieldsOf(post), privacy: { view: VIEWS.private, ...privacyOf(post.metadata) } };
  const uploaded = await io.effect<Json>({
    step: "upload",
    request: { mediaUrl: post.mediaUrl, ...said },
    send: (context) => send({ io, said, film: open() }, context),
    reconcile: (context) => reconcile(post, io, context),
  });
  return UploadedVideo.parse(uploaded);
}

interface Sending {
  readonly io: PublishIo;
  readonly said: JsonObject;
  readonly film: MediaItem;
}

async function send(
  { io, said, film }: Sending,
  { handle, saveHandle }: EffectContext,
): Promise<UploadedVideo> {
  const { sizeBytes } = film.facts;
  const known = Session.safeParse(handle).data;
  const isKnown = known?.sizeBytes === sizeBytes;
  // A film that was replaced meanwhile needs a video of its own.
  if (known !== undefined && !isKnown) await removeVideo(io, known.id);
  // By its size it is found again where the answer is lost.
  if (!isKnown) await saveHandle({ sizeBytes });
  const session = isKnown ? known : await begin(io, said, sizeBytes);
  if (!isKnown) await saveHandle(session);
  const from = isKnown ? await tusOffset(io, tusOf(io, session)) : 0;
  // What follows is decided when the step is reconciled.
  if (from === null) throw new PlatformFault("transient", "Vimeo does not know the upload any more.");
  await sendByTus(io, { ...tusOf(io, session), item: film, from, chunkBytes: CHUNK_BYTES });
  return doneWith(io, session);
}

function doneWith(io: PublishIo, { id, url }: Session): UploadedVideo {
  return { id, url, at: io.now() };
}

function tusOf(io: PublishIo, { uploadUrl }: Session): TusUpload {
  return { url: uploadUrl, classify: faultsBy(vimeoFaults(io)) };
}

async function begin(io: PublishIo, said: JsonObject, sizeBytes: number): Promise<Session> {
  const upload = { approach: "tus", size: String(sizeBytes) };
  const call = { method: "POST", path: "/me/videos", json: { upload, ...said } } as const;
  const session = sessionOf(await askOwn(io, call, Video), sizeBytes);
  if (session !== null) return session;
  throw new PlatformFault("ambiguous", "Vimeo did not say where to send the video.");
}

function sessionOf(video: Video, sizeBytes: number): Session | null {
  const uploadUrl = video.upload?.upload_link ?? "";
  return uploadUrl === "" ? null : { id: idOf(video), url: video.link ?? null, uploadUrl, sizeBytes };
}

async function reconcile(
  post: VimeoPost,
  io: PublishIo,
  context: ReconcileContext,
): Promise<Reconciled<Json>> {
  const session = Session.safeParse(context.handle).data;
  if (session === undefined) return adopt(post, io, context);
  const offset = await tusOffset(io, tusOf(io, session));
  if (offset !== null)
    return offset < session.sizeBytes
      ? { outcome: "send_again" }
      : { outcome: "done", result: doneWith(io, session) };
  const video = await findVideo(io, session.id, "uri,upload.status");
  if (video?.upload?.status === "complete") return { outcome: "done", result: doneWith(io, session) };
  // Half a film that cannot go on.
  if (video !== null) await removeVideo(io, session.id);
  await context.saveHandle(null);
  return { outcome: "send_again" };
}

const List = z.looseObject({ data: z.array(Video) });

/** The video may have been made although the answer was lost. It is empty and private, and is gone on with. */
async function adopt(post: VimeoPost, io: PublishIo, context: ReconcileContext): Promise<Reconciled<Json>> {
  const wanted = Wanted.safeParse(context.handle).data;
  if (wanted === undefined) return { outcome: "send_again" };
  const found = await reconcileByListing<Json>(context, {
    io,
    listedAfterMs: LISTED_AFTER_MS,
    find: (since) => findEmpty(post, io, { since, ...wanted }),
  });
  if (found.outcome !== "done") return found;
  await context.saveHandle(found.result);
  return { outcome: "send_again" };
}

const Wanted = z.object({ sizeBytes: z.int() });

async function findEmpty(
  post: VimeoPost,
  io: PublishIo,
  { since, sizeBytes }: { readonly since: number; readonly sizeBytes: number },
): Promise<Session | null> {
  const fields =
    "uri,link,name,description,created_time,upload.status,upload.upload_link,upload.size,privacy.view";
  const query = { sort: "date", direction: "desc", per_page: 50, fields };
  const { data } = await askOwn(io, { path: "/me/videos", query }, List);
  const own = data.find(
    ({ name, description, created_time: made, upload, privacy }) =>
      upload?.status === "in_progress" &&
      upload.size === sizeBytes &&
      privacy?.view === VIEWS.private &&
      (name ?? "") === titleOf(post) &&
      (description ?? "") === (post.caption ?? "") &&
      Date.parse(made) >= since,
  );
  return own === undefined ? null : sessionOf(own, sizeBytes);
}

import * as z from "zod";
import type { PlatformIo } from "../../ports/platform-io.ts";
import type { EffectContext, PublishIo } from "../../ports/publish-io.ts";
import type { SentFilm } from "../shared/meta/containers.ts";
import { Created, GONE_IS_OK, orGone } from "../shared/meta/graph.ts";
import { bytesOf, ruploadUrl, sendFilm, Uploading } from "../shared/meta/rupload.ts";
import { accountId, ask, classify } from "./api.ts";

/** A container whose film is on its way, and where that goes. */
const Session = z.object({ id: z.string(), url: z.string() });
const Begun = Created.extend({ uri: z.url().optional().catch(undefined) });

/**
 * A container of a film that Instagram cannot fetch, with as much of the film as is missing there. Only through
 * a Page: https://developers.facebook.com/documentation/instagram-platform/content-publishing/resumable-uploads
 */
export async function uploadFilm(
  { item, form }: SentFilm,
  io: PublishIo,
  context: EffectContext,
): Promise<string> {
  const known = Session.safeParse(context.handle).data;
  const before = known === undefined ? null : await readUpload(io, known.id);
  const isUsable = known !== undefined && before !== null;
  const { id, url } = isUsable ? known : await begin(form, io, context);
  if (before?.isWhole === true) return id;
  await sendFilm(io, { url, item, from: before?.bytes ?? 0, classify });
  return id;
}

async function begin(
  form: SentFilm["form"],
  io: PublishIo,
  { saveHandle }: EffectContext,
): Promise<z.infer<typeof Session>> {
  // One too many costs only its part of the quota.
  const call = { method: "POST", path: `${accountId(io)}/media`, form, isIdempotent: true } as const;
  const { id, uri } = await ask(io, call, Begun);
  const session = { id, url: ruploadUrl(io, uri, "ig-api-upload", id) };
  await saveHandle(session);
  return session;
}

const Upload = z.looseObject({
  status_code: z.string().catch(""),
  video_status: z.looseObject({ uploading_phase: Uploading.optional() }).optional().catch(undefined),
});

const OVER: readonly string[] = ["ERROR", "EXPIRED"];
const WHOLE: readonly string[] = ["FINISHED", "PUBLISHED"];

/** How much of a film its container has; null where nothing comes of it any more. */
async function readUpload(
  io: PlatformIo,
  id: string,
): Promise<{ readonly isWhole: boolean; readonly bytes: number } | null> {
  const query = { fields: "status_code,video_status" };
  const found = await ask(io, { path: id, query, rules: [GONE_IS_OK] }, orGone(Upload));
  if (found === null || OVER.includes(found.status_code)) return null;
  const uploading = found.video_status?.uploading_phase;
  const isWhole = WHOLE.includes(found.status_code) || uploading?.status === "complete";
  return { isWhole, bytes: bytesOf(uploading) };
}

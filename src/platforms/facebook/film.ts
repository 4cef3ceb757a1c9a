import * as z from "zod";
import type { Json, JsonObject } from "../../ports/platform-io.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import type { PublishIo, Settled, SettleContext } from "../../ports/publish-io.ts";
import { MINUTE, SECOND } from "../../domain/time.ts";
import { listAll } from "../shared/meta/graph.ts";
import { Id } from "../../ports/platform-values.ts";
import { readFilm } from "./film-status.ts";
import type { Placed } from "./find.ts";
import { askPage, pageOf, pageRequest } from "./graph.ts";
import type { FacebookPost, FilmKind } from "./metadata.ts";
import { timingOf } from "./schedule.ts";
import { uploadReel, uploadVideo } from "./upload.ts";

/** Facebook is at work on a film: nothing to do but to ask again. */
export class StillProcessing extends Error {
  readonly checkAgainMs = 5 * SECOND;
}

/**
 * A film is there, for nobody to see, before the step that makes it public, which names it: however often that
 * is sent, it is one post.
 */
export async function placeFilm(
  { post, kind }: { readonly post: FacebookPost; readonly kind: FilmKind },
  io: PublishIo,
): Promise<Placed> {
  const id = await io.effect<string>({
    step: "upload",
    request: { url: post.mediaUrl, kind },
    send: async (context) => {
      const item = await io.media.item(post.mediaUrl);
      return kind === "reel" ? uploadReel(item, io, context) : uploadVideo({ post, item }, io, context);
    },
    settle: async () => ({ outcome: "send_again" }),
    isGone: async (film) => {
      const state = await readFilm(io, film);
      return state === null || (kind === "reel" && state.fault !== null);
    },
  });
  if (kind === "video") await assertReady(id, io);
  return io.effect<Placed>({
    step: "post",
    request: { id, caption: post.caption, title: post.metadata.title ?? null },
    send: ({ timesSent }) => release({ post, kind, id, isAgain: timesSent > 0 }, io),
    settle: (context) => settleFilm({ post, kind, id }, io, context),
  });
}

/** A reel is processed once it is released; any other film as soon as it is there. */
async function assertReady(id: string, io: PublishIo): Promise<void> {
  const film = await readFilm(io, id);
  if (film?.fault !== undefined && film.fault !== null) throw film.fault;
  if (film !== null && !film.isReady) throw new StillProcessing();
}

interface Release {
  readonly post: FacebookPost;
  readonly kind: FilmKind;
  readonly id: string;
}

const Success = z.looseObject({ success: z.boolean().optional() });

async function release(
  { post, kind, id, isAgain }: Release & { isAgain: boolean },
  io: PublishIo,
): Promise<Placed> {
  const timing = timingOf(post, io);
  const when: JsonObject = timing.isScheduled ? { scheduled_publish_time: timing.at } : {};
  const path = kind === "reel" ? `${pageOf(io)}/video_reels` : id;
  const json: JsonObject =
    kind === "reel"
      ? {
          upload_phase: "finish",
          video_id: id,
          video_state: timing.isScheduled ? "SCHEDULED" : "PUBLISHED",
          ...textOf(post),
          ...when,
        }
      : { published: !timing.isScheduled, ...when };
  try {
    await askPage(io, { method: "POST", path, json }, Success);
  } catch (error) {
    // What was released before is not taken a second time.
    const film = isAgain && isRefusal(error) ? await readFilm(io, id) : null;
    const isTaken = film !== null && (film.isPublished || film.isScheduled || film.isBegun);
    if (!isTaken) throw error;
    return { id, isScheduled: film.isScheduled || timing.isScheduled };
  }
  return { id, isScheduled: timing.isScheduled };
}

function isRefusal(error: unknown): boolean {
  return error instanceof PlatformFault && error.kind === "rejected";
}

function textOf({ caption, metadata: { title } }: FacebookPost): Record<string, Json> {
  return {
    ...(caption === null ? {} : { description: caption }),
    ...(title === undefined ? {} : { title }),
  };
}

async function settleFilm(
  { post, kind, id }: Release,
  io: PublishIo,
  { intentAt }: SettleContext,
): Promise<Settled<Placed>> {
  const film = await readFilm(io, id);
  if (film?.isPublished === true) return { outcome: "done", result: { id, isScheduled: false } };
  if (film?.isScheduled === true) return { outcome: "done", result: { id, isScheduled: true } };
  // Only a restored copy, which does not know of what was uploaded, can have another one out.
  const other = await findOther({ post, kind, id }, io, intentAt - MINUTE);
  return other === null ? { outcome: "send_again" } : { outcome: "done", result: other };
}

const Listed = z.looseObject({
  id: Id,
  description: z.string().catch(""),
  created_time: z.string().transform((text) => Date.parse(text)),
  published: z.boolean().optional(),
});

async function findOther({ post, kind, id }: Release, io: PublishIo, since: number): Promise<Placed | null> {
  const text = (post.caption ?? "").trim();
  if (text === "") return null;
  const path = `${pageOf(io)}/${kind === "reel" ? "video_reels" : "videos"}`;
  const query = {
    fields: "id,description,created_time,published",
    ...(kind === "reel" ? {} : { type: "uploaded" }),
  };
  const films = await listAll(io, pageRequest(io, { method: "GET", path, query }), Listed, {
    perPage: 25,
    until: ({ created_time: at }) => at < since,
  });
  const isOurs = (film: z.infer<typeof Listed>): boolean =>
    film.id !== id &&
    film.created_time >= since &&
    film.published !== false &&
    film.description.trim() === text;
  const found = films.find(isOurs);
  return found === undefined ? null : { id: found.id, isScheduled: false };
}

import * as z from "zod";
import { PlatformFault, type JsonObject, type PlatformIo } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { Created } from "../shared/meta/graph.ts";
import { Duplicate, orDuplicate, orGone } from "./faults.ts";
import { findPost, settlePost, type Placed } from "./find.ts";
import { askPage, pageOf } from "./graph.ts";
import type { FacebookPost } from "./metadata.ts";
import { preparePhotos } from "./photos.ts";
import { timingOf, type Timing } from "./schedule.ts";
import { GoneBody } from "../shared/meta/faults.ts";

/**
 * Text, a link, or pictures. The pictures go first, for nobody to see, one too: what makes the post is a small
 * request then, and a lost answer is found again by them.
 */
export async function placeOnFeed(post: FacebookPost, io: PublishIo): Promise<Placed> {
  const photos = await preparePhotos(post, io);
  const content = contentOf(post, photos);
  return io.effect<Placed>({
    step: "post",
    request: content,
    send: async ({ timesSent }) => {
      const startedAt = io.now();
      const timing = timingOf(post, io);
      try {
        const json = { ...content, ...fieldsOf(timing) };
        const call = { method: "POST", path: `${pageOf(io)}/feed`, json, classify: orDuplicate } as const;
        const { id } = await askPage(io, call, Created);
        return { id, isScheduled: timing.isScheduled };
      } catch (error) {
        // Of a first sending it is another post's; after it, most likely our own.
        if (!(error instanceof Duplicate) || timesSent === 0) throw error;
        const found = await findPost({ post, photos, since: startedAt - ADOPTED_FROM_MS }, io);
        if (found !== null) return found;
        throw new PlatformFault("ambiguous", "Facebook says that it already has the post.", { cause: error });
      }
    },
    settle: (context) => settlePost({ post, photos }, io, context),
  });
}

/** How far back a post may lie that Facebook takes for the same. */
const ADOPTED_FROM_MS = 2 * 60 * 60_000;

function contentOf({ caption, metadata }: FacebookPost, photos: readonly string[]): JsonObject {
  return {
    ...(caption === null ? {} : { message: caption }),
    ...(metadata.link === undefined ? {} : { link: metadata.link }),
    ...(photos.length === 0 ? {} : { attached_media: photos.map((id) => ({ media_fbid: id })) }),
  };
}

function fieldsOf(timing: Timing): JsonObject {
  if (!timing.isScheduled) return { published: true };
  return { published: false, scheduled_publish_time: timing.at, unpublished_content_type: "SCHEDULED" };
}

const State = z.looseObject({ is_published: z.boolean() });

/** Whether a post is public; null where it is gone. */
export async function readPost(io: PlatformIo, id: string): Promise<{ isPublished: boolean } | null> {
  const query = { fields: "is_published" };
  const call = { method: "GET", path: id, query, classify: orGone } as const;
  const answer = await askPage(io, call, z.union([GoneBody, State]));
  return "error" in answer ? null : { isPublished: State.parse(answer).is_published };
}

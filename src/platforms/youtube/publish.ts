import { AppError } from "../../domain/errors.ts";
import { MINUTE, toIso } from "../../domain/time.ts";
import type { PublishOutcome } from "../../ports/platform.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import { publishHeld } from "../shared/film/held.ts";
import { checkPost } from "./check.ts";
import { addToPlaylist, thumbnailOf } from "./extras.ts";
import { visibilityOf, type YoutubePost } from "./metadata.ts";
import { upload } from "./upload.ts";
import { findVideo, standingOf } from "./video.ts";
import { changeVisibility } from "./visibility.ts";

/** A video that YouTube works on for longer than this is shown all the same: in its first qualities. */
const PROCESSING_PATIENCE_MS = 15 * MINUTE;

const STAYS_PRIVATE =
  "The video is on YouTube, but YouTube keeps it private although its time has come. It does so with all " +
  "uploads of a Google Cloud project that has not passed YouTube's audit: ask for it at " +
  "https://support.google.com/youtube/contact/yt_api_form, and look at the video in YouTube Studio.";

/** Uploads the film in private, and makes it what it is to be at its time, where YouTube does not by itself. */
export async function publish(post: YoutubePost, io: PublishIo): Promise<PublishOutcome> {
  const [problem] = checkPost(post).errors;
  if (problem !== undefined) throw new AppError("invalid", problem);
  return publishHeld(io, {
    title: "YouTube",
    post,
    wanted: visibilityOf(post),
    hidden: "private",
    patienceMs: PROCESSING_PATIENCE_MS,
    thumbnail: thumbnailOf(io, post.metadata.thumbnailUrl),
    staysHidden: STAYS_PRIVATE,
    upload: () => upload(post, io),
    look: async (id) => {
      const video = await findVideo(io, id, "status,processingDetails");
      return video === null ? null : standingOf(video);
    },
    flip: (id, wanted) => changeVisibility(io, id, wanted),
    // That YouTube kept a video private is told with the channel and with its next posts.
    after: async (isShown) => {
      if (isShown === isKnownToBeKept(io))
        await io.remember({ keptPrivateAt: isShown ? null : toIso(io.now()) });
    },
    extras: async (id) => {
      if (post.metadata.playlistId !== undefined)
        await io.extra("The playlist", () => addToPlaylist(post, io, id));
    },
  });
}

function isKnownToBeKept({ account }: PublishIo): boolean {
  return typeof account.settings["keptPrivateAt"] === "string";
}

import { MINUTE, SECOND } from "../../domain/time.ts";
import { PlatformFault } from "../../ports/platform-io.ts";
import type { PublishIo } from "../../ports/publish-io.ts";
import type { FacebookPost } from "./metadata.ts";

/** Facebook takes posts from 10 minutes ahead on; the rest is for the way there and its clock. */
const SOONEST_MS = 11 * MINUTE;

/** Facebook's own schedule is over for this post: it goes out at its time. */
export class TooNear extends PlatformFault {
  constructor() {
    super("not_sent", "It is too late for Facebook's own schedule. The post goes out at its time.");
  }
}

export type Timing =
  | { readonly isScheduled: false }
  | {
      readonly isScheduled: true;
      /** Seconds since 1970, never before the post's time. */
      readonly at: number;
    };

/** Whether there is time enough left for Facebook's own schedule. */
export function canSchedule({ scheduledAt }: FacebookPost, io: PublishIo): boolean {
  return scheduledAt - io.now() >= SOONEST_MS;
}

/** How a post goes out that is sent now. Throws TooNear where it must not be sent yet. */
export function timingOf(post: FacebookPost, io: PublishIo): Timing {
  if (io.isDue) return { isScheduled: false };
  if (!canSchedule(post, io)) throw new TooNear();
  return { isScheduled: true, at: Math.ceil(post.scheduledAt / SECOND) };
}

/** Facebook publishes within a minute or two of the time; then we do. */
export const FLIP_AFTER_MS = 5 * MINUTE;

import { signal } from "@preact/signals";
import type { Post } from "../../../src/domain/posts/post.ts";
import { now } from "../../shared/clock.ts";
import { isRoomShown } from "../data/address.tsx";
import { channelName, loadStatus } from "../data/shared-data.ts";
import { sayFirst } from "../../ui/toasts.tsx";
import { placesOf, type SentPost, outcomeMessage } from "./outcome-message.ts";
import { untilOver } from "./until-over.ts";

/** The server's clock may be ahead of the browser's. */
const SKEW_MS = 2_000;

/** Those that are sent at once. */
export function dueNow<T extends Pick<Post, "scheduledAt">>(posts: readonly T[]): readonly T[] {
  return posts.filter(({ scheduledAt }) => Date.parse(scheduledAt) <= now() + SKEW_MS);
}

/** How many messages wait for what becomes of their posts. */
export const following = signal(0);

/**
 * Says that these are on their way, and in the same message what became of them, in whichever room that is read.
 * `isAgain`: they failed before.
 */
export function followPosts(posts: readonly SentPost[], isAgain = false): void {
  const turn = sayFirst({ text: `On its way to ${placesOf(posts, channelName)} …` });
  const show = (now: readonly SentPost[], isLast: boolean): void =>
    turn(outcomeMessage(now, channelName, isRoomShown, isAgain), isLast);
  following.value += 1;
  void untilOver(posts, { onChange: loadStatus, onWait: (waiting) => show(waiting, false) }).then((ended) => {
    following.value -= 1;
    show(ended, true);
  });
}

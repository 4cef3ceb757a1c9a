import { signal } from "@preact/signals";
import type { Post } from "../../../src/domain/posts/post.ts";
import { now } from "../../shared/clock.ts";
import { isRoomShown } from "../data/address.tsx";
import { briefName, learnPosts, loadStatus } from "../data/shared-data.ts";
import { call } from "../data/tools.ts";
import { sayFirst } from "../../ui/toasts.tsx";
import { isHeld, isOver, placesOf, type SentPost, outcomeMessage } from "./outcome-message.ts";

const ASK_EVERY_MS = 700;
/** What is not over by then takes longer than anybody looks at a message. */
const FOLLOWED_MS = 120_000;
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
  const turn = sayFirst({ text: `On its way to ${placesOf(posts, briefName)} …` });
  const show = (now: readonly SentPost[], isLast: boolean): void =>
    turn(outcomeMessage(now, briefName, isRoomShown, isAgain), isLast);
  following.value += 1;
  void untilOver(posts, (waiting) => show(waiting, false)).then((ended) => {
    following.value -= 1;
    show(ended, true);
  });
}

/** `onWait`: told as long as the server says why the rest does not go out yet. */
async function untilOver(
  posts: readonly SentPost[],
  onWait: (posts: readonly SentPost[]) => void,
): Promise<readonly SentPost[]> {
  const until = performance.now() + FOLLOWED_MS;
  let shown = posts;
  while (shown.some(({ status }) => !isOver({ status })) && performance.now() < until) {
    const before = shown;
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    shown = await Promise.all(
      // Offline it is asked again.
      shown.map(async (post) => (isOver(post) ? post : readAgain(post).catch(() => post))),
    );
    // Counts and cards know what the message is about to say.
    if (shown.some(({ status }, at) => status !== before[at]?.status)) await loadStatus();
    if (isHeld(shown)) onWait(shown);
  }
  return shown;
}

async function readAgain({ id }: SentPost): Promise<SentPost> {
  const { post } = await call("get_post", { id });
  learnPosts([post]);
  return post;
}

import type { Post } from "../../../src/domain/posts/post.ts";
import { now } from "../../shared/clock.ts";
import { isRoomShown } from "../data/address.tsx";
import { channelName, loadStatus } from "../data/shared-data.ts";
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

/** Says that these are on their way, and in the same message what became of them, in whichever room that is read. */
export function followPosts(posts: readonly SentPost[]): void {
  const turn = sayFirst({ text: `On its way to ${placesOf(posts, channelName)} …` });
  const show = (now: readonly SentPost[], isLast: boolean): void =>
    turn(outcomeMessage(now, channelName, isRoomShown), isLast);
  void untilOver(posts, (waiting) => show(waiting, false)).then((ended) => {
    show(ended, true);
    void loadStatus();
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
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    shown = await Promise.all(
      // Offline it is asked again.
      shown.map(async (post) => (isOver(post) ? post : readAgain(post).catch(() => post))),
    );
    if (isHeld(shown)) onWait(shown);
  }
  return shown;
}

async function readAgain({ id }: SentPost): Promise<SentPost> {
  return (await call("get_post", { id })).post;
}

import type { Post } from "../../../src/domain/posts/post.ts";
import { learnPosts } from "../data/learned-posts.ts";
import { call } from "../data/tools.ts";
import { isHeld, isOver, type SentPost } from "./outcome-message.ts";

const ASK_EVERY_MS = 700;
/** What is not over by then takes longer than anybody looks at a message. */
const FOLLOWED_MS = 120_000;

interface Listener {
  /** Loads counts anew. What the rest of the page knows by then may be said. */
  onChange(): Promise<void>;
  /** Told as long as the server says why the rest does not go out yet. */
  onWait(posts: readonly SentPost[]): void;
}

/** Asks until these are over, or for as long as a message is looked at. */
export async function untilOver(
  posts: readonly SentPost[],
  { onChange, onWait }: Listener,
): Promise<readonly SentPost[]> {
  const until = performance.now() + FOLLOWED_MS;
  let shown = posts;
  while (shown.some((post) => !isOver(post)) && performance.now() < until) {
    const before = shown;
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    shown = await Promise.all(
      // Offline it is asked again.
      shown.map(async (post) => (isOver(post) ? post : readAgain(post).catch(() => post))),
    );
    if (shown.some(({ status }, at) => status !== before[at]?.status)) await onChange();
    if (isHeld(shown)) onWait(shown);
  }
  return shown;
}

async function readAgain({ id }: SentPost): Promise<Post> {
  const { post } = await call("get_post", { id });
  learnPosts([post]);
  return post;
}

import { call } from "../../data/tools.ts";
import type { LivePost } from "./counts.ts";

/** Of the last posts; more are said to be left out. */
const MAX_PAGES = 20;
const PAGE_POSTS = 500;

export interface LivePosts {
  readonly posts: readonly LivePost[];
  /** Older ones were left out. */
  readonly isCut: boolean;
}

/** What went live since a moment, newest first. */
export async function loadPublished(from: number, signal: AbortSignal): Promise<LivePosts> {
  const posts: LivePost[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer: Awaited<ReturnType<typeof askPage>> = await askPage(from, cursor, signal);
    for (const { accountId, publishedAt, scheduledAt } of answer.posts)
      posts.push({ accountId, at: Date.parse(publishedAt ?? scheduledAt) });
    cursor = answer.nextCursor;
    if (cursor === null) return { posts, isCut: false };
  }
  return { posts, isCut: true };
}

function askPage(from: number, cursor: string | null, signal: AbortSignal) {
  const args = {
    status: ["published"],
    from: new Date(from).toISOString(),
    limit: PAGE_POSTS,
    ...(cursor !== null && { cursor }),
  };
  return call("list_posts", args, { signal });
}

import type { PostPage } from "../../../src/domain/posts/post-lists.ts";
import type { Json } from "../../shared/json.ts";
import type { CallOptions } from "./wire.ts";
import { call } from "./tools.ts";

/** The most posts of one answer. */
export const LARGEST_PAGE = 500;

/** All posts that fit, the latest first. */
export async function listAllPosts(args: Json, options: CallOptions = {}): Promise<PostPage["posts"]> {
  const posts: PostPage["posts"] = [];
  let cursor: string | null = null;
  do {
    const part = { ...args, limit: LARGEST_PAGE, ...(cursor !== null && { cursor }) };
    const page: PostPage = await call("list_posts", part, options);
    posts.push(...page.posts);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return posts;
}

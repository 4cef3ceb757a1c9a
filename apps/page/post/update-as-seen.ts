import type { Post } from "../../../src/domain/posts/post.ts";
import type { Json } from "../../shared/json.ts";
import { shortTime } from "../../shared/when.ts";
import { changeAsSeen, OtherThanSeen } from "../../features/post/as-seen.ts";
import { learnPosts } from "../data/shared-data.ts";
import { call } from "../data/tools.ts";

/** By the post that a question is about: as it is after others changed it, which the person was told. */
const told = new WeakMap<Post, Post>();

/** Changes a post that waits, where these fields of it are as the person saw them, or was told. */
export async function updateAsSeen(
  post: Post,
  args: Json,
  fields: readonly (keyof Post & string)[],
): Promise<Post> {
  let read = post;
  try {
    return await changeAsSeen(told.get(post) ?? post, {
      fields: ["status", ...fields],
      change: async (ifUpdatedAt) => (await call("update_post", { id: post.id, ...args, ifUpdatedAt })).post,
      read: async () => (read = (await call("get_post", { id: post.id })).post),
      when: shortTime,
    });
  } catch (error) {
    if (error instanceof OtherThanSeen) {
      told.set(post, read);
      learnPosts([read]);
    }
    throw error;
  }
}

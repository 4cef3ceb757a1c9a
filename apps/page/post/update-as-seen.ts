import type { Post } from "../../../src/domain/posts/post.ts";
import type { Json } from "../../shared/json.ts";
import { shortTime } from "../../shared/when.ts";
import { changeAsSeen } from "../../features/post/as-seen.ts";
import { call } from "../data/tools.ts";

/** Changes a post that waits, where these fields of it are as the person saw them. */
export function updateAsSeen(post: Post, args: Json, fields: readonly (keyof Post)[]): Promise<Post> {
  return changeAsSeen(post, {
    fields: ["status", ...fields],
    change: async (ifUpdatedAt) => (await call("update_post", { id: post.id, ...args, ifUpdatedAt })).post,
    read: async () => (await call("get_post", { id: post.id })).post,
    when: shortTime,
  });
}

import type { Post } from "../../../src/domain/posts/post.ts";
import type { Json } from "../../shared/json.ts";
import { shortTime } from "../../shared/when.ts";
import { changeAsSeen } from "../../features/post/as-seen.ts";
import { learnPosts } from "../data/learned-posts.ts";
import { call } from "../data/tools.ts";

/** Changes a post that waits, where these fields of it are as the person saw them. What others made of it is shown. */
export function updateAsSeen(
  post: Post,
  args: Json,
  fields: readonly (keyof Post & string)[],
): Promise<Post> {
  return changeAsSeen(post, {
    fields: ["status", ...fields],
    change: async (ifUpdatedAt) => (await call("update_post", { id: post.id, ...args, ifUpdatedAt })).post,
    read: async () => {
      const { post: read } = await call("get_post", { id: post.id });
      learnPosts([read]);
      return read;
    },
    when: shortTime,
  });
}

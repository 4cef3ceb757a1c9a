import { ListPostsArgs, PostPage } from "../src/domain/posts/post-lists.ts";
import { listPosts } from "../src/posts/drafts/list-posts.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "list_posts",
  title: "List posts",
  description:
    "Posts, newest scheduled time first. Use it to see what failed, or to find a post. For what is next use show_calendar. " +
    'Example: {"status":["scheduled"],"search":"summer sale"}',
  permission: "read",
  hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
  input: ListPostsArgs,
  output: PostPage,
  handle: (args, call) => listPosts(call, args),
});

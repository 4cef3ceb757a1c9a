import { ListPostsArgs, PostPage } from "../src/domain/posts/post-lists.ts";
import { listPosts } from "../src/posts/list-posts.ts";
import { defineTool } from "../src/toolkit/define-tool.ts";

export default defineTool({
  name: "list_posts",
  title: "List posts",
  description:
    "Lists posts, newest scheduled time first, a page at a time. Use it to see what failed, or to find a post " +
    "and its id. For what is next use show_calendar. Filters narrow each other, values of a list are " +
    "alternatives. " +
    'Example: {"status":["scheduled"],"search":"summer sale"}',
  permission: "read",
  hints: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
  input: ListPostsArgs,
  output: PostPage,
  handle: (args, call) => listPosts(call, args),
});

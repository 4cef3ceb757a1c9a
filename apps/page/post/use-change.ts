import type { Post } from "../../../src/domain/posts/post.ts";
import type { Json } from "../../shared/json.ts";
import { call } from "../data/tools.ts";
import { useWork } from "../../ui/use-work.ts";
import { dueNow, followPosts } from "./follow-posts.ts";
import { say } from "../../ui/toasts.tsx";

export interface PostActionsProps {
  readonly post: Post;
  onChanged(): void;
}

type Change = "update_post" | "retry_post" | "cancel_post" | "resolve_post";

/** Does one thing to a post, with the refusal in words. Answers whether it was done. */
export function useChange(onChanged: () => void) {
  const { doing, error, run } = useWork();
  const change = (name: Change, args: Json, said: string): Promise<boolean> =>
    run(async () => {
      const { post } = await call(name, args);
      const isSent = name === "retry_post" && dueNow([post]).length > 0;
      // A post that is to go out at once may have to wait, and the server says why.
      const waits = post.status === "scheduled" && dueNow([post]).length > 0 ? post.error : null;
      if (isSent) followPosts([post]);
      else say(waits ?? said);
      onChanged();
    }, name);
  return { doing, error, change };
}

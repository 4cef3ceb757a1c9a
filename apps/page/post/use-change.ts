import { useState } from "preact/hooks";
import type { Post } from "../../../src/domain/posts/post.ts";
import type { Json } from "../../shared/json.ts";
import { call } from "../data/tools.ts";
import { useRefusal } from "../data/use-refusal.ts";
import { dueNow, followPosts } from "./follow-posts.ts";
import { say } from "../../ui/toasts.tsx";
import { sentenceOf } from "../wire.ts";

export interface PostActionsProps {
  readonly post: Post;
  onChanged(): void;
}

type Change = "update_post" | "retry_post" | "cancel_post" | "resolve_post";

/** Does one thing to a post, with the refusal in words. Answers whether it was done. */
export function useChange(onChanged: () => void) {
  const [doing, setDoing] = useState<string | null>(null);
  const [error, setError] = useRefusal();
  const change = async (name: Change, args: Json, said: string): Promise<boolean> => {
    setDoing(name);
    setError(null);
    try {
      const { post } = await call(name, args);
      const isSent = name === "retry_post" && dueNow([post]).length > 0;
      if (isSent) followPosts([post]);
      else say(said);
      onChanged();
      return true;
    } catch (reason) {
      setError(sentenceOf(reason));
      return false;
    } finally {
      setDoing(null);
    }
  };
  return { doing, error, change };
}

import { signal } from "@preact/signals";
import type { Post } from "../../../src/domain/posts/post.ts";
import { newestOf } from "../../shared/newest.ts";

/** Posts as an answer about them had them last, by their ids. Lists that were asked for before may have them older. */
export const learnedPosts = signal<ReadonlyMap<string, Post>>(new Map());

/** Shows these in every room, whatever it read before. */
export function learnPosts(posts: readonly Post[]): void {
  const known = learnedPosts.value;
  const newest = posts.map((post) => [post.id, newestOf(post, known)] as const);
  learnedPosts.value = new Map([...known, ...newest]);
}

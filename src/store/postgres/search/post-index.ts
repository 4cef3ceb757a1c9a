import { searchableText } from "../../../domain/compare-words.ts";
import { change } from "../../engine/statements.ts";
import type { PostIndex } from "../../engine/store.ts";
import { toStored } from "./words.ts";

const PUT = "INSERT INTO post_search (sort_key, owner_id, words, marked) VALUES (?, ?, ?::tsvector, ?)";
const REMOVE = "DELETE FROM post_search WHERE sort_key = ?";

/** The table `post_search`, with GIN over its words. */
export const postIndex: PostIndex = {
  put: async (tx, post) => {
    const { words, marked } = toStored(searchableText(post));
    await change(tx, PUT, [post.sortKey, post.ownerId, words, marked]);
  },
  remove: async (tx, sortKey) => {
    await change(tx, REMOVE, [sortKey]);
  },
};

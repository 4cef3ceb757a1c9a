import { sql } from "kysely";
import type { PostIndex } from "../engine/engine.ts";
import { change, rowsOf } from "../engine/statements.ts";

/**
 * The table `post_search`, with GIN over its tokens: a table of its own, since every change of a post's state writes
 * its row anew, and would write each token anew. No dictionary of the server changes a token.
 */
export const postIndex: PostIndex = {
  put: async (tx, postId, tokens) => {
    await change(
      tx,
      sql`INSERT INTO post_search (post_id, tokens) VALUES (${postId}, array_to_tsvector(${[...tokens]}))
        ON CONFLICT (post_id) DO UPDATE SET tokens = excluded.tokens`,
    );
  },
  find: async (reader, tokens, limit) => {
    const match = tokens.map(({ text, isPrefix }) => `'${text}'${isPrefix ? ":*" : ""}`).join(" & ");
    const found = sql<{ id: string }>`
      SELECT post_id AS id FROM post_search WHERE tokens @@ ${match}::tsquery LIMIT ${limit}`;
    return (await rowsOf(reader, found)).map(({ id }) => id);
  },
};

import { sql } from "kysely";
import { queryOf } from "../engine/statements.ts";
import type { PostIndex } from "../engine/store.ts";
import { tokensOf, wantedTokens } from "../queries/search.ts";

/**
 * The table `post_search`, with GIN over its tokens: a table of its own, since every change of a post's state writes
 * its row anew, and would write each token anew. No dictionary of the server changes a token.
 */
export const postIndex: PostIndex = {
  put: async (tx, post) => {
    await sql`
      INSERT INTO post_search (post_id, tokens) VALUES (${post.id}, array_to_tsvector(${tokensOf(post)}))
      ON CONFLICT (post_id) DO UPDATE SET tokens = excluded.tokens`.execute(queryOf(tx));
  },
  find: async (reader, terms, limit) => {
    const tokens = wantedTokens(terms);
    if (tokens.length === 0) return null;
    const match = tokens.map(({ text, isPrefix }) => `'${text}'${isPrefix ? ":*" : ""}`).join(" & ");
    const { rows } = await sql<{ id: string }>`
      SELECT post_id AS id FROM post_search WHERE tokens @@ ${match}::tsquery LIMIT ${limit + 1}`.execute(
      queryOf(reader),
    );
    if (rows.length > limit) return null;
    const ids = rows.map(({ id }) => id);
    return sql`(SELECT posts.* FROM unnest(${ids}::text[]) AS one (id) JOIN posts ON posts.id = one.id) AS p`;
  },
};

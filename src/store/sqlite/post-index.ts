import type { PostIndex } from "../engine/engine.ts";
import { change, rowsOf } from "../engine/statements.ts";

/**
 * FTS5's `search_index`, which stores no text. Its rowids are numbers from `search_posts`, because VACUUM may change
 * the rowids of posts. Its tokenizer splits only at ASCII signs, and no token has one.
 */
export const postIndex: PostIndex = {
  put: async (tx, postId, tokens) => {
    // A post keeps the number that it has.
    await change(tx, "INSERT INTO search_posts (post_id) VALUES (?) ON CONFLICT DO NOTHING", [postId]);
    await change(tx, PUT, [tokens.join(" "), postId]);
  },
  find: async (reader, tokens, limit) => {
    const match = tokens.map(({ text, isPrefix }) => `"${text}"${isPrefix ? "*" : ""}`).join(" AND ");
    return (await rowsOf<{ id: string }>(reader, FIND, [match, limit])).map(({ id }) => id);
  },
};

const PUT = `
  INSERT OR REPLACE INTO search_index (rowid, tokens) SELECT number, ? FROM search_posts WHERE post_id = ?`;

const FIND = `
  SELECT post_id AS id FROM search_index CROSS JOIN search_posts ON number = search_index.rowid
  WHERE search_index MATCH ? LIMIT ?`;

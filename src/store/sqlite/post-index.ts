import { sql } from "kysely";
import { queryOf } from "../engine/statements.ts";
import { rawOf, type SqliteDatabase } from "./driver.ts";
import type { IndexedPost, PostIndex } from "../engine/store.ts";
import { tokensOf, wantedTokens } from "../queries/search.ts";

/**
 * FTS5's `search_index`, which stores no text. Its rowids are numbers from `search_posts`, because VACUUM may change
 * the rowids of posts. Its tokenizer splits only at ASCII signs, and no token has one.
 */
export const postIndex: PostIndex = {
  put: async (tx, post) => indexPost(rawOf(tx), post),
  find: async (reader, terms, limit) => {
    const tokens = wantedTokens(terms);
    if (tokens.length === 0) return null;
    const match = tokens.map(({ text, isPrefix }) => `"${text}"${isPrefix ? "*" : ""}`).join(" AND ");
    const { rows } = await sql<{ count: number; ids: string }>`
      SELECT count(*) AS count, json_group_array(post_id) AS ids FROM (
        SELECT post_id FROM search_index CROSS JOIN search_posts ON number = search_index.rowid
        WHERE search_index MATCH ${match} LIMIT ${limit + 1})`.execute(queryOf(reader));
    const { count = 0, ids = "[]" } = rows[0] ?? {};
    if (count > limit) return null;
    return sql`(SELECT posts.* FROM json_each(${ids}) AS one CROSS JOIN posts ON posts.id = one.value) AS p`;
  },
};

/** The same without a transaction of ours. */
export function indexPost(raw: SqliteDatabase, post: IndexedPost): void {
  const { number } = raw.prepare(NUMBER).get([post.id]) as { number: number };
  raw.prepare(PUT).run([number, tokensOf(post).join(" ")]);
}

/** A post keeps the number that it has. */
const NUMBER = `
  INSERT INTO search_posts (post_id) VALUES (?) ON CONFLICT (post_id) DO UPDATE SET post_id = excluded.post_id
  RETURNING number`;
const PUT = "INSERT OR REPLACE INTO search_index (rowid, tokens) VALUES (?, ?)";

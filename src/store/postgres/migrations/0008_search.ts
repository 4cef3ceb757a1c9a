import type { ClientBase } from "pg";
import type { Metadata } from "../../../domain/posts/post.ts";
import { tokensOf } from "../../queries/search.ts";

const TEXT = `text COLLATE "C"`;

/** Posts stand by their time and id, and their tokens in a table of their own: see src/store/postgres/post-index.ts. */
export const statements: readonly (string | ((client: ClientBase) => Promise<void>))[] = [
  // Its indexes go with it.
  `ALTER TABLE posts DROP COLUMN sort_key`,
  `CREATE INDEX posts_owner ON posts (owner_id, scheduled_at, id)`,
  `CREATE INDEX posts_account ON posts (account_id, scheduled_at, id)`,
  `CREATE INDEX posts_status ON posts (owner_id, status, scheduled_at, id)`,
  `CREATE INDEX posts_account_status ON posts (account_id, status, scheduled_at, id)`,
  `CREATE INDEX posts_claim ON posts (account_id, due_at, id) WHERE next_at IS NOT NULL AND lease_worker IS NULL`,

  `DROP TABLE post_search`,
  `CREATE TABLE post_search (post_id ${TEXT} PRIMARY KEY, tokens tsvector NOT NULL)`,
  indexAll,
  // Entries that wait in a list to be sorted in make rare words three times as slow until the next vacuum.
  `CREATE INDEX post_search_tokens ON post_search USING gin (tokens) WITH (fastupdate = off)`,
];

interface Row {
  readonly id: string;
  readonly caption: string | null;
  readonly metadata: string | null;
}

const NEXT = "SELECT id, caption, metadata FROM posts WHERE id > $1 ORDER BY id LIMIT 1000";
const PUT = `
  INSERT INTO post_search (post_id, tokens)
  SELECT id, array_to_tsvector(ARRAY(SELECT jsonb_array_elements_text(tokens))) FROM jsonb_to_recordset($1) AS one (id text, tokens jsonb)`;

async function indexAll(client: ClientBase): Promise<void> {
  for (let after = ""; ;) {
    const { rows } = await client.query<Row>(NEXT, [after]);
    const posts = rows.map(({ id, caption, metadata }) => {
      const read = metadata === null ? null : (JSON.parse(metadata) as Metadata);
      return { id, tokens: tokensOf({ caption, metadata: read }) };
    });
    await client.query(PUT, [JSON.stringify(posts)]);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

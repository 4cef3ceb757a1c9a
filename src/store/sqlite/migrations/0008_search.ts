import type { Metadata } from "../../../domain/posts/post.ts";
import type { SqliteDatabase } from "../driver.ts";
import { indexPost } from "../post-index.ts";

/** Posts stand by their time and id, and their words in FTS5's own index: see src/store/sqlite/post-index.ts. */
export const statements: readonly (string | ((database: SqliteDatabase) => void))[] = [
  ...["sort", "owner", "account", "status", "provider", "account_status", "claim", "displaced"].map(
    (index) => `DROP INDEX posts_${index}`,
  ),
  `ALTER TABLE posts DROP COLUMN sort_key`,
  `CREATE INDEX posts_owner ON posts (owner_id, scheduled_at, id)`,
  `CREATE INDEX posts_account ON posts (account_id, scheduled_at, id)`,
  `CREATE INDEX posts_status ON posts (owner_id, status, scheduled_at, id)`,
  `CREATE INDEX posts_account_status ON posts (account_id, status, scheduled_at, id)`,
  `CREATE INDEX posts_claim ON posts (account_id, due_at, id) WHERE next_at IS NOT NULL AND lease_worker IS NULL`,

  `DROP TABLE search_index`,
  `DROP TABLE search_terms`,
  `CREATE TABLE search_posts (number INTEGER PRIMARY KEY, post_id TEXT NOT NULL UNIQUE) STRICT`,
  `CREATE VIRTUAL TABLE search_index USING fts5 (
    tokens, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii', prefix = '2 3'
  )`,
  indexAll,
];

interface Row {
  readonly id: string;
  readonly caption: string | null;
  readonly metadata: string | null;
}

const NEXT = "SELECT id, caption, metadata FROM posts WHERE id > ? ORDER BY id LIMIT 1000";

function indexAll(database: SqliteDatabase): void {
  for (let after = ""; ;) {
    const rows = database.prepare(NEXT).all([after]) as Row[];
    for (const { id, caption, metadata } of rows) {
      const read = metadata === null ? null : (JSON.parse(metadata) as Metadata);
      indexPost(database, { id, caption, metadata: read });
    }
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

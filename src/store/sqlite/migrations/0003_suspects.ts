/** Posts that were being worked on when a process ended, and posts whose moment had no sort key left. */
export const statements: readonly string[] = [
  `ALTER TABLE posts ADD COLUMN ends INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE posts ADD COLUMN lone_ends INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE posts ADD COLUMN ends_at_step TEXT`,
  `CREATE INDEX posts_suspects ON posts (ends) WHERE ends > 0`,
  `ALTER TABLE workers ADD COLUMN is_closing INTEGER NOT NULL DEFAULT 0`,
  // Nearly always empty: see src/store/search/sort-key.ts.
  `CREATE INDEX posts_displaced ON posts (owner_id, scheduled_at, sort_key) WHERE sort_key >> 16 <> scheduled_at`,
];

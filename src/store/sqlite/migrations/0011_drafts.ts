/** Drafts, and what a plan says of posts: the draft that they come from, labels, a note. */
export const statements: readonly string[] = [
  `CREATE TABLE drafts (
    id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, title TEXT, caption TEXT, media_url TEXT NOT NULL, metadata TEXT,
    targets TEXT NOT NULL, scheduled_at INTEGER, slot TEXT, repeat TEXT, labels TEXT NOT NULL, note TEXT,
    state TEXT NOT NULL, revision INTEGER NOT NULL, checks TEXT NOT NULL, changes TEXT NOT NULL, key_id TEXT NOT NULL,
    decision TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX drafts_owner ON drafts (owner_id, updated_at, id)`,
  `CREATE INDEX drafts_repeating ON drafts (id) WHERE state = 'repeating'`,

  `CREATE TABLE post_plans (
    post_id TEXT PRIMARY KEY REFERENCES posts (id), owner_id TEXT NOT NULL, account_id TEXT NOT NULL,
    draft_id TEXT REFERENCES drafts (id), occurrence INTEGER NOT NULL, labels TEXT NOT NULL, note TEXT
  ) STRICT, WITHOUT ROWID`,
  // The database itself refuses a second post of a draft for the same channel and time.
  `CREATE UNIQUE INDEX post_plans_draft ON post_plans (draft_id, account_id, occurrence) WHERE draft_id IS NOT NULL`,

  `CREATE TABLE post_labels (
    owner_id TEXT NOT NULL, label TEXT NOT NULL, post_id TEXT NOT NULL REFERENCES posts (id),
    PRIMARY KEY (owner_id, label, post_id)
  ) STRICT, WITHOUT ROWID`,
];

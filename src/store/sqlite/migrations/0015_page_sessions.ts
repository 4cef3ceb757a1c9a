/** Who is signed in to the page, and one-time addresses that sign in. Only hashes of their tokens are kept. */
export const statements: readonly string[] = [
  `CREATE TABLE page_sessions (
    id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, key_id TEXT NOT NULL, key_mark TEXT, token_hash TEXT NOT NULL UNIQUE,
    browser TEXT NOT NULL, created_at INTEGER NOT NULL, last_seen_at INTEGER NOT NULL, expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE page_sign_ins (
    token_hash TEXT PRIMARY KEY, owner_id TEXT NOT NULL, expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
];

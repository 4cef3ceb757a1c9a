/** Agents by OAuth: programs, what they ask a person for, and what they were given. Secrets are kept as hashes. */
export const statements: readonly string[] = [
  `CREATE TABLE oauth_clients (
    id TEXT PRIMARY KEY, secret_hash TEXT, name TEXT NOT NULL, uri TEXT, redirect_uris TEXT NOT NULL,
    created_at INTEGER NOT NULL, used_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE oauth_requests (
    id TEXT PRIMARY KEY, client TEXT NOT NULL, redirect_uri TEXT NOT NULL, state TEXT, challenge TEXT NOT NULL,
    resource TEXT NOT NULL, expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE oauth_codes (
    code_hash TEXT PRIMARY KEY, owner_id TEXT NOT NULL, given_by TEXT NOT NULL, giver_mark TEXT, client TEXT NOT NULL,
    client_id TEXT NOT NULL, redirect_uri TEXT NOT NULL, challenge TEXT NOT NULL, resource TEXT NOT NULL,
    permissions TEXT NOT NULL, account_ids TEXT, grant_id TEXT, expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE oauth_grants (
    id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, given_by TEXT NOT NULL, giver_mark TEXT, client TEXT NOT NULL,
    client_id TEXT NOT NULL, resource TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX oauth_grants_of ON oauth_grants (owner_id, given_by)`,
  `CREATE INDEX oauth_grants_to ON oauth_grants (client_id)`,
  `CREATE TABLE oauth_tokens (
    token_hash TEXT PRIMARY KEY, owner_id TEXT NOT NULL, grant_id TEXT NOT NULL, kind TEXT NOT NULL,
    expires_at INTEGER NOT NULL, replaced_at INTEGER
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX oauth_tokens_of ON oauth_tokens (grant_id, expires_at)`,
];

/** Consents: their tokens, shared by all channels of one, and what is known of them while they are asked for. */
export const statements: readonly string[] = [
  // Tokens that are renewed, once for all channels and all processes.
  `CREATE TABLE grants (
    id TEXT PRIMARY KEY,
    owner_id TEXT NOT NULL,
    provider TEXT NOT NULL,
    way TEXT NOT NULL,
    instance_url TEXT,
    redirect_url TEXT NOT NULL,
    secrets_enc TEXT NOT NULL,
    secrets_version INTEGER NOT NULL,
    scopes TEXT,
    expires_at INTEGER,
    renewable_until INTEGER,
    renewed_at INTEGER NOT NULL,
    renew_at INTEGER,
    renewing_worker TEXT,
    renewing_since INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX grants_renew ON grants (renew_at) WHERE renew_at IS NOT NULL`,
  `CREATE INDEX grants_renewing ON grants (renewing_worker) WHERE renewing_worker IS NOT NULL`,
  `ALTER TABLE accounts ADD COLUMN grant_id TEXT`,
  `ALTER TABLE accounts ADD COLUMN way TEXT`,
  `ALTER TABLE accounts ADD COLUMN access_ends_at INTEGER`,
  `CREATE INDEX accounts_grant ON accounts (grant_id) WHERE grant_id IS NOT NULL`,

  // Apps that we registered ourselves, per server and address to come back to.
  `CREATE TABLE apps (
    provider TEXT NOT NULL,
    instance_url TEXT NOT NULL,
    redirect_url TEXT NOT NULL,
    app_enc TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (provider, instance_url, redirect_url)
  ) STRICT, WITHOUT ROWID`,

  // Which way, the hash of OAuth's state, what is kept until the person comes back and chooses (sealed), and
  // all channels that came of it.
  `ALTER TABLE connections ADD COLUMN way TEXT`,
  `ALTER TABLE connections ADD COLUMN state_hash TEXT`,
  `ALTER TABLE connections ADD COLUMN pending_enc TEXT`,
  `ALTER TABLE connections ADD COLUMN account_ids TEXT`,
  `CREATE UNIQUE INDEX connections_state ON connections (state_hash) WHERE state_hash IS NOT NULL`,
];

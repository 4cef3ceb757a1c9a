/** One row for each webhook that wants the event; `account` is the column that names the account. */
function insertEvent(event: string, account: string, snapshot: string): string {
  return `INSERT INTO webhook_deliveries (id, owner_id, webhook_id, event, happened_at, snapshot, status, tries, next_at)
      SELECT 'evt_' || lower(hex(randomblob(16))), w.owner_id, w.id, ${event}, NEW.updated_at, ${snapshot}, 'pending', 0, NEW.updated_at
      FROM webhooks w
      WHERE w.owner_id = NEW.owner_id AND w.status <> 'disabled' AND instr(w.events, '"' || ${event} || '"') > 0
        AND (w.account_ids IS NULL OR instr(w.account_ids, '"' || ${account} || '"') > 0);`;
}

/** What is shown of a post, as it is at this moment. */
const POST_EVENT = insertEvent(
  "'post.' || NEW.status",
  "NEW.account_id",
  `json_object(
        'id', NEW.id, 'account_id', NEW.account_id, 'provider', NEW.provider, 'media_url', NEW.media_url, 'caption', NEW.caption,
        'metadata', NEW.metadata, 'lead_minutes', NEW.lead_minutes, 'scheduled_at', NEW.scheduled_at, 'status', NEW.status,
        'platform_post_id', NEW.platform_post_id, 'platform_url', NEW.platform_url, 'error', NEW.error, 'attempts', NEW.attempts,
        'published_at', NEW.published_at, 'created_at', NEW.created_at, 'updated_at', NEW.updated_at)`,
);

/** What is shown of an account, its waiting posts among it. */
const ACCOUNT_EVENT = insertEvent(
  "'account.reconnect_required'",
  "NEW.id",
  `json_object(
        'id', NEW.id, 'provider', NEW.provider, 'name', NEW.name, 'handle', NEW.handle,
        'platform_account_id', NEW.platform_account_id, 'profile_url', NEW.profile_url, 'avatar_url', NEW.avatar_url,
        'status', NEW.status, 'status_reason', NEW.status_reason, 'token_expires_at', NEW.token_expires_at, 'scopes', NEW.scopes,
        'last_published_at', NEW.last_published_at, 'created_at', NEW.created_at, 'updated_at', NEW.updated_at,
        'queued', (SELECT count(*) FROM posts WHERE account_id = NEW.id AND status = 'scheduled'))`,
);

/**
 * The upper bound of the range that `late` falls into; 0 for attempts that did not publish, -1 beyond the
 * last.
 */
const LATENESS_BUCKET = `CASE WHEN NEW.outcome <> 'published' THEN 0 ${[
  50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 3_600_000,
]
  .map((bound) => `WHEN late <= ${bound} THEN ${bound}`)
  .join(" ")} ELSE -1 END`;

/** The first schema. Append-only: a released migration is never edited. */
export const statements: readonly string[] = [
  `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID`,

  `CREATE TABLE api_keys (
    id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, name TEXT NOT NULL, secret_hash TEXT NOT NULL,
    permissions TEXT NOT NULL, account_ids TEXT,
    created_at INTEGER NOT NULL, expires_at INTEGER, revoked_at INTEGER, last_used_at INTEGER
  ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE accounts (
    id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, provider TEXT NOT NULL, name TEXT NOT NULL, handle TEXT,
    platform_account_id TEXT, profile_url TEXT, avatar_url TEXT,
    status TEXT NOT NULL, status_reason TEXT, token_expires_at INTEGER,
    scopes TEXT NOT NULL, settings TEXT NOT NULL, secrets_enc TEXT, secrets_version INTEGER NOT NULL,
    in_flight_post TEXT, next_allowed_at INTEGER NOT NULL, last_published_at INTEGER,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX accounts_owner ON accounts (owner_id, id)`,
  // One channel of a platform is one account of an owner: connecting it again is a reconnection.
  `CREATE UNIQUE INDEX accounts_identity ON accounts (owner_id, provider, platform_account_id)
    WHERE platform_account_id IS NOT NULL`,

  `CREATE TABLE posts (
    id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, account_id TEXT NOT NULL REFERENCES accounts (id), provider TEXT NOT NULL,
    media_url TEXT NOT NULL, caption TEXT, metadata TEXT, lead_minutes INTEGER,
    scheduled_at INTEGER NOT NULL, due_at INTEGER NOT NULL, next_at INTEGER, sort_key INTEGER NOT NULL,
    status TEXT NOT NULL, platform_post_id TEXT, platform_url TEXT, error TEXT,
    in_doubt INTEGER NOT NULL, attempts INTEGER NOT NULL, tries INTEGER NOT NULL,
    run INTEGER NOT NULL, fence INTEGER NOT NULL, lease_worker TEXT,
    content_hash TEXT NOT NULL, published_at INTEGER, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
  ) STRICT`,
  // With what a search hit is checked for: rows lie scattered, this index lies in the order of the hits.
  `CREATE INDEX posts_sort ON posts (sort_key, owner_id, account_id, status)`,
  `CREATE INDEX posts_owner ON posts (owner_id, sort_key)`,
  `CREATE INDEX posts_account ON posts (account_id, sort_key)`,
  `CREATE INDEX posts_status ON posts (owner_id, status, sort_key)`,
  `CREATE INDEX posts_provider ON posts (owner_id, provider, sort_key)`,
  `CREATE INDEX posts_account_status ON posts (account_id, status, sort_key)`,
  // The publisher's: what could be taken up next, and per account in order of its due moment.
  `CREATE INDEX posts_next ON posts (next_at) WHERE next_at IS NOT NULL AND lease_worker IS NULL`,
  `CREATE INDEX posts_claim ON posts (account_id, due_at, sort_key) WHERE next_at IS NOT NULL AND lease_worker IS NULL`,
  `CREATE INDEX posts_lease ON posts (lease_worker) WHERE lease_worker IS NOT NULL`,
  // The warning for a post equal to a waiting one.
  `CREATE INDEX posts_content ON posts (account_id, content_hash) WHERE status = 'scheduled'`,
  // Posts of which nobody knows whether they went out.
  `CREATE INDEX posts_doubt ON posts (owner_id, status, account_id) WHERE in_doubt = 1`,
  // Which waiting posts use a file.
  `CREATE INDEX posts_waiting_media ON posts (media_url) WHERE next_at IS NOT NULL AND media_url <> ''`,

  // Text search: see src/store/search/text-index.ts.
  `CREATE VIRTUAL TABLE search_index USING fts5 (
    tokens, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
  )`,
  // On its way to an old post a query steps over a word's list page by page; with FTS5's 4,050 bytes it takes
  // twice as long.
  `INSERT INTO search_index (search_index, rank) VALUES ('pgsz', 8000)`,
  // Posts come one a transaction: with FTS5's own limit up to 16 tiny segments lie about, and each is asked
  // for each word.
  `INSERT INTO search_index (search_index, rank) VALUES ('crisismerge', 6)`,
  `CREATE TABLE search_terms (term TEXT PRIMARY KEY, depth INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
  `CREATE INDEX search_terms_depth ON search_terms (depth, term)`,

  `CREATE TABLE effects (
    post_id TEXT NOT NULL REFERENCES posts (id), run INTEGER NOT NULL, step TEXT NOT NULL, fence INTEGER NOT NULL,
    effect_key TEXT NOT NULL, request_hash TEXT NOT NULL, state TEXT NOT NULL, handle_enc TEXT, result TEXT,
    asked INTEGER NOT NULL, started_at INTEGER NOT NULL, finished_at INTEGER, http_status INTEGER,
    PRIMARY KEY (post_id, run, step)
  ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE attempts (
    id TEXT NOT NULL, owner_id TEXT NOT NULL, post_id TEXT NOT NULL REFERENCES posts (id), number INTEGER NOT NULL,
    run INTEGER NOT NULL, worker_id TEXT NOT NULL, outcome TEXT NOT NULL, error TEXT, lateness_ms INTEGER,
    started_at INTEGER NOT NULL, finished_at INTEGER, PRIMARY KEY (post_id, number)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX attempts_recent ON attempts (owner_id, started_at)`,

  `CREATE TABLE workers (
    id TEXT PRIMARY KEY, role TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, version TEXT NOT NULL,
    started_at INTEGER NOT NULL, heartbeat_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE idempotency (
    owner_id TEXT NOT NULL, key_hash TEXT NOT NULL, tool TEXT NOT NULL, fingerprint TEXT NOT NULL,
    worker_id TEXT, result TEXT, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
    PRIMARY KEY (owner_id, key_hash)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX idempotency_expiry ON idempotency (expires_at)`,

  `CREATE TABLE files (
    id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, storage_key TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
    mime_type TEXT NOT NULL, type TEXT NOT NULL, size_bytes INTEGER NOT NULL, width INTEGER, height INTEGER,
    duration_seconds REAL, video_codec TEXT, audio_codec TEXT, is_animated INTEGER NOT NULL DEFAULT 0, sha256 TEXT, alt_text TEXT,
    status TEXT NOT NULL,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX files_owner ON files (owner_id, id)`,

  `CREATE TABLE connections (
    id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, provider TEXT NOT NULL, account_id TEXT, instance_url TEXT, handle TEXT,
    name TEXT, token_hash TEXT NOT NULL UNIQUE, status TEXT NOT NULL, error TEXT, attempts INTEGER NOT NULL,
    created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE feed_items (
    account_id TEXT NOT NULL, id TEXT NOT NULL, item TEXT NOT NULL, is_public INTEGER NOT NULL, published_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX feed_newest ON feed_items (account_id, published_at, id) WHERE is_public = 1`,

  // The address of an owner's calendar: found by the token's hash, shown again from the sealed token.
  `CREATE TABLE calendar_links (
    owner_id TEXT PRIMARY KEY, token_hash TEXT NOT NULL UNIQUE, token_enc TEXT NOT NULL, created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,

  // How attempts ended and how late posts went live, over all owners: for /metrics, which must not count a
  // million rows.
  `CREATE TABLE attempt_totals (
    provider TEXT NOT NULL, outcome TEXT NOT NULL, bucket_ms INTEGER NOT NULL, attempts INTEGER NOT NULL, lateness_ms INTEGER NOT NULL,
    PRIMARY KEY (provider, outcome, bucket_ms)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TRIGGER attempts_ended AFTER UPDATE OF outcome ON attempts
    WHEN OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL
    BEGIN
      INSERT INTO attempt_totals (provider, outcome, bucket_ms, attempts, lateness_ms)
      SELECT provider, NEW.outcome, ${LATENESS_BUCKET}, 1, IIF(NEW.outcome = 'published', late, 0)
      FROM (SELECT provider, MAX(0, NEW.finished_at - scheduled_at) AS late FROM posts WHERE id = NEW.post_id)
      WHERE TRUE
      ON CONFLICT (provider, outcome, bucket_ms)
        DO UPDATE SET attempts = attempts + 1, lateness_ms = lateness_ms + excluded.lateness_ms;
    END`,

  // Where events are sent to, and the outbox of those that are wanted.
  `CREATE TABLE webhooks (
    id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, address TEXT NOT NULL, secrets_enc TEXT NOT NULL,
    events TEXT NOT NULL, account_ids TEXT, status TEXT NOT NULL, status_reason TEXT, failing_since INTEGER,
    lease_worker TEXT, lease_until INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX webhooks_owner ON webhooks (owner_id, id)`,
  `CREATE TABLE webhook_deliveries (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, owner_id TEXT NOT NULL,
    webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    event TEXT NOT NULL, happened_at INTEGER NOT NULL, snapshot TEXT NOT NULL,
    status TEXT NOT NULL, tries INTEGER NOT NULL, next_at INTEGER, tried_at INTEGER, http_status INTEGER, error TEXT
  ) STRICT`,
  `CREATE INDEX webhook_deliveries_log ON webhook_deliveries (webhook_id, seq)`,
  `CREATE INDEX webhook_deliveries_next ON webhook_deliveries (next_at) WHERE next_at IS NOT NULL`,
  `CREATE INDEX webhook_deliveries_queue ON webhook_deliveries (webhook_id, next_at, seq) WHERE next_at IS NOT NULL`,
  `CREATE INDEX webhook_deliveries_age ON webhook_deliveries (happened_at)`,
  // Triggers, so that no statement that moves a post can forget its event: see
  // src/store/queries/webhooks.ts.
  `CREATE TRIGGER posts_made AFTER INSERT ON posts
    WHEN EXISTS (SELECT 1 FROM webhooks WHERE owner_id = NEW.owner_id)
    BEGIN ${POST_EVENT} END`,
  `CREATE TRIGGER posts_moved AFTER UPDATE OF status, scheduled_at ON posts
    WHEN (NEW.status <> OLD.status OR (NEW.status = 'scheduled' AND NEW.scheduled_at <> OLD.scheduled_at))
      AND EXISTS (SELECT 1 FROM webhooks WHERE owner_id = NEW.owner_id)
    BEGIN ${POST_EVENT} END`,
  `CREATE TRIGGER accounts_lost AFTER UPDATE OF status ON accounts
    WHEN NEW.status = 'reconnect_required' AND OLD.status <> NEW.status
      AND EXISTS (SELECT 1 FROM webhooks WHERE owner_id = NEW.owner_id)
    BEGIN ${ACCOUNT_EVENT} END`,
];

import { triggers } from "./0001_triggers.ts";

/** Compared and sorted byte by byte, as SQLite does, whatever the database's own locale is. */
const TEXT = `text COLLATE "C"`;

/**
 * The schema that SQLite's migrations 0001 to 0007 give. Append-only: a released migration is never edited.
 */
export const statements: readonly string[] = [
  `CREATE TABLE meta (key ${TEXT} PRIMARY KEY, value ${TEXT} NOT NULL)`,

  `CREATE TABLE api_keys (
    id ${TEXT} PRIMARY KEY, owner_id ${TEXT} NOT NULL, name ${TEXT} NOT NULL, secret_hash ${TEXT} NOT NULL,
    permissions ${TEXT} NOT NULL, account_ids ${TEXT},
    created_at bigint NOT NULL, expires_at bigint, revoked_at bigint, last_used_at bigint
  )`,

  // Neither in_flight_post nor next_allowed_at stands in an index, so that a claim rewrites none.
  `CREATE TABLE accounts (
    id ${TEXT} PRIMARY KEY, owner_id ${TEXT} NOT NULL, provider ${TEXT} NOT NULL, name ${TEXT} NOT NULL, handle ${TEXT},
    platform_account_id ${TEXT}, id_server ${TEXT} NOT NULL DEFAULT '', profile_url ${TEXT}, avatar_url ${TEXT},
    status ${TEXT} NOT NULL, status_reason ${TEXT}, token_expires_at bigint,
    scopes ${TEXT} NOT NULL, settings ${TEXT} NOT NULL, secrets_enc ${TEXT}, secrets_version integer NOT NULL,
    in_flight_post ${TEXT}, next_allowed_at bigint NOT NULL, wait_cause ${TEXT}, freed_at bigint, last_published_at bigint,
    limits ${TEXT} NOT NULL DEFAULT '{}', inspected_at bigint NOT NULL DEFAULT 0,
    created_at bigint NOT NULL, updated_at bigint NOT NULL, grant_id ${TEXT}, way ${TEXT}, access_ends_at bigint
  ) WITH (fillfactor = 60)`,
  `CREATE INDEX accounts_owner ON accounts (owner_id, id)`,
  `CREATE UNIQUE INDEX accounts_identity ON accounts (owner_id, provider, platform_account_id, id_server)
    WHERE platform_account_id IS NOT NULL`,
  `CREATE INDEX accounts_provider ON accounts (provider)`,
  `CREATE INDEX accounts_grant ON accounts (grant_id) WHERE grant_id IS NOT NULL`,

  `CREATE TABLE posts (
    id ${TEXT} PRIMARY KEY, owner_id ${TEXT} NOT NULL, account_id ${TEXT} NOT NULL REFERENCES accounts (id), provider ${TEXT} NOT NULL,
    media_url ${TEXT} NOT NULL, caption ${TEXT}, metadata ${TEXT}, lead_minutes integer,
    scheduled_at bigint NOT NULL, due_at bigint NOT NULL, next_at bigint, sort_key bigint NOT NULL,
    status ${TEXT} NOT NULL, platform_post_id ${TEXT}, platform_url ${TEXT}, error ${TEXT}, warnings ${TEXT},
    in_doubt smallint NOT NULL, attempts integer NOT NULL, tries integer NOT NULL,
    run integer NOT NULL, fence integer NOT NULL, lease_worker ${TEXT},
    ends integer NOT NULL DEFAULT 0, lone_ends integer NOT NULL DEFAULT 0, ends_at_step ${TEXT},
    content_hash ${TEXT} NOT NULL, is_light smallint NOT NULL DEFAULT 0, file_ids ${TEXT},
    published_at bigint, created_at bigint NOT NULL, updated_at bigint NOT NULL
  ) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.01)`,
  // Unique: of several processes that give a key in the same millisecond, one gets it. With what a search hit
  // is checked for.
  `CREATE UNIQUE INDEX posts_sort ON posts (sort_key) INCLUDE (owner_id, account_id, status)`,
  `CREATE INDEX posts_owner ON posts (owner_id, sort_key)`,
  `CREATE INDEX posts_account ON posts (account_id, sort_key)`,
  `CREATE INDEX posts_status ON posts (owner_id, status, sort_key)`,
  `CREATE INDEX posts_provider ON posts (owner_id, provider, sort_key)`,
  `CREATE INDEX posts_account_status ON posts (account_id, status, sort_key)`,
  `CREATE INDEX posts_next ON posts (next_at) WHERE next_at IS NOT NULL AND lease_worker IS NULL`,
  `CREATE INDEX posts_claim ON posts (account_id, due_at, sort_key) WHERE next_at IS NOT NULL AND lease_worker IS NULL`,
  `CREATE INDEX posts_lease ON posts (lease_worker) WHERE lease_worker IS NOT NULL`,
  `CREATE INDEX posts_content ON posts (account_id, content_hash) WHERE status = 'scheduled'`,
  `CREATE INDEX posts_doubt ON posts (owner_id, status, account_id) WHERE in_doubt = 1`,
  `CREATE INDEX posts_waiting_media ON posts (media_url) WHERE next_at IS NOT NULL AND media_url <> ''`,
  `CREATE INDEX posts_suspects ON posts (ends) WHERE ends > 0`,
  `CREATE INDEX posts_displaced ON posts (owner_id, scheduled_at, sort_key) WHERE sort_key >> 16 <> scheduled_at`,
  `CREATE INDEX posts_published ON posts (account_id, published_at) WHERE published_at IS NOT NULL`,

  // A table of its own: every change of a post's state writes a new row of posts, and would write each of its
  // words into the index again.
  `CREATE TABLE post_search (
    sort_key bigint PRIMARY KEY, owner_id ${TEXT} NOT NULL, words tsvector NOT NULL, marked ${TEXT} NOT NULL
  )`,
  `ALTER TABLE post_search ALTER words SET STATISTICS 1000`,
  // Entries that wait in a list to be sorted in make rare words three times as slow until the next vacuum.
  `CREATE INDEX post_search_words ON post_search USING gin (words) WITH (fastupdate = off)`,

  `CREATE TABLE effects (
    post_id ${TEXT} NOT NULL REFERENCES posts (id), run integer NOT NULL, step ${TEXT} NOT NULL, fence integer NOT NULL,
    effect_key ${TEXT} NOT NULL, request_hash ${TEXT} NOT NULL, state ${TEXT} NOT NULL, handle_enc ${TEXT}, result ${TEXT},
    asked integer NOT NULL, sent integer NOT NULL DEFAULT 0,
    started_at bigint NOT NULL, finished_at bigint, http_status integer,
    PRIMARY KEY (post_id, run, step)
  ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01)`,

  `CREATE TABLE attempts (
    id ${TEXT} NOT NULL, owner_id ${TEXT} NOT NULL, post_id ${TEXT} NOT NULL REFERENCES posts (id), number integer NOT NULL,
    run integer NOT NULL, worker_id ${TEXT} NOT NULL, outcome ${TEXT} NOT NULL, error ${TEXT}, lateness_ms bigint, late_cause ${TEXT},
    started_at bigint NOT NULL, finished_at bigint, PRIMARY KEY (post_id, number)
  ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01)`,
  `CREATE INDEX attempts_recent ON attempts (owner_id, started_at)`,

  `CREATE TABLE workers (
    id ${TEXT} PRIMARY KEY, role ${TEXT} NOT NULL, host ${TEXT} NOT NULL, pid integer NOT NULL, version ${TEXT} NOT NULL,
    started_at bigint NOT NULL, heartbeat_at bigint NOT NULL, is_closing smallint NOT NULL DEFAULT 0
  ) WITH (fillfactor = 50)`,

  `CREATE TABLE idempotency (
    owner_id ${TEXT} NOT NULL, key_hash ${TEXT} NOT NULL, tool ${TEXT} NOT NULL, fingerprint ${TEXT} NOT NULL,
    worker_id ${TEXT}, result ${TEXT}, created_at bigint NOT NULL, expires_at bigint NOT NULL,
    PRIMARY KEY (owner_id, key_hash)
  )`,
  `CREATE INDEX idempotency_expiry ON idempotency (expires_at)`,

  `CREATE TABLE files (
    id ${TEXT} PRIMARY KEY, owner_id ${TEXT} NOT NULL, storage_key ${TEXT} NOT NULL UNIQUE, name ${TEXT} NOT NULL,
    mime_type ${TEXT} NOT NULL, type ${TEXT} NOT NULL, size_bytes bigint NOT NULL, width integer, height integer,
    duration_seconds double precision, video_codec ${TEXT}, audio_codec ${TEXT}, is_animated smallint NOT NULL DEFAULT 0,
    sha256 ${TEXT}, alt_text ${TEXT}, status ${TEXT} NOT NULL, key_id ${TEXT}, created_at bigint NOT NULL, updated_at bigint NOT NULL
  )`,
  `CREATE INDEX files_owner ON files (owner_id, id)`,
  `CREATE INDEX files_key ON files (owner_id, key_id, id) WHERE key_id IS NOT NULL`,
  `CREATE TABLE file_uses (
    account_id ${TEXT} NOT NULL, file_id ${TEXT} NOT NULL, posts integer NOT NULL, PRIMARY KEY (account_id, file_id)
  )`,
  `CREATE INDEX file_uses_file ON file_uses (file_id)`,

  `CREATE TABLE grants (
    id ${TEXT} PRIMARY KEY, owner_id ${TEXT} NOT NULL, provider ${TEXT} NOT NULL, way ${TEXT} NOT NULL, instance_url ${TEXT},
    redirect_url ${TEXT} NOT NULL, secrets_enc ${TEXT} NOT NULL, secrets_version integer NOT NULL, scopes ${TEXT},
    expires_at bigint, renewable_until bigint, renewed_at bigint NOT NULL, renew_at bigint,
    renewing_worker ${TEXT}, renewing_since bigint, created_at bigint NOT NULL, updated_at bigint NOT NULL
  )`,
  `CREATE INDEX grants_renew ON grants (renew_at) WHERE renew_at IS NOT NULL`,
  `CREATE INDEX grants_renewing ON grants (renewing_worker) WHERE renewing_worker IS NOT NULL`,
  `CREATE TABLE apps (
    provider ${TEXT} NOT NULL, instance_url ${TEXT} NOT NULL, redirect_url ${TEXT} NOT NULL, app_enc ${TEXT} NOT NULL,
    created_at bigint NOT NULL, PRIMARY KEY (provider, instance_url, redirect_url)
  )`,
  `CREATE TABLE connections (
    id ${TEXT} PRIMARY KEY, owner_id ${TEXT} NOT NULL, provider ${TEXT} NOT NULL, account_id ${TEXT}, instance_url ${TEXT}, handle ${TEXT},
    name ${TEXT}, token_hash ${TEXT} NOT NULL UNIQUE, status ${TEXT} NOT NULL, error ${TEXT}, attempts integer NOT NULL,
    created_at bigint NOT NULL, expires_at bigint NOT NULL,
    way ${TEXT}, state_hash ${TEXT}, pending_enc ${TEXT}, account_ids ${TEXT}
  )`,
  `CREATE UNIQUE INDEX connections_state ON connections (state_hash) WHERE state_hash IS NOT NULL`,

  `CREATE TABLE feed_items (
    account_id ${TEXT} NOT NULL, id ${TEXT} NOT NULL, item ${TEXT} NOT NULL, is_public smallint NOT NULL, published_at bigint NOT NULL,
    PRIMARY KEY (account_id, id)
  )`,
  `CREATE INDEX feed_newest ON feed_items (account_id, published_at, id) WHERE is_public = 1`,
  `CREATE TABLE calendar_links (
    owner_id ${TEXT} PRIMARY KEY, token_hash ${TEXT} NOT NULL UNIQUE, token_enc ${TEXT} NOT NULL, created_at bigint NOT NULL
  )`,

  // A row for each of 64 parts of the connections, which readers add up: in one row every worker would wait
  // for the other's disk.
  `CREATE TABLE attempt_totals (
    part smallint NOT NULL, provider ${TEXT} NOT NULL, outcome ${TEXT} NOT NULL, bucket_ms integer NOT NULL,
    attempts bigint NOT NULL, lateness_ms bigint NOT NULL,
    PRIMARY KEY (part, provider, outcome, bucket_ms)
  ) WITH (fillfactor = 50)`,

  `CREATE TABLE webhooks (
    id ${TEXT} PRIMARY KEY, owner_id ${TEXT} NOT NULL, address ${TEXT} NOT NULL, secrets_enc ${TEXT} NOT NULL,
    events ${TEXT} NOT NULL, account_ids ${TEXT}, status ${TEXT} NOT NULL, status_reason ${TEXT}, failing_since bigint,
    lease_worker ${TEXT}, lease_until bigint NOT NULL, created_at bigint NOT NULL, updated_at bigint NOT NULL
  )`,
  `CREATE INDEX webhooks_owner ON webhooks (owner_id, id)`,
  `CREATE TABLE webhook_deliveries (
    seq bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, id ${TEXT} NOT NULL UNIQUE, owner_id ${TEXT} NOT NULL,
    webhook_id ${TEXT} NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    event ${TEXT} NOT NULL, happened_at bigint NOT NULL, snapshot ${TEXT} NOT NULL,
    status ${TEXT} NOT NULL, tries integer NOT NULL, next_at bigint, tried_at bigint, http_status integer, error ${TEXT}
  )`,
  `CREATE INDEX webhook_deliveries_log ON webhook_deliveries (webhook_id, seq)`,
  `CREATE INDEX webhook_deliveries_next ON webhook_deliveries (next_at) WHERE next_at IS NOT NULL`,
  `CREATE INDEX webhook_deliveries_queue ON webhook_deliveries (webhook_id, next_at, seq) WHERE next_at IS NOT NULL`,
  `CREATE INDEX webhook_deliveries_age ON webhook_deliveries (happened_at)`,

  // Limits of requests: nothing that has to outlive a crash of the server.
  `CREATE UNLOGGED TABLE request_counts (
    key ${TEXT} NOT NULL, ends_at bigint NOT NULL, hits integer NOT NULL, PRIMARY KEY (key, ends_at)
  ) WITH (fillfactor = 50)`,
  `CREATE INDEX request_counts_end ON request_counts (ends_at)`,

  ...triggers,
];

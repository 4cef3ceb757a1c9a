/** What each account may do, as its platform told, and how much of its quotas our own posts have used. */
export const statements: readonly string[] = [
  `ALTER TABLE accounts ADD COLUMN limits TEXT NOT NULL DEFAULT '{}'`,
  `ALTER TABLE accounts ADD COLUMN inspected_at INTEGER NOT NULL DEFAULT 0`,

  // The server whose ids these are, where each has its own: two may give the same id to two people.
  `ALTER TABLE accounts ADD COLUMN id_server TEXT NOT NULL DEFAULT ''`,
  `DROP INDEX accounts_identity`,
  `CREATE UNIQUE INDEX accounts_identity ON accounts (owner_id, provider, platform_account_id, id_server)
    WHERE platform_account_id IS NOT NULL`,

  // Quotas of an account, and of all accounts of a platform: see src/store/queries/channel-posts.ts.
  `CREATE INDEX posts_published ON posts (account_id, published_at) WHERE published_at IS NOT NULL`,
  `CREATE INDEX accounts_provider ON accounts (provider)`,

  // The event shows what the account can do, which its settings and limits tell.
  `DROP TRIGGER accounts_lost`,
  `CREATE TRIGGER accounts_lost AFTER UPDATE OF status ON accounts
    WHEN NEW.status = 'reconnect_required' AND OLD.status <> NEW.status
      AND EXISTS (SELECT 1 FROM webhooks WHERE owner_id = NEW.owner_id)
    BEGIN
      INSERT INTO webhook_deliveries (id, owner_id, webhook_id, event, happened_at, snapshot, status, tries, next_at)
      SELECT 'evt_' || lower(hex(randomblob(16))), w.owner_id, w.id, 'account.reconnect_required', NEW.updated_at,
        json_object(
          'id', NEW.id, 'provider', NEW.provider, 'name', NEW.name, 'handle', NEW.handle,
          'platform_account_id', NEW.platform_account_id, 'profile_url', NEW.profile_url, 'avatar_url', NEW.avatar_url,
          'status', NEW.status, 'status_reason', NEW.status_reason, 'token_expires_at', NEW.token_expires_at, 'scopes', NEW.scopes,
          'last_published_at', NEW.last_published_at, 'created_at', NEW.created_at, 'updated_at', NEW.updated_at,
          'settings', NEW.settings, 'limits', NEW.limits,
          'queued', (SELECT count(*) FROM posts WHERE account_id = NEW.id AND status = 'scheduled')),
        'pending', 0, NEW.updated_at
      FROM webhooks w
      WHERE w.owner_id = NEW.owner_id AND w.status <> 'disabled' AND instr(w.events, '"account.reconnect_required"') > 0
        AND (w.account_ids IS NULL OR instr(w.account_ids, '"' || NEW.id || '"') > 0);
    END`,
];

/** Slots, pauses and what is added to links; which slot a post waits in. */
export const statements: readonly string[] = [
  // As JSON; null: none.
  `ALTER TABLE accounts ADD COLUMN schedule TEXT`,
  `ALTER TABLE accounts ADD COLUMN paused INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE accounts ADD COLUMN utm TEXT`,
  // 1: a person named it, and what the platform calls it counts no more.
  `ALTER TABLE accounts ADD COLUMN is_renamed INTEGER NOT NULL DEFAULT 0`,

  // A post that is cancelled, failed or published leaves the index, and its slot is free.
  `ALTER TABLE posts ADD COLUMN slot_at INTEGER`,
  `CREATE UNIQUE INDEX posts_slot ON posts (account_id, slot_at)
    WHERE slot_at IS NOT NULL AND status IN ('scheduled', 'publishing', 'uploaded')`,

  // The event shows them, too.
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
          'settings', NEW.settings, 'limits', NEW.limits, 'schedule', NEW.schedule, 'paused', NEW.paused, 'utm', NEW.utm,
          'queued', (SELECT count(*) FROM posts WHERE account_id = NEW.id AND status = 'scheduled')),
        'pending', 0, NEW.updated_at
      FROM webhooks w
      WHERE w.owner_id = NEW.owner_id AND w.status <> 'disabled' AND instr(w.events, '"account.reconnect_required"') > 0
        AND (w.account_ids IS NULL OR instr(w.account_ids, '"' || NEW.id || '"') > 0);
    END`,
];

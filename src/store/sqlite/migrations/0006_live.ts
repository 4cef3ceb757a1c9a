/** A post that is live stays so: what was refused of it afterwards is told, and its event tells it too. */
export const statements: readonly string[] = [
  // As a JSON list of sentences; null: none.
  `ALTER TABLE posts ADD COLUMN warnings TEXT`,

  // How often a step left this machine, as far as is known.
  `ALTER TABLE effects ADD COLUMN sent INTEGER NOT NULL DEFAULT 0`,
  `UPDATE effects SET sent = 1 WHERE state <> 'not_sent'`,

  // As before, with the warnings.
  `DROP TRIGGER posts_moved`,
  `CREATE TRIGGER posts_moved AFTER UPDATE OF status, scheduled_at ON posts
    WHEN (NEW.status <> OLD.status OR (NEW.status = 'scheduled' AND NEW.scheduled_at <> OLD.scheduled_at))
      AND EXISTS (SELECT 1 FROM webhooks WHERE owner_id = NEW.owner_id)
    BEGIN
      INSERT INTO webhook_deliveries (id, owner_id, webhook_id, event, happened_at, snapshot, status, tries, next_at)
      SELECT 'evt_' || lower(hex(randomblob(16))), w.owner_id, w.id, 'post.' || NEW.status, NEW.updated_at, json_object(
        'id', NEW.id, 'account_id', NEW.account_id, 'provider', NEW.provider, 'media_url', NEW.media_url, 'caption', NEW.caption,
        'metadata', NEW.metadata, 'lead_minutes', NEW.lead_minutes, 'scheduled_at', NEW.scheduled_at, 'status', NEW.status,
        'platform_post_id', NEW.platform_post_id, 'platform_url', NEW.platform_url, 'error', NEW.error, 'attempts', NEW.attempts,
        'published_at', NEW.published_at, 'created_at', NEW.created_at, 'updated_at', NEW.updated_at, 'warnings', NEW.warnings),
        'pending', 0, NEW.updated_at
      FROM webhooks w
      WHERE w.owner_id = NEW.owner_id AND w.status <> 'disabled' AND instr(w.events, '"post.' || NEW.status || '"') > 0
        AND (w.account_ids IS NULL OR instr(w.account_ids, '"' || NEW.account_id || '"') > 0);
    END`,
];

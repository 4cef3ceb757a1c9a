const TEXT = `text COLLATE "C"`;

const SHOWN =
  "id provider name handle platform_account_id profile_url avatar_url status status_reason token_expires_at scopes " +
  "last_published_at created_at updated_at settings limits schedule paused utm";
const SNAPSHOT = SHOWN.split(" ").map((column) => `'${column}', NEW.${column}`);

/** Slots, pauses and what is added to links; which slot a post waits in. */
export const statements: readonly string[] = [
  // As JSON; null: none.
  `ALTER TABLE accounts ADD COLUMN schedule ${TEXT}`,
  `ALTER TABLE accounts ADD COLUMN paused smallint NOT NULL DEFAULT 0`,
  `ALTER TABLE accounts ADD COLUMN utm ${TEXT}`,
  // 1: a person named it, and what the platform calls it counts no more.
  `ALTER TABLE accounts ADD COLUMN is_renamed smallint NOT NULL DEFAULT 0`,

  // A post that is cancelled, failed or published leaves the index, and its slot is free.
  `ALTER TABLE posts ADD COLUMN slot_at bigint`,
  `CREATE UNIQUE INDEX posts_slot ON posts (account_id, slot_at)
    WHERE slot_at IS NOT NULL AND status IN ('scheduled', 'publishing', 'uploaded')`,

  // The event shows them, too.
  `CREATE OR REPLACE FUNCTION insert_account_event() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO webhook_deliveries (id, owner_id, webhook_id, event, happened_at, snapshot, status, tries, next_at)
    SELECT 'evt_' || replace(gen_random_uuid()::text, '-', ''), w.owner_id, w.id, 'account.reconnect_required', NEW.updated_at,
      json_build_object(${SNAPSHOT.join(", ")},
        'queued', (SELECT count(*) FROM posts WHERE account_id = NEW.id AND status = 'scheduled'))::text, 'pending', 0, NEW.updated_at
    FROM webhooks w
    WHERE w.owner_id = NEW.owner_id AND w.status <> 'disabled' AND strpos(w.events, '"account.reconnect_required"') > 0
      AND (w.account_ids IS NULL OR strpos(w.account_ids, '"' || NEW.id || '"') > 0);
    RETURN NULL;
  END $$`,
];

/** One row for each webhook that wants the event. */
function insertEvent(event: string, accountId: string, snapshot: string): string {
  return `BEGIN
    INSERT INTO webhook_deliveries (id, owner_id, webhook_id, event, happened_at, snapshot, status, tries, next_at)
    SELECT 'evt_' || replace(gen_random_uuid()::text, '-', ''), w.owner_id, w.id, ${event}, NEW.updated_at,
      json_build_object(${snapshot})::text, 'pending', 0, NEW.updated_at
    FROM webhooks w
    WHERE w.owner_id = NEW.owner_id AND w.status <> 'disabled' AND strpos(w.events, '"' || ${event} || '"') > 0
      AND (w.account_ids IS NULL OR strpos(w.account_ids, '"' || ${accountId} || '"') > 0);
    RETURN NULL;
  END`;
}

function snapshotOf(columns: string): string {
  return columns
    .split(" ")
    .map((column) => `'${column}', NEW.${column}`)
    .join(", ");
}

/** What is shown of a post, as it is at this moment. */
const POST_SHOWN = snapshotOf(
  "id account_id provider media_url caption metadata lead_minutes scheduled_at status platform_post_id platform_url error " +
    "attempts published_at created_at updated_at",
);
const POST_MADE = insertEvent("'post.' || NEW.status", "NEW.account_id", POST_SHOWN);
/** With what was refused of it after it went live. */
const POST_MOVED = insertEvent(
  "'post.' || NEW.status",
  "NEW.account_id",
  `${POST_SHOWN}, 'warnings', NEW.warnings`,
);

/** What is shown of an account, its waiting posts among it. */
const ACCOUNT_EVENT = insertEvent(
  "'account.reconnect_required'",
  "NEW.id",
  `${snapshotOf(
    "id provider name handle platform_account_id profile_url avatar_url status status_reason token_expires_at scopes " +
      "last_published_at created_at updated_at settings limits schedule paused utm",
  )}, 'queued', (SELECT count(*) FROM posts WHERE account_id = NEW.id AND status = 'scheduled')`,
);

/**
 * The upper bound of the range that `late` falls into; 0 for attempts that did not publish, -1 beyond the
 * last.
 */
const LATENESS_BUCKET = `CASE WHEN outcome <> 'published' THEN 0 ${[
  50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 3_600_000,
]
  .map((bound) => `WHEN late <= ${bound} THEN ${bound}`)
  .join(" ")} ELSE -1 END`;

/** Triggers, so that no statement that writes a row can forget what follows from it. */
export const TRIGGERS: readonly string[] = [
  // Once a statement. Its plan is made for whatever number of rows comes first, often none: a nested loop would
  // compare each row with each for ever, and publishers switch hash joins off. What is looked up by its id
  // stands in subqueries, so that no join goes through all posts; OFFSET keeps them from being asked again in
  // each branch of CASE.
  `CREATE FUNCTION count_ended_attempts() RETURNS trigger LANGUAGE plpgsql
    SET enable_hashjoin = on SET enable_nestloop = off AS $$ BEGIN
    INSERT INTO attempt_totals (part, provider, outcome, bucket_ms, attempts, lateness_ms)
    SELECT pg_backend_pid() % 64, provider, outcome, ${LATENESS_BUCKET}, count(*),
      coalesce(sum(late) FILTER (WHERE outcome = 'published'), 0)
    FROM (
      SELECT n.outcome, (SELECT p.provider FROM posts p WHERE p.id = n.post_id) AS provider,
        greatest(0, n.finished_at - (SELECT p.scheduled_at FROM posts p WHERE p.id = n.post_id)) AS late
      FROM new_rows n JOIN old_rows o ON o.post_id = n.post_id AND o.number = n.number
      WHERE o.finished_at IS NULL AND n.finished_at IS NOT NULL OFFSET 0
    ) ended
    GROUP BY 1, 2, 3, 4 ORDER BY 2, 3, 4
    ON CONFLICT (part, provider, outcome, bucket_ms) DO UPDATE SET
      attempts = attempt_totals.attempts + excluded.attempts, lateness_ms = attempt_totals.lateness_ms + excluded.lateness_ms;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER attempts_ended AFTER UPDATE ON attempts REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION count_ended_attempts()`,

  `CREATE FUNCTION insert_post_made() RETURNS trigger LANGUAGE plpgsql AS $$ ${POST_MADE} $$`,
  `CREATE FUNCTION insert_post_moved() RETURNS trigger LANGUAGE plpgsql AS $$ ${POST_MOVED} $$`,
  `CREATE FUNCTION insert_account_event() RETURNS trigger LANGUAGE plpgsql AS $$ ${ACCOUNT_EVENT} $$`,
  `CREATE TRIGGER posts_made AFTER INSERT ON posts FOR EACH ROW EXECUTE FUNCTION insert_post_made()`,
  `CREATE TRIGGER posts_moved AFTER UPDATE OF status, scheduled_at ON posts FOR EACH ROW
    WHEN (NEW.status <> OLD.status OR (NEW.status = 'scheduled' AND NEW.scheduled_at <> OLD.scheduled_at))
    EXECUTE FUNCTION insert_post_moved()`,
  `CREATE TRIGGER accounts_lost AFTER UPDATE OF status ON accounts FOR EACH ROW
    WHEN (NEW.status = 'reconnect_required' AND OLD.status <> NEW.status) EXECUTE FUNCTION insert_account_event()`,

  // What a file loses and gains, in the order of the files: two posts at once cannot wait for each other.
  `CREATE FUNCTION count_file_uses() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO file_uses (account_id, file_id, posts)
    SELECT account_id, file_id, sum(uses) FROM (
      SELECT NEW.account_id AS account_id, json_array_elements_text(NEW.file_ids::json) AS file_id, 1 AS uses
      UNION ALL SELECT OLD.account_id, json_array_elements_text(OLD.file_ids::json), -1
    ) changes
    GROUP BY 1, 2 HAVING sum(uses) <> 0 ORDER BY 1, 2
    ON CONFLICT (account_id, file_id) DO UPDATE SET posts = file_uses.posts + excluded.posts;
    DELETE FROM file_uses WHERE posts <= 0 AND account_id = OLD.account_id
      AND file_id IN (SELECT json_array_elements_text(OLD.file_ids::json));
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER posts_files_made AFTER INSERT ON posts FOR EACH ROW
    WHEN (NEW.file_ids IS NOT NULL) EXECUTE FUNCTION count_file_uses()`,
  `CREATE TRIGGER posts_files_changed AFTER UPDATE OF file_ids ON posts FOR EACH ROW
    WHEN (NEW.file_ids IS DISTINCT FROM OLD.file_ids) EXECUTE FUNCTION count_file_uses()`,
];

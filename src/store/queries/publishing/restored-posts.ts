import { sql, type RawBuilder } from "kysely";
import { TRANSITIONS } from "../../../domain/posts/post-states.ts";
import { readNotedTime } from "./claims.ts";
import { freeWorker } from "./release.ts";
import { RESTORED_STEP } from "../../engine/ledger.ts";
import { anyOf, change, rowOf, rowsOf } from "../../engine/statements.ts";
import type { Reader, Tx } from "../../engine/store.ts";

interface Suspicion {
  /** Milliseconds since 1970. Posts that were due later cannot have gone out. */
  readonly now: number;
  /** Platforms whose posts live in this very database, which knows all of them. */
  readonly localProviders: readonly string[];
  /** Platforms that show nothing before its time, even if it was sent earlier. */
  readonly promptProviders: readonly string[];
  /** Platforms that tell what became of a post by the post itself. */
  readonly tellingProviders: readonly string[];
}

/** The posts that may have gone out since the copy was made. */
function mayHaveGoneOut({ now, localProviders, promptProviders }: Suspicion): RawBuilder<unknown> {
  return sql`provider NOT IN ${anyOf(localProviders)} AND CASE
    WHEN status = 'uploaded' OR provider IN ${anyOf(promptProviders)} THEN scheduled_at ELSE due_at END <= ${now}`;
}

/**
 * Marks every post that this database takes for unsent although it may have gone out. It becomes `publishing` and in
 * doubt, so that the platform is asked before anything is sent. Returns how many. No process may work on the
 * database.
 */
export async function markRestored(tx: Tx, suspicion: Suspicion): Promise<number> {
  const { now, tellingProviders } = suspicion;
  await freeEverything(tx, now);
  // From then on the copy knows nothing: a post may have been brought forward, and be out since.
  const knownUntil = (await readNotedTime(tx)) ?? now;
  const since = sql`CASE WHEN due_at < ${knownUntil} THEN due_at ELSE ${knownUntil} END`;
  // The posts that the publisher would claim by itself.
  const waiting = sql`next_at IS NOT NULL AND lease_worker IS NULL AND ${mayHaveGoneOut(suspicion)}`;
  const inDoubt = sql`in_doubt = 1 AND status = 'failed' AND ${mayHaveGoneOut(suspicion)}`;
  // They stay as they are, and are asked about at their time.
  const later = sql`status = 'scheduled' AND next_at IS NOT NULL AND lease_worker IS NULL
    AND provider IN ${anyOf(tellingProviders)} AND NOT (${mayHaveGoneOut(suspicion)})`;
  for (const which of [waiting, inDoubt, later])
    await change(
      tx,
      sql`INSERT INTO effects (post_id, run, step, fence, effect_key, request_hash, state, asked, started_at)
        SELECT id, run, ${sql.lit(RESTORED_STEP)}, fence, '', '', 'unknown', 0, ${since} FROM posts WHERE ${which}
        ON CONFLICT (post_id, run, step) DO NOTHING`,
    );
  return change(
    tx,
    sql`UPDATE posts SET status = CASE status WHEN 'scheduled' THEN ${sql.lit(TRANSITIONS.claim.to)} ELSE status END,
        in_doubt = 1, tries = 0, next_at = CASE WHEN next_at < ${now} THEN next_at ELSE ${now} END,
        fence = fence + 1, updated_at = ${now}
      WHERE ${waiting}`,
  );
}

async function freeEverything(tx: Tx, now: number): Promise<void> {
  for (const { id } of await listHolders(tx)) await freeWorker(tx, id, now);
}

/** Every worker that is listed or holds a post. */
export function listHolders(reader: Reader): Promise<{ id: string }[]> {
  return rowsOf(
    reader,
    sql<{
      id: string;
    }>`SELECT id FROM workers UNION SELECT lease_worker FROM posts WHERE lease_worker IS NOT NULL`,
  );
}

/** Posts that are held back and not reconciled yet. */
export async function countRestored(reader: Reader): Promise<number> {
  const row = await rowOf(
    reader,
    sql<{ count: number }>`
      SELECT count(*) AS count FROM posts p
      JOIN effects e ON e.post_id = p.id AND e.run = p.run AND e.step = ${RESTORED_STEP}
      WHERE p.in_doubt = 1 AND p.status <> 'cancelled'`,
  );
  return row?.count ?? 0;
}

import { TRANSITIONS } from "../../domain/posts/post-states.ts";
import { freeWorker } from "./release.ts";
import { RESTORED_STEP } from "../engine/ledger.ts";
import { change, rowOf, rowsOf } from "../engine/statements.ts";
import type { Reader, Tx } from "../engine/store.ts";

export interface Suspicion {
  /** Milliseconds since 1970: nothing that was due later can have gone out unknown to this database. */
  readonly now: number;
  /**
   * Platforms whose posts live in this very database: nothing can have happened on them that it does not know
   * of.
   */
  readonly localProviders: readonly string[];
  /** Platforms that show nothing before its time, whatever was sent to them ahead of it. */
  readonly promptProviders: readonly string[];
}

/** May have gone out since the copy was made; parameters: local providers, prompt providers, now, now. */
const MAY_HAVE_GONE_OUT = `
  provider NOT IN (SELECT value FROM json_each(?))
  AND CASE
    WHEN status = 'uploaded' OR provider IN (SELECT value FROM json_each(?)) THEN scheduled_at <= ?
    ELSE due_at <= ?
  END`;

/** Where the publisher's index leads: posts that it would claim by itself. */
const WAITING = `next_at IS NOT NULL AND lease_worker IS NULL AND ${MAY_HAVE_GONE_OUT}`;
const IN_DOUBT = `in_doubt = 1 AND status = 'failed' AND ${MAY_HAVE_GONE_OUT}`;

/**
 * Marks every post that this database believes unsent although it may have gone out: it is being published,
 * its outcome is in doubt, and nothing is sent for it before the platform was asked. Returns how many. Run
 * inside a transaction on a database that no process works on.
 */
export async function markRestored(tx: Tx, suspicion: Suspicion): Promise<number> {
  const { now } = suspicion;
  await freeEverything(tx, now);
  const parameters = [
    JSON.stringify(suspicion.localProviders),
    JSON.stringify(suspicion.promptProviders),
    now,
    now,
  ];
  for (const which of [WAITING, IN_DOUBT]) await change(tx, noteRestored(which), parameters);
  return change(tx, HOLD, [now, now, now, ...parameters]);
}

function noteRestored(which: string): string {
  return `
    INSERT INTO effects (post_id, run, step, fence, effect_key, request_hash, state, asked, started_at)
    SELECT id, run, '${RESTORED_STEP}', fence, '', '', 'unknown', 0, due_at FROM posts WHERE ${which}
    ON CONFLICT (post_id, run, step) DO NOTHING`;
}

const HOLD = `
  UPDATE posts SET status = CASE status WHEN 'scheduled' THEN '${TRANSITIONS.claim.to}' ELSE status END, in_doubt = 1, tries = 0,
    next_at = CASE WHEN next_at < ? THEN next_at ELSE ? END, fence = fence + 1, updated_at = ?
  WHERE ${WAITING}`;

/** The processes whose rows the copy holds worked on another database. */
async function freeEverything(tx: Tx, now: number): Promise<void> {
  const workers = await rowsOf<{ id: string }>(tx, WORKERS, []);
  for (const { id } of workers) await freeWorker(tx, id, now);
}

const WORKERS = "SELECT id FROM workers UNION SELECT lease_worker FROM posts WHERE lease_worker IS NOT NULL";

/** Held posts that nobody has settled yet. */
export async function countRestored(reader: Reader): Promise<number> {
  return (await rowOf<{ count: number }>(reader, COUNT, []))?.count ?? 0;
}

const COUNT = `
  SELECT count(*) AS count FROM posts p JOIN effects e ON e.post_id = p.id AND e.run = p.run AND e.step = '${RESTORED_STEP}'
  WHERE p.in_doubt = 1`;

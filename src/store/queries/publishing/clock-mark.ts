import { sql } from "kysely";
import { change } from "../../engine/statements.ts";
import type { Tx } from "../../engine/store.ts";
import { readMeta, setMeta } from "../meta.ts";

const KEY = "clock";

interface TimeNote {
  readonly last: number | null;
  readonly backMs: number;
}

/**
 * Notes the time, and tells when it was noted before and by how many milliseconds the clock has gone back
 * since; 0 where it is less than `toleranceMs`. What was put off by the clock as it was then is put off by as
 * much less: it would wait for hours that have passed already. Inside a transaction, so that of several
 * processes one does it.
 */
export async function noteTime(tx: Tx, now: number, toleranceMs: number): Promise<TimeNote> {
  const value = await readMeta(tx, KEY);
  const last = value === null ? null : Number(value);
  const backMs = last === null ? 0 : last - now;
  if (backMs > 0 && backMs <= toleranceMs) return { last, backMs: 0 };
  await setMeta(tx, KEY, String(now));
  if (backMs <= 0) return { last, backMs: 0 };
  await bringForward(tx, now, backMs);
  return { last, backMs };
}

/** A post's own time stays what it is: nothing is brought before it. */
async function bringForward(tx: Tx, now: number, byMs: number): Promise<void> {
  await change(
    tx,
    sql`UPDATE accounts SET next_allowed_at = CASE WHEN next_allowed_at < ${byMs} THEN 0 ELSE next_allowed_at - ${byMs} END
      WHERE next_allowed_at > ${now}`,
  );
  await change(
    tx,
    sql`UPDATE posts SET next_at = CASE WHEN next_at - ${byMs} < scheduled_at THEN scheduled_at ELSE next_at - ${byMs} END
      WHERE next_at > ${now} AND next_at > scheduled_at AND next_at IS NOT NULL AND lease_worker IS NULL`,
  );
  await change(tx, sql`UPDATE grants SET renew_at = renew_at - ${byMs} WHERE renew_at > ${now}`);
  await change(tx, sql`UPDATE webhook_deliveries SET next_at = next_at - ${byMs} WHERE next_at > ${now}`);
}

import type { SqliteDatabase } from "../engine/driver.ts";
import { setMeta } from "../tables/meta.ts";

const KEY = "clock";

/**
 * Notes the time, and tells by how many milliseconds the clock has gone back since any process noted it; 0 where it is less than
 * `toleranceMs`. What was put off by the clock as it was then is put off by as much less: it would wait for hours that have
 * passed already. Inside a transaction, so that of several processes one does it.
 */
export function noteTime(raw: SqliteDatabase, now: number, toleranceMs: number): number {
  const row = raw.prepare("SELECT value FROM meta WHERE key = ?").get([KEY]) as { value: string } | undefined;
  const backMs = row === undefined ? 0 : Number(row.value) - now;
  if (backMs > 0 && backMs <= toleranceMs) return 0;
  setMeta(raw, KEY, String(now));
  if (backMs <= 0) return 0;
  bringForward(raw, now, backMs);
  return backMs;
}

/** A post's own time stays what it is: nothing is brought before it. */
function bringForward(raw: SqliteDatabase, now: number, byMs: number): void {
  raw
    .prepare("UPDATE accounts SET next_allowed_at = MAX(0, next_allowed_at - ?) WHERE next_allowed_at > ?")
    .run([byMs, now]);
  raw
    .prepare(
      `UPDATE posts SET next_at = MAX(scheduled_at, next_at - ?)
       WHERE next_at > ? AND next_at > scheduled_at AND next_at IS NOT NULL AND lease_worker IS NULL`,
    )
    .run([byMs, now]);
  raw.prepare("UPDATE webhook_deliveries SET next_at = next_at - ? WHERE next_at > ?").run([byMs, now]);
}

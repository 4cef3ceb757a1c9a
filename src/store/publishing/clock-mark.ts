import type { SqliteDatabase } from "../engine/driver.ts";

const KEY = "clock";

const SET_MARK =
  "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";

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
export function noteTime(raw: SqliteDatabase, now: number, toleranceMs: number): TimeNote {
  const row = raw.prepare("SELECT value FROM meta WHERE key = ?").get([KEY]) as { value: string } | undefined;
  const last = row === undefined ? null : Number(row.value);
  const backMs = last === null ? 0 : last - now;
  if (backMs > 0 && backMs <= toleranceMs) return { last, backMs: 0 };
  raw.prepare(SET_MARK).run([KEY, String(now)]);
  if (backMs <= 0) return { last, backMs: 0 };
  bringForward(raw, now, backMs);
  return { last, backMs };
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
  raw.prepare("UPDATE grants SET renew_at = renew_at - ? WHERE renew_at > ?").run([byMs, now]);
  raw.prepare("UPDATE webhook_deliveries SET next_at = next_at - ? WHERE next_at > ?").run([byMs, now]);
}

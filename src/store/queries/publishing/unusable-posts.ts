import { sql } from "kysely";
import type { UnusableNote } from "../../engine/claims.ts";
import { change, rowsOf } from "../../engine/statements.ts";
import type { Tx } from "../../engine/store.ts";

/* Due posts whose channel cannot be used: they say so. When it can be used again they start (waiting-posts.ts). */

interface UnusablePost {
  readonly post: string;
  readonly scheduled_at: number;
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  readonly status_reason: string | null;
}

export async function noteUnusable(tx: Tx, note: UnusableNote): Promise<number> {
  const posts = await rowsOf(
    tx,
    sql<UnusablePost>`
      SELECT p.id AS post, p.scheduled_at AS scheduled_at, a.id AS id, a.name AS name, a.provider AS provider,
        a.status_reason AS status_reason
      FROM posts p JOIN accounts a ON a.id = p.account_id
      WHERE p.next_at <= ${note.now} AND p.next_at IS NOT NULL AND p.lease_worker IS NULL AND p.status = 'scheduled'
        AND a.status IN ('disconnected', 'reconnect_required')
      ORDER BY p.next_at LIMIT ${note.limit}`,
  );
  const inOrder = posts.toSorted((a, b) => (a.post < b.post ? -1 : 1));
  for (const { post, scheduled_at: scheduledAt, ...account } of inOrder) {
    const error = note.why(account);
    const lookAgainAt = Math.max(
      note.now + 1,
      Math.min(note.lookAgainAt, scheduledAt + note.lastLookAfterMs),
    );
    // The time of the change moves only where the reason does: a watcher of the post hears of it once.
    await change(
      tx,
      sql`UPDATE posts SET updated_at = CASE WHEN error = ${error} THEN updated_at ELSE CAST(${note.now} AS BIGINT) END,
          error = ${error}, next_at = ${lookAgainAt}
        WHERE id = ${post} AND status = 'scheduled' AND lease_worker IS NULL`,
    );
  }
  return posts.length;
}

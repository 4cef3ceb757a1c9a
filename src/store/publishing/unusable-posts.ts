import type { UnusableNote } from "../engine/claims.ts";
import { change, rowsOf } from "../engine/statements.ts";
import type { Tx } from "../engine/store.ts";

/* Due posts whose channel cannot be used: they say so. When it can be used again they start (waiting-posts.ts). */

const UNUSABLE = `
  SELECT p.id AS post, p.scheduled_at AS scheduled_at, a.id AS id, a.name AS name, a.provider AS provider,
    a.status_reason AS status_reason
  FROM posts p INDEXED BY posts_next CROSS JOIN accounts a ON a.id = p.account_id
  WHERE p.next_at <= ? AND p.next_at IS NOT NULL AND p.lease_worker IS NULL AND p.status = 'scheduled'
    AND a.status IN ('disconnected', 'reconnect_required')
  ORDER BY p.next_at LIMIT ?`;

interface UnusablePost {
  readonly post: string;
  readonly scheduled_at: number;
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  readonly status_reason: string | null;
}

/** The time of the change moves only where the reason does: who watches a post hears of it once. */
const NOTE = `
  UPDATE posts SET updated_at = CASE WHEN error IS NOT DISTINCT FROM ? THEN updated_at ELSE ? END, error = ?, next_at = ?
  WHERE id = ? AND status = 'scheduled' AND lease_worker IS NULL`;

export async function noteUnusable(tx: Tx, note: UnusableNote): Promise<number> {
  const posts = await rowsOf<UnusablePost>(tx, UNUSABLE, [note.now, note.limit]);
  const inOrder = posts.toSorted((a, b) => (a.post < b.post ? -1 : 1));
  for (const { post, scheduled_at: scheduledAt, ...account } of inOrder) {
    const error = note.why(account);
    const lookAgainAt = Math.max(
      note.now + 1,
      Math.min(note.lookAgainAt, scheduledAt + note.lastLookAfterMs),
    );
    await change(tx, NOTE, [error, note.now, error, lookAgainAt, post]);
  }
  return posts.length;
}

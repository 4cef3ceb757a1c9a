import { rawOf } from "../engine/handle.ts";
import type { Tx } from "../engine/store.ts";

const START = `
  UPDATE posts SET next_at = MIN(next_at, ?),
    updated_at = CASE WHEN status = 'scheduled' AND error IS NOT NULL THEN ? ELSE updated_at END,
    error = CASE status WHEN 'scheduled' THEN NULL ELSE error END
  WHERE account_id = ? AND next_at IS NOT NULL AND lease_worker IS NULL AND due_at <= ?`;

const WAITED =
  "UPDATE accounts SET next_allowed_at = ?, wait_cause = 'channel' WHERE id = ? AND next_allowed_at < ?";

/** Its channel can be used again: what waited for it is looked at now, by whichever process looks first. */
export function startWaitingPosts(tx: Tx, accountId: string, now: number): void {
  rawOf(tx).prepare(START).run([now, now, accountId, now]);
  rawOf(tx).prepare(WAITED).run([now, accountId, now]);
}

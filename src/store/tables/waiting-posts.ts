import { change } from "../engine/statements.ts";
import type { Tx } from "../engine/store.ts";

const START = `
  UPDATE posts SET next_at = CASE WHEN next_at < ? THEN next_at ELSE ? END,
    updated_at = CASE WHEN status = 'scheduled' AND error IS NOT NULL THEN ? ELSE updated_at END,
    error = CASE status WHEN 'scheduled' THEN NULL ELSE error END
  WHERE account_id = ? AND next_at IS NOT NULL AND lease_worker IS NULL AND due_at <= ?`;

const WAITED =
  "UPDATE accounts SET next_allowed_at = ?, wait_cause = 'channel' WHERE id = ? AND next_allowed_at < ?";

/** Its channel can be used again: what waited for it is looked at now, by whichever process looks first. */
export async function startWaitingPosts(tx: Tx, accountId: string, now: number): Promise<void> {
  await change(tx, START, [now, now, now, accountId, now]);
  await change(tx, WAITED, [now, accountId, now]);
}

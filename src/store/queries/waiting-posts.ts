import { sql } from "kysely";
import { queryOf } from "../engine/handle.ts";
import type { Tx } from "../engine/store.ts";

/** Its channel can be used again: what waited for it is looked at now, by whichever process looks first. */
export async function startWaitingPosts(tx: Tx, accountId: string, now: number): Promise<void> {
  const query = queryOf(tx);
  await query
    .updateTable("posts")
    .set({
      next_at: sql`CASE WHEN next_at < ${now} THEN next_at ELSE ${now} END`,
      updated_at: sql`CASE WHEN status = 'scheduled' AND error IS NOT NULL THEN ${now} ELSE updated_at END`,
      error: sql`CASE status WHEN 'scheduled' THEN NULL ELSE error END`,
    })
    .where("account_id", "=", accountId)
    .where("next_at", "is not", null)
    .where("lease_worker", "is", null)
    .where("due_at", "<=", now)
    .execute();
  await query
    .updateTable("accounts")
    .set({ next_allowed_at: now, wait_cause: "channel" })
    .where("id", "=", accountId)
    .where("next_allowed_at", "<", now)
    .execute();
}

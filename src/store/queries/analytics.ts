import type { Reader } from "../engine/store.ts";
import { rowsOf } from "../engine/statements.ts";
import { sql } from "kysely";

export interface EndedPost {
  readonly status: "published" | "failed";
  readonly scheduled_at: number;
  readonly published_at: number | null;
}

/**
 * An account's posts that went live or failed, by the time they were scheduled for (milliseconds, both
 * included).
 */
export async function readEnded(
  reader: Reader,
  account: { readonly ownerId: string; readonly id: string },
  range: { readonly from: number; readonly to: number },
): Promise<EndedPost[]> {
  return rowsOf(
    reader,
    sql<EndedPost>`
      SELECT status, scheduled_at, published_at FROM posts
      WHERE account_id = ${account.id} AND owner_id = ${account.ownerId} AND status IN ('published', 'failed')
        AND scheduled_at >= ${range.from} AND scheduled_at <= ${range.to}`,
  );
}

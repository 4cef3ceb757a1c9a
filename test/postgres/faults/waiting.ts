import { sql } from "kysely";
import type { Reader } from "../../../src/store/engine/store.ts";
import { queryOf } from "../../support/handles.ts";

/** Posts and events that somebody is at work on, or is to be. */
export async function countWaiting(reader: Reader): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    SELECT (SELECT count(*) FROM posts WHERE next_at IS NOT NULL OR lease_worker IS NOT NULL)
      + (SELECT count(*) FROM webhook_deliveries WHERE next_at IS NOT NULL) AS n`.execute(queryOf(reader));
  return rows[0]?.n ?? 0;
}

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

/** What they wait for, a line each: for whoever waited in vain. */
export async function describeWaiting(reader: Reader): Promise<string> {
  const { rows } = await sql<object>`
    SELECT p.caption, p.status, p.next_at, p.lease_worker, p.tries, p.in_doubt, p.error, w.heartbeat_at, a.in_flight_post,
      a.next_allowed_at, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now
    FROM posts p JOIN accounts a ON a.id = p.account_id LEFT JOIN workers w ON w.id = p.lease_worker
    WHERE p.next_at IS NOT NULL OR p.lease_worker IS NOT NULL`.execute(queryOf(reader));
  return rows.map((row) => JSON.stringify(row)).join("\n");
}

import { sql } from "kysely";
import { rowsOf } from "../engine/statements.ts";
import type { Reader } from "../engine/store.ts";

/** A table that goes from one engine to the other, and by what its rows are told apart and ordered. */
export interface MovedTable {
  readonly name: string;
  readonly keys: readonly string[];
}

/**
 * In an order in which no row refers to one that is not there yet. What makes posts findable is made anew:
 * each engine has its own.
 */
export const MOVED_TABLES: readonly MovedTable[] = [
  { name: "api_keys", keys: ["id"] },
  { name: "accounts", keys: ["id"] },
  { name: "posts", keys: ["id"] },
  { name: "effects", keys: ["post_id", "run", "step"] },
  { name: "attempts", keys: ["post_id", "number"] },
  { name: "attempt_totals", keys: ["provider", "outcome", "bucket_ms"] },
  { name: "files", keys: ["id"] },
  { name: "file_uses", keys: ["account_id", "file_id"] },
  { name: "grants", keys: ["id"] },
  { name: "apps", keys: ["provider", "instance_url", "redirect_url"] },
  { name: "connections", keys: ["id"] },
  { name: "feed_items", keys: ["account_id", "id"] },
  { name: "calendar_links", keys: ["owner_id"] },
  { name: "webhooks", keys: ["id"] },
  { name: "webhook_deliveries", keys: ["seq"] },
  { name: "idempotency", keys: ["owner_id", "key_hash"] },
  { name: "workers", keys: ["id"] },
  { name: "meta", keys: ["key"] },
];

export type MovedRow = Readonly<Record<string, string | number | null>>;

/** What a row's keys say, in their order. */
export type RowKey = readonly (string | number | null)[];

export interface RowRange {
  readonly columns: readonly string[];
  /** Excludes itself; null: from the first. */
  readonly after: RowKey | null;
  readonly limit: number;
}

/** Rows in the order of their keys. */
export function readRows(reader: Reader, { name, keys }: MovedTable, range: RowRange): Promise<MovedRow[]> {
  const { columns, after, limit } = range;
  const wanted = columns.map((column) => sql.ref(column));
  const list = sql.join(keys.map((key) => sql.ref(key)));
  const place = after === null ? sql`TRUE` : sql`(${list}) > (${sql.join(after)})`;
  return rowsOf(
    reader,
    sql<MovedRow>`SELECT ${sql.join(wanted)} FROM ${sql.table(name)} WHERE ${place} ORDER BY ${list} LIMIT ${limit}`,
  );
}

export function keyOf(table: MovedTable, row: MovedRow): RowKey {
  return table.keys.map((key) => row[key] ?? null);
}

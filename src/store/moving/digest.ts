import { createHash } from "node:crypto";
import { withoutNul } from "../../domain/whole-text.ts";
import type { Reader } from "../engine/store.ts";
import { keyOf, readRows, type MovedRow, type MovedTable, type RowKey } from "./moved-tables.ts";

export interface TableDigest {
  readonly rows: number;
  /** SHA-256 over all rows in the order of their keys. */
  readonly hash: string;
}

const BATCH = 1_000;

/** Tells whether two tables hold the same, whichever engine each is in. */
export async function digestTable(
  reader: Reader,
  table: MovedTable,
  columns: readonly string[],
  signal: AbortSignal,
): Promise<TableDigest> {
  const hash = createHash("sha256");
  let rows = 0;
  for (let after: RowKey | null = null; ;) {
    signal.throwIfAborted();
    const batch: MovedRow[] = await readRows(reader, table, { columns, after, limit: BATCH });
    for (const row of batch) hash.update(JSON.stringify(columns.map((column) => storable(row[column]))));
    rows += batch.length;
    const last = batch.at(-1);
    if (last === undefined || batch.length < BATCH) return { rows, hash: hash.digest("hex") };
    after = keyOf(table, last);
  }
}

/** As PostgreSQL can hold it: texts of others may have NUL in them. */
export function storable(value: string | number | null | undefined): string | number | null {
  return typeof value === "string" ? withoutNul(value) : (value ?? null);
}

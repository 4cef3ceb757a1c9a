import { sql } from "kysely";
import { change, readBatches, type Row } from "../engine/statements.ts";
import type { Tx } from "../engine/store.ts";

/** The keys of a sealed value's row, the columns that the value is bound to, and the value. */
export type SealedKeys = Row;

interface SealedColumn {
  readonly column: string;
  readonly keys: readonly string[];
  /** Columns beside the keys that the value is bound to. */
  readonly bound?: readonly string[];
  /** Selects the sealed rows, where not all are. */
  readonly where?: string;
}

/** Every column that is sealed with the secret key, by its table. */
export const SEALED_COLUMNS = {
  accounts: { column: "secrets_enc", keys: ["id", "owner_id"], bound: ["provider", "settings", "grant_id"] },
  grants: { column: "secrets_enc", keys: ["id", "owner_id"], bound: ["provider", "way", "instance_url"] },
  apps: { column: "app_enc", keys: ["provider", "instance_url", "redirect_url"] },
  platform_apps: { column: "apps_enc", keys: ["provider"] },
  connections: { column: "pending_enc", keys: ["id", "owner_id"] },
  webhooks: { column: "secrets_enc", keys: ["id", "owner_id"] },
  calendar_links: { column: "token_enc", keys: ["owner_id"] },
  effects: { column: "handle_enc", keys: ["post_id", "run", "step"] },
  idempotency: { column: "result", keys: ["owner_id", "key_hash"] },
  meta: {
    column: "value",
    keys: ["key"],
    where: "key IN ('secret_key_check', 'secrets_bound', 'push_keys')",
  },
} as const satisfies Readonly<Record<string, SealedColumn>>;

export type SealedTable = keyof typeof SEALED_COLUMNS;

/**
 * Calls `rewrite` with every sealed value and its row, which has the keys and the columns that the value is bound
 * to. Stores what it returns. Null leaves the value as it is.
 */
export async function rewriteSealed(
  tx: Tx,
  rewrite: (table: SealedTable, row: Row, value: string) => string | null,
  tables = Object.keys(SEALED_COLUMNS) as readonly SealedTable[],
): Promise<void> {
  for (const table of tables) {
    const { column, keys, bound = [], where = "TRUE" }: SealedColumn = SEALED_COLUMNS[table];
    const isSealed = sql`${sql.ref(column)} IS NOT NULL AND ${sql.raw(where)}`;
    const columns = [...bound, column];
    for await (const rows of readBatches(tx, { table, keys, columns, where: isSealed }))
      for (const row of rows) {
        const value = rewrite(table, row, String(row[column]));
        if (value === null) continue;
        // Only where it is as it was read: a value that was stored since must stay.
        const same = [...keys, column].map((name) => sql`${sql.ref(name)} = ${row[name]}`);
        await change(
          tx,
          sql`UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${value} WHERE ${sql.join(same, sql` AND `)}`,
        );
      }
  }
}

import { sql } from "kysely";
import { change, rowsOf } from "../engine/statements.ts";
import type { Tx } from "../engine/store.ts";

/** What a sealed value's row is found by, and what else it is bound to. */
export type SealedKeys = Readonly<Record<string, string | number | null>>;

interface SealedColumn {
  readonly column: string;
  readonly keys: readonly string[];
  /** Columns beside the keys that the value is bound to. */
  readonly bound?: readonly string[];
  /** Which rows, where not all are sealed. */
  readonly where?: string;
}

/** Every column that is sealed with the secret key, by its table. */
export const SEALED_COLUMNS = {
  accounts: { column: "secrets_enc", keys: ["id", "owner_id"], bound: ["provider", "settings", "grant_id"] },
  grants: { column: "secrets_enc", keys: ["id", "owner_id"], bound: ["provider", "way", "instance_url"] },
  apps: { column: "app_enc", keys: ["provider", "instance_url", "redirect_url"] },
  connections: { column: "pending_enc", keys: ["id", "owner_id"] },
  webhooks: { column: "secrets_enc", keys: ["id", "owner_id"] },
  calendar_links: { column: "token_enc", keys: ["owner_id"] },
  effects: { column: "handle_enc", keys: ["post_id", "run", "step"] },
  idempotency: { column: "result", keys: ["owner_id", "key_hash"] },
  meta: { column: "value", keys: ["key"], where: "key IN ('secret_key_check', 'secrets_bound')" },
} as const satisfies Readonly<Record<string, SealedColumn>>;

export type SealedTable = keyof typeof SEALED_COLUMNS;

const BATCH = 500;

/** Hands every sealed value over, and writes what comes back for it; null leaves it as it is. */
export async function rewriteSealed(
  tx: Tx,
  rewrite: (table: SealedTable, keys: SealedKeys, value: string) => string | null,
  tables = Object.keys(SEALED_COLUMNS) as readonly SealedTable[],
): Promise<void> {
  for (const table of tables) {
    const sealed: SealedColumn = SEALED_COLUMNS[table];
    for await (const row of sealedRows(tx, table, sealed)) {
      const value = rewrite(table, row, String(row[sealed.column]));
      if (value !== null) await write(tx, { table, sealed }, { row, value });
    }
  }
}

async function write(
  tx: Tx,
  { table, sealed }: { table: SealedTable; sealed: SealedColumn },
  { row, value }: { row: SealedKeys; value: string },
): Promise<void> {
  // As it was read: somebody may have put another value there since, which must stay.
  const where = [...sealed.keys, sealed.column].map((name) => sql`${sql.ref(name)} = ${row[name]}`);
  await change(
    tx,
    sql`UPDATE ${sql.table(table)} SET ${sql.ref(sealed.column)} = ${value} WHERE ${sql.join(where, sql` AND `)}`,
  );
}

/** In batches: a statement that is still being read would keep the connection from writing. */
async function* sealedRows(tx: Tx, table: SealedTable, sealed: SealedColumn): AsyncGenerator<SealedKeys> {
  const { column, keys, bound = [], where = "TRUE" } = sealed;
  const list = sql.join(keys.map((key) => sql.ref(key)));
  const shown = sql.join([...keys, ...bound, column].map((name) => sql.ref(name)));
  for (let last: SealedKeys | undefined; ;) {
    const place = last;
    const after =
      place === undefined ? sql`TRUE` : sql`(${list}) > (${sql.join(keys.map((key) => place[key]))})`;
    const rows: SealedKeys[] = await rowsOf(
      tx,
      sql<SealedKeys>`SELECT ${shown} FROM ${sql.table(table)}
        WHERE ${sql.ref(column)} IS NOT NULL AND ${sql.raw(where)} AND ${after} ORDER BY ${list} LIMIT ${BATCH}`,
    );
    yield* rows;
    last = rows.at(-1);
    if (rows.length < BATCH) return;
  }
}

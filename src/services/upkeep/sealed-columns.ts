import type { Cipher } from "../../domain/cipher.ts";
import type { SqliteDatabase } from "../../store/engine/driver.ts";
import { placeOf as placeOfToken } from "../feeds/calendar-link.ts";
import { placeOf as placeOfHandle } from "../publishing/effects.ts";
import { KEY_CHECK } from "./first-start.ts";
import { placeOf as placeOfResult } from "../access/idempotency.ts";
import { placeOf as placeOfSecrets } from "../accounts/secrets.ts";
import { placeOf as placeOfTarget } from "../webhooks/webhook-targets.ts";

interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** What a row is found by. */
  readonly keys: readonly string[];
  /** Where its value is bound to, from the row's keys. */
  place(row: SealedRow): string;
}

type SealedRow = Readonly<Record<string, string | number>>;

function text(row: SealedRow, column: string): string {
  return String(row[column]);
}

/** Every column that is sealed with the secret key. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  {
    table: "accounts",
    column: "secrets_enc",
    keys: ["id", "owner_id"],
    place: (row) => placeOfSecrets({ owner_id: text(row, "owner_id"), id: text(row, "id") }),
  },
  {
    table: "webhooks",
    column: "secrets_enc",
    keys: ["id", "owner_id"],
    place: (row) => placeOfTarget({ owner_id: text(row, "owner_id"), id: text(row, "id") }),
  },
  {
    table: "calendar_links",
    column: "token_enc",
    keys: ["owner_id"],
    place: (row) => placeOfToken({ owner_id: text(row, "owner_id") }),
  },
  {
    table: "effects",
    column: "handle_enc",
    keys: ["post_id", "run", "step"],
    place: (row) =>
      placeOfHandle({ post_id: text(row, "post_id"), run: Number(row["run"]), step: text(row, "step") }),
  },
  {
    table: "idempotency",
    column: "result",
    keys: ["owner_id", "key_hash"],
    place: (row) => placeOfResult({ owner_id: text(row, "owner_id"), key_hash: text(row, "key_hash") }),
  },
  { table: "meta", column: "value", keys: ["key"], place: () => KEY_CHECK },
];

/** The one fact of `meta` that is sealed. */
const ONLY: Readonly<Record<string, string>> = { meta: `key = '${KEY_CHECK}'` };

const BATCH = 500;

export interface Resealed {
  readonly values: number;
  /** Values that the old key did not open either; they stay as they are. */
  readonly unreadable: number;
}

/** Seals everything anew, inside a transaction. */
export function resealAll(
  raw: SqliteDatabase,
  keys: { readonly old: Cipher; readonly fresh: Cipher },
): Resealed {
  const counts = { values: 0, unreadable: 0 };
  for (const sealed of SEALED_COLUMNS) {
    for (const row of rowsOf(raw, sealed)) {
      const value = reseal(text(row, sealed.column), sealed.place(row), keys);
      if (value === null) counts.unreadable += 1;
      else write(raw, sealed, { row, value });
      if (value !== null) counts.values += 1;
    }
  }
  return counts;
}

function reseal(value: string, place: string, { old, fresh }: { old: Cipher; fresh: Cipher }): string | null {
  try {
    return fresh.seal(old.open(value, place), place);
  } catch {
    return null;
  }
}

function write(
  raw: SqliteDatabase,
  { table, column, keys }: SealedColumn,
  { row, value }: { row: SealedRow; value: string },
): void {
  const where = keys.map((key) => `${key} = ?`).join(" AND ");
  raw
    .prepare(`UPDATE ${table} SET ${column} = ? WHERE ${where}`)
    .run([value, ...keys.map((key) => row[key])]);
}

/** In batches: a statement that is still being read would keep the connection from writing. */
function* rowsOf(raw: SqliteDatabase, { table, column, keys }: SealedColumn): Generator<SealedRow> {
  const list = keys.join(", ");
  const from = `SELECT ${list}, ${column} FROM ${table} WHERE ${column} IS NOT NULL AND ${ONLY[table] ?? "TRUE"}`;
  const after = `(${list}) > (${keys.map(() => "?").join(", ")})`;
  for (let last: SealedRow | undefined; ;) {
    const place = last;
    const rows = raw
      .prepare(`${from} ${place === undefined ? "" : `AND ${after}`} ORDER BY ${list} LIMIT ${BATCH}`)
      .all(place === undefined ? [] : keys.map((key) => place[key])) as SealedRow[];
    yield* rows;
    last = rows.at(-1);
    if (rows.length < BATCH) return;
  }
}

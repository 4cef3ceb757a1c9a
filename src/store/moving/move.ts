import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { indexOf } from "../engine/handle.ts";
import { readRaw } from "../sqlite/handle.ts";
import { change, rowOf } from "../engine/statements.ts";
import type { Reader, Store, Tx } from "../engine/store.ts";
import { takeOver } from "../queries/publishing/release.ts";
import { listHolders } from "../queries/publishing/restored-posts.ts";
import { readMeta } from "../queries/meta.ts";
import { searchable } from "../queries/posts.ts";
import { digestTable, storable } from "./digest.ts";
import {
  keyOf,
  MOVED_TABLES,
  readRows,
  type MovedRow,
  type MovedTable,
  type RowKey,
} from "./moved-tables.ts";

/*
 * From a folder's database to one on PostgreSQL, in steps that are each a transaction. How far it has come
 * stands in the target, in a table that is there only as long as the move is under way, so that one that was
 * cut off goes on, and nothing works on half a database.
 */

const BATCH = 1_000;

const CREATE_PROGRESS = `
  CREATE TABLE IF NOT EXISTS moving_progress (name text PRIMARY KEY, value text NOT NULL)`;

/** The row that names the database that is being moved. */
const SOURCE = "source";

export interface MovedCount {
  readonly table: string;
  readonly rows: number;
}

export interface MoveOptions {
  readonly from: Store;
  readonly to: Store;
  readonly now: number;
  /** Called before the first row is copied. */
  readonly begun: () => Promise<void>;
  readonly signal: AbortSignal;
  /** Called after each step. */
  readonly progress: (moved: MovedCount) => void;
}

/** Throws `unavailable` for a database into which another is being moved. */
export async function assertMoved(reader: Reader): Promise<void> {
  if (!(await isMoving(reader))) return;
  throw new AppError(
    "unavailable",
    "Another database is being moved into this one, and that has not ended. Run posthorn migrate-database again: it goes on where it was.",
  );
}

/**
 * Copies every row, compares all of them, and gives back what processes of the source held. Throws `conflict`
 * where the target holds anything that did not come from this source, `unavailable` where the two differ
 * afterwards. The source is only read; no process works on it.
 */
export async function moveDatabase(options: MoveOptions): Promise<readonly MovedCount[]> {
  const { from, to, now, begun, signal, progress } = options;
  await begin(from, to);
  await begun();
  const counts: MovedCount[] = [];
  for (const table of MOVED_TABLES) {
    const columns = await columnsOf(from, table);
    const rows = await copyTable(options, table, columns);
    await assertSame(options, table, columns);
    counts.push({ table: table.name, rows });
    progress({ table: table.name, rows });
    signal.throwIfAborted();
  }
  await to.write((tx) => finish(tx, now));
  return counts;
}

/** Whether the target holds this very database, moved to its end. */
export async function isMovedAlready(from: Store, to: Store): Promise<boolean> {
  const source = await readSource(from);
  return source !== "" && !(await isMoving(to)) && (await readSource(to)) === source;
}

async function readSource(reader: Reader): Promise<string> {
  return (await readMeta(reader, "generation"))?.split(" ")[0] ?? "";
}

async function begin(from: Store, to: Store): Promise<void> {
  const source = await readSource(from);
  await to.write(async (tx) => {
    const isNew = !(await isMoving(tx));
    if (isNew) await assertEmpty(tx);
    await change(tx, CREATE_PROGRESS, []);
    if (isNew) await note(tx, SOURCE, source);
    if ((await readNote(tx, SOURCE)) === source) return;
    throw new AppError(
      "conflict",
      "Another folder's database is being moved into this one. Finish that, or point DATABASE_URL at an empty database.",
    );
  });
}

async function isMoving(reader: Reader): Promise<boolean> {
  const row = await rowOf<{ name: string | null }>(
    reader,
    "SELECT to_regclass('moving_progress') AS name",
    [],
  );
  return row !== undefined && row.name !== null;
}

async function assertEmpty(tx: Tx): Promise<void> {
  for (const { name } of MOVED_TABLES) {
    if ((await rowOf(tx, `SELECT 1 AS one FROM ${name} LIMIT 1`, [])) === undefined) continue;
    throw new AppError(
      "conflict",
      `The database of DATABASE_URL is in use: its table ${name} is not empty. A folder is moved only into an empty one. Make another, then try again. Nothing was changed.`,
    );
  }
}

/** As the source has them; what the target has beside them it fills in itself. */
function columnsOf(from: Store, { name }: MovedTable): Promise<readonly string[]> {
  return readRaw(from, (raw) => {
    const columns = raw.prepare(`PRAGMA table_info(${name})`).all([]) as { name: string }[];
    return columns.map((column) => column.name);
  });
}

const Progress = z.object({
  after: z.array(z.union([z.string(), z.number(), z.null()])).nullable(),
  rows: z.int(),
});

async function copyTable(
  { from, to, signal, progress }: MoveOptions,
  table: MovedTable,
  columns: readonly string[],
): Promise<number> {
  let { after, rows } = await readPlace(to, table);
  for (;;) {
    signal.throwIfAborted();
    const batch = await readRows(from, table, { columns, after, limit: BATCH });
    const last = batch.at(-1);
    if (last === undefined) return rows;
    const place: { after: RowKey; rows: number } = { after: keyOf(table, last), rows: rows + batch.length };
    await to.write(async (tx) => {
      await insertRows(tx, table, batch, columns);
      await note(tx, table.name, JSON.stringify(place));
    });
    ({ after, rows } = place);
    progress({ table: table.name, rows });
  }
}

async function readPlace(to: Store, { name }: MovedTable): Promise<{ after: RowKey | null; rows: number }> {
  const noted = await readNote(to, name);
  return noted === null ? { after: null, rows: 0 } : Progress.parse(JSON.parse(noted));
}

/** Triggers have done what they do in the source already, whose rows come along. */
async function insertRows(
  tx: Tx,
  { name }: MovedTable,
  rows: readonly MovedRow[],
  columns: readonly string[],
): Promise<void> {
  // The sums are kept in parts there, of which any will do.
  const added = name === "attempt_totals" ? { part: 0 } : {};
  const list = [...columns, ...Object.keys(added)].join(", ");
  const values = rows.map((row) => ({
    ...Object.fromEntries(columns.map((column) => [column, storable(row[column])])),
    ...added,
  }));
  if (name === "posts") await change(tx, "ALTER TABLE posts DISABLE TRIGGER USER", []);
  await change(
    tx,
    `INSERT INTO ${name} (${list}) SELECT ${list} FROM json_populate_recordset(NULL::${name}, $1::json)`,
    [JSON.stringify(values)],
  );
  if (name !== "posts") return;
  await change(tx, "ALTER TABLE posts ENABLE TRIGGER USER", []);
  for (const row of rows) await indexOf(tx).put(tx, searchable(textsOf(row)));
}

function textsOf(row: MovedRow): Parameters<typeof searchable>[0] {
  const text = (column: string): string | null => {
    const value = storable(row[column]);
    return value === null ? null : String(value);
  };
  return {
    id: text("id") ?? "",
    caption: text("caption"),
    metadata: text("metadata"),
  };
}

async function assertSame(
  { from, to, signal }: MoveOptions,
  table: MovedTable,
  columns: readonly string[],
): Promise<void> {
  const source = await digestTable(from, table, columns, signal);
  const target = await digestTable(to, table, columns, signal);
  if (source.rows === target.rows && source.hash === target.hash) return;
  throw new AppError(
    "unavailable",
    `The copy of ${table.name} is not what the folder holds (${source.rows} rows there, ${target.rows} here). Nothing works on it. Make an empty database, point DATABASE_URL at it and try again. The folder is as it was.`,
  );
}

/** The processes that held anything are all dead: the folder was taken by the move alone. */
async function finish(tx: Tx, now: number): Promise<void> {
  for (const { id } of await listHolders(tx)) await takeOver(tx, id, now);
  await rowOf(tx, CONTINUE_NUMBERS, []);
  await change(tx, "DROP TABLE moving_progress", []);
}

/** New events come after those that were moved. */
const CONTINUE_NUMBERS = `
  SELECT setval(pg_get_serial_sequence('webhook_deliveries', 'seq'), (SELECT coalesce(max(seq), 0) + 1 FROM webhook_deliveries), false)`;

async function note(tx: Tx, name: string, value: string): Promise<void> {
  const statement =
    "INSERT INTO moving_progress (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
  await change(tx, statement, [name, value]);
}

async function readNote(reader: Reader, name: string): Promise<string | null> {
  const row = await rowOf<{ value: string }>(reader, "SELECT value FROM moving_progress WHERE name = $1", [
    name,
  ]);
  return row?.value ?? null;
}

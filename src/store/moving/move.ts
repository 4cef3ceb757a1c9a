import { createHash } from "node:crypto";
import { sql } from "kysely";
import { AppError } from "../../domain/errors.ts";
import { withoutNul } from "../../domain/whole-text.ts";
import { change, deleteRows, findRow, readBatches, rowOf } from "../engine/statements.ts";
import type { Reader, Store, Tx } from "../engine/store.ts";
import { insertMeta, readMeta } from "../queries/meta.ts";
import { indexPost } from "../queries/posts.ts";
import { takeOver } from "../queries/publishing/release.ts";
import { listHolders } from "../queries/publishing/restored-posts.ts";
import type { Table } from "../schema/columns.ts";
import { TABLES, type Tables } from "../schema/tables.ts";

/* From one database to another, in one transaction: all of it is there, or nothing. */

/**
 * Each after those that it refers to, and `meta` last. The index of words is made anew: each engine has its own.
 */
const MOVED_TABLES = (Object.keys(TABLES) as (keyof Tables)[]).toSorted(
  (a, b) => Number(a === "meta") - Number(b === "meta"),
);

/** In `meta` of the target until the move has ended: the id of the database that is moved there. */
const MOVING = "moving";

export interface MovedCount {
  readonly table: string;
  readonly rows: number;
}

interface MoveOptions {
  readonly from: Store;
  readonly to: Store;
  readonly now: number;
  /** Called before the first row is copied. */
  readonly begun: () => Promise<void>;
  readonly signal: AbortSignal;
  /** Called after each batch of rows. */
  readonly progress: (moved: MovedCount) => void;
}

/** Throws `unavailable` for a database into which another one is being moved. */
export async function assertMoved(reader: Reader): Promise<void> {
  if ((await readMeta(reader, MOVING)) === null) return;
  throw new AppError(
    "unavailable",
    "Another database is being moved into this one, and that has not ended. Run posthorn migrate-database again.",
  );
}

/** Whether the target holds this very database, completely moved. */
export async function isMovedAlready(from: Store, to: Store): Promise<boolean> {
  const source = await readSource(from);
  return source !== "" && (await readMeta(to, MOVING)) === null && (await readSource(to)) === source;
}

async function readSource(reader: Reader): Promise<string> {
  return (await readMeta(reader, "generation"))?.split(" ")[0] ?? "";
}

/**
 * Copies every row, compares all of them, and releases what processes of the source held. Throws `conflict`
 * where the target is in use, `unavailable` where source and copy differ. The source is only read, and no
 * process works on it.
 */
export async function moveDatabase(options: MoveOptions): Promise<readonly MovedCount[]> {
  const { from, to, now, begun } = options;
  await reserve(to, await readSource(from));
  await begun();
  return to.write(async (tx) => {
    await deleteRows(tx, "meta", { key: MOVING });
    const counts: MovedCount[] = [];
    for (const table of MOVED_TABLES) counts.push(await moveTable(tx, table, options));
    await releaseAll(tx, now);
    await to.continueNumbers(tx);
    return counts;
  });
}

/** From here on nothing else works on the target, also while no move runs. */
async function reserve(to: Store, source: string): Promise<void> {
  await to.write(async (tx) => {
    const moving = await readMeta(tx, MOVING);
    if (moving === source) return;
    if (moving !== null)
      throw new AppError(
        "conflict",
        "Another folder's database is being moved into this one. Finish that, or point DATABASE_URL at an empty database.",
      );
    await assertEmpty(tx);
    await insertMeta(tx, MOVING, source);
  });
}

async function assertEmpty(tx: Tx): Promise<void> {
  for (const table of MOVED_TABLES) {
    if ((await rowOf(tx, `SELECT 1 AS one FROM ${table} LIMIT 1`)) === undefined) continue;
    throw new AppError(
      "conflict",
      `The database of DATABASE_URL is in use: its table ${table} is not empty. A folder is moved only into an empty one. Make another, then try again. Nothing was changed.`,
    );
  }
}

async function moveTable(tx: Tx, table: keyof Tables, options: MoveOptions): Promise<MovedCount> {
  const { from, signal, progress } = options;
  const described: Table = TABLES[table];
  const columns = Object.keys(described.columns);
  const batches = { table, columns, keys: described.key ?? columns.slice(0, 1) };
  const [source, target] = [createHash("sha256"), createHash("sha256")];
  let rows = 0;
  for await (const batch of readBatches(from, batches)) {
    signal.throwIfAborted();
    const values = batch.map((row) => columns.map((column) => storable(row[column])));
    source.update(JSON.stringify(values));
    await insertRows(tx, table, { columns, values });
    // Posts come first. A plan of one adds words by which it is found.
    for (const { id, post_id: planned } of batch) {
      if (table === "posts") await indexMoved(tx, String(id));
      if (table === "post_plans") await indexMoved(tx, String(planned));
    }
    rows += batch.length;
    progress({ table, rows });
  }
  for await (const batch of readBatches(tx, batches))
    target.update(JSON.stringify(batch.map((row) => columns.map((column) => storable(row[column])))));
  if (source.digest("hex") !== target.digest("hex"))
    throw new AppError(
      "unavailable",
      `The copy of ${table} is not what the folder holds. Nothing of it was kept, and the folder is as it was. Try again.`,
    );
  return { table, rows };
}

/** Not every engine takes NUL, which texts of other servers may have. */
function storable(value: string | number | null | undefined): string | number | null {
  return typeof value === "string" ? withoutNul(value) : (value ?? null);
}

/** Below each engine's limit of values in a statement. */
const MAX_VALUES = 10_000;

interface TableRows {
  readonly columns: readonly string[];
  readonly values: readonly (readonly (string | number | null)[])[];
}

async function insertRows(tx: Tx, table: string, { columns, values }: TableRows): Promise<void> {
  const list = sql.join(columns.map((column) => sql.ref(column)));
  const together = Math.floor(MAX_VALUES / columns.length);
  for (let at = 0; at < values.length; at += together) {
    const tuples = values.slice(at, at + together).map((row) => sql`(${sql.join(row)})`);
    await change(tx, sql`INSERT INTO ${sql.table(table)} (${list}) VALUES ${sql.join(tuples)}`);
  }
}

async function indexMoved(tx: Tx, id: string): Promise<void> {
  const row = await findRow(tx, "posts", { id });
  if (row !== undefined) await indexPost(tx, row);
}

/** Every process that held anything is dead: the move has the folder to itself. */
async function releaseAll(tx: Tx, now: number): Promise<void> {
  for (const { id } of await listHolders(tx)) await takeOver(tx, id, { now, arrivedAt: -Infinity });
}

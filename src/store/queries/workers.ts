import { sql, type Insertable, type Selectable } from "kysely";
import { findRow, queryOf, rowsOf, updateRows } from "../engine/statements.ts";
import type { Tables } from "../schema/tables.ts";
import type { Reader, Tx } from "../engine/store.ts";
import { readMeta, setMeta } from "./meta.ts";

export type WorkerRow = Selectable<Tables["workers"]>;
export type WorkerRole = WorkerRow["role"];

/** Adds a worker to the list, or updates its heartbeat. */
export async function insertWorker(tx: Tx, row: Insertable<Tables["workers"]>): Promise<void> {
  await queryOf(tx)
    .insertInto("workers")
    .values(row)
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ heartbeat_at: row.heartbeat_at }))
    .execute();
}

export async function beatWorker(tx: Tx, id: string, now: number): Promise<void> {
  await updateRows(tx, "workers", { id }, { heartbeat_at: now });
}

/** From now on its end does not count as a crash of its posts. */
export async function noteClosing(tx: Tx, id: string): Promise<void> {
  await updateRows(tx, "workers", { id }, { is_closing: 1 });
}

export async function listWorkersBeside(reader: Reader, id: string): Promise<string[]> {
  const rows = await rowsOf(reader, sql<Pick<WorkerRow, "id">>`SELECT id FROM workers WHERE id != ${id}`);
  return rows.map((row) => row.id);
}

/** False for a dead worker, which a take-over has removed from the list. */
export async function isWorkerListed(reader: Reader, id: string): Promise<boolean> {
  return (await findRow(reader, "workers", { id })) !== undefined;
}

/** Workers that have sent a heartbeat since that moment, the one that started last first. */
export function listHeard(reader: Reader, since: number): Promise<WorkerRow[]> {
  return queryOf(reader)
    .selectFrom("workers")
    .selectAll()
    .where("heartbeat_at", ">=", since)
    .orderBy("started_at", "desc")
    .orderBy("id", "desc")
    .execute();
}

/** The last sign of life of any publisher; null where none is listed. */
export async function readLastHeartbeat(reader: Reader): Promise<number | null> {
  const row = await queryOf(reader)
    .selectFrom("workers")
    .select(({ fn }) => fn.max("heartbeat_at").as("last"))
    .where("role", "not in", NOT_PUBLISHING)
    .executeTakeFirst();
  return row?.last ?? null;
}

/** Roles of processes that are listed and publish nothing. */
export const NOT_PUBLISHING: readonly WorkerRole[] = ["caller", "api"];

/** Where the server of this process is reached stands in `meta`, by what its workers are listed with. */
const SERVER_URL = "server_url";

function serverUrlKey({ host, pid }: Pick<WorkerRow, "host" | "pid">): string {
  return `${SERVER_URL} ${host} ${pid}`;
}

/** Notes it, and forgets those of processes that are listed no more. */
export async function noteUrl(tx: Tx, server: Pick<WorkerRow, "host" | "pid">, url: string): Promise<void> {
  const listed = await queryOf(tx).selectFrom("workers").select(["host", "pid"]).execute();
  await setMeta(tx, serverUrlKey(server), url);
  await queryOf(tx)
    .deleteFrom("meta")
    .where("key", "like", `${SERVER_URL}%`)
    .where("key", "not in", [server, ...listed].map(serverUrlKey))
    .execute();
}

export function readUrl(reader: Reader, server: Pick<WorkerRow, "host" | "pid">): Promise<string | null> {
  return readMeta(reader, serverUrlKey(server));
}

/** Whether any server said that it is reached there. */
export async function isServerUrl(reader: Reader, url: string): Promise<boolean> {
  const row = await queryOf(reader)
    .selectFrom("meta")
    .select("key")
    .where("key", "like", `${SERVER_URL}%`)
    .where("value", "=", url)
    .executeTakeFirst();
  return row !== undefined;
}

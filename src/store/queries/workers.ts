import type { Insertable, Selectable } from "kysely";
import { findRow, queryOf, updateRows } from "../engine/statements.ts";
import type { Tables } from "../schema/tables.ts";
import type { Reader, Tx } from "../engine/store.ts";

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
  const rows = await queryOf(reader).selectFrom("workers").select("id").where("id", "!=", id).execute();
  return rows.map((row) => row.id);
}

/** False for a dead worker, which a take-over has removed from the list. */
export async function isWorkerListed(reader: Reader, id: string): Promise<boolean> {
  return (await findRow(reader, "workers", { id })) !== undefined;
}

/** Whether a worker of these roles has sent a heartbeat since that moment. */
export async function isRoleAlive(
  reader: Reader,
  roles: readonly WorkerRole[],
  since: number,
): Promise<boolean> {
  const row = await queryOf(reader)
    .selectFrom("workers")
    .select("id")
    .where("role", "in", roles)
    .where("heartbeat_at", ">", since)
    .executeTakeFirst();
  return row !== undefined;
}

/** All publishers, the newest heartbeat first. */
export function readPublishers(reader: Reader): Promise<WorkerRow[]> {
  return queryOf(reader)
    .selectFrom("workers")
    .selectAll()
    .where("role", "not in", ["caller", "api"])
    .orderBy("heartbeat_at", "desc")
    .orderBy("id")
    .execute();
}

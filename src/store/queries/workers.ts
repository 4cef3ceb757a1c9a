import type { Insertable, Selectable } from "kysely";
import { queryOf } from "../engine/handle.ts";
import type { Tables } from "../engine/schema.ts";
import type { Reader, Tx } from "../engine/store.ts";

export type WorkerRow = Selectable<Tables["workers"]>;
export type WorkerRole = WorkerRow["role"];

/** Enters a worker in the list of those on the database, where it may stand already. */
export async function insertWorker(tx: Tx, row: Insertable<Tables["workers"]>): Promise<void> {
  await queryOf(tx)
    .insertInto("workers")
    .values(row)
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ heartbeat_at: row.heartbeat_at }))
    .execute();
}

export async function beatWorker(tx: Tx, id: string, now: number): Promise<void> {
  await queryOf(tx).updateTable("workers").set({ heartbeat_at: now }).where("id", "=", id).execute();
}

/** From now on its end says nothing about what it works on. */
export async function noteClosing(tx: Tx, id: string): Promise<void> {
  await queryOf(tx).updateTable("workers").set({ is_closing: 1 }).where("id", "=", id).execute();
}

export async function listWorkersBeside(reader: Reader, id: string): Promise<string[]> {
  const rows = await queryOf(reader).selectFrom("workers").select("id").where("id", "!=", id).execute();
  return rows.map((row) => row.id);
}

/** False for one that is proven dead: the publishers' sweep takes those off the list. */
export async function isWorkerListed(reader: Reader, id: string): Promise<boolean> {
  const row = await queryOf(reader)
    .selectFrom("workers")
    .select("id")
    .where("id", "=", id)
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether a process of one of these roles has been heard of since that moment. */
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

/** The publishers, whoever's posts they publish; the liveliest first. */
export function readPublishers(reader: Reader): Promise<WorkerRow[]> {
  return queryOf(reader)
    .selectFrom("workers")
    .selectAll()
    .where("role", "not in", ["caller", "api"])
    .orderBy("heartbeat_at", "desc")
    .orderBy("id")
    .execute();
}

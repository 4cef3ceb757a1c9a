import type { Selectable } from "kysely";
import type { Tables } from "../schema/tables.ts";
import { deleteRows, findRow, queryOf } from "../engine/statements.ts";
import type { Reader, Tx } from "../engine/store.ts";

export type PlatformAppRow = Selectable<Tables["platform_apps"]>;

/** All of them, as they hold for every owner. */
export function listPlatformApps(reader: Reader): Promise<PlatformAppRow[]> {
  return queryOf(reader).selectFrom("platform_apps").selectAll().execute();
}

export function findPlatformApp(reader: Reader, provider: string): Promise<PlatformAppRow | undefined> {
  return findRow(reader, "platform_apps", { provider });
}

/** Stores a platform's app, in the place of an earlier one. */
export async function storePlatformApp(tx: Tx, row: PlatformAppRow): Promise<void> {
  const { provider: _provider, ...values } = row;
  await queryOf(tx)
    .insertInto("platform_apps")
    .values(row)
    .onConflict((conflict) => conflict.column("provider").doUpdateSet(values))
    .execute();
}

/** False where there was none. */
export async function deletePlatformApp(tx: Tx, provider: string): Promise<boolean> {
  return (await deleteRows(tx, "platform_apps", { provider })) === 1;
}

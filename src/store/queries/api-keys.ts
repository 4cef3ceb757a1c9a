import type { Reader, Tx } from "../engine/store.ts";
import { queryOf } from "../engine/handle.ts";
import type { Selectable } from "kysely";
import type { Tables } from "../engine/schema.ts";

export type ApiKeyRow = Selectable<Tables["api_keys"]>;

/** The row that says whose request it is: the one look-up that cannot know the owner beforehand. */
export function findApiKeyRow(reader: Reader, id: string): Promise<ApiKeyRow | undefined> {
  return queryOf(reader).selectFrom("api_keys").selectAll().where("id", "=", id).executeTakeFirst();
}

/** In order of creation, revoked ones among them. */
export function listApiKeyRows(reader: Reader, ownerId: string): Promise<ApiKeyRow[]> {
  return queryOf(reader)
    .selectFrom("api_keys")
    .selectAll()
    .where("owner_id", "=", ownerId)
    .orderBy("id")
    .execute();
}

/** Whether any owner ever had a key here, be it revoked. */
export async function hasApiKeys(reader: Reader): Promise<boolean> {
  return (
    (await queryOf(reader).selectFrom("api_keys").select("id").limit(1).executeTakeFirst()) !== undefined
  );
}

export async function insertApiKey(tx: Tx, row: ApiKeyRow): Promise<void> {
  await queryOf(tx).insertInto("api_keys").values(row).execute();
}

/** Null when the owner has no such key; the first revocation stays. */
export async function revokeApiKeyRow(
  tx: Tx,
  key: { ownerId: string; id: string; now: number },
): Promise<ApiKeyRow | null> {
  await queryOf(tx)
    .updateTable("api_keys")
    .set({ revoked_at: key.now })
    .where("owner_id", "=", key.ownerId)
    .where("id", "=", key.id)
    .where("revoked_at", "is", null)
    .execute();
  const row = await queryOf(tx)
    .selectFrom("api_keys")
    .selectAll()
    .where("owner_id", "=", key.ownerId)
    .where("id", "=", key.id)
    .executeTakeFirst();
  return row ?? null;
}

export async function touchApiKey(tx: Tx, key: { ownerId: string; id: string; now: number }): Promise<void> {
  await queryOf(tx)
    .updateTable("api_keys")
    .set({ last_used_at: key.now })
    .where("owner_id", "=", key.ownerId)
    .where("id", "=", key.id)
    .execute();
}

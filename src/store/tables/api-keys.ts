import type { Selectable } from "kysely";
import type { Query, Tx } from "../engine/db.ts";
import type { Tables } from "../engine/schema.ts";

export type ApiKeyRow = Selectable<Tables["api_keys"]>;

/** The row that says whose request it is: the one look-up that cannot know the owner beforehand. */
export function findApiKeyRow(query: Query | Tx, id: string): Promise<ApiKeyRow | undefined> {
  return query.selectFrom("api_keys").selectAll().where("id", "=", id).executeTakeFirst();
}

/** In order of creation, revoked ones among them. */
export function listApiKeyRows(query: Query | Tx, ownerId: string): Promise<ApiKeyRow[]> {
  return query.selectFrom("api_keys").selectAll().where("owner_id", "=", ownerId).orderBy("id").execute();
}

/** Whether any owner ever had a key here, be it revoked. */
export async function hasApiKeys(query: Query | Tx): Promise<boolean> {
  return (await query.selectFrom("api_keys").select("id").limit(1).executeTakeFirst()) !== undefined;
}

export async function insertApiKey(query: Query | Tx, row: ApiKeyRow): Promise<void> {
  await query.insertInto("api_keys").values(row).execute();
}

/** Null when the owner has no such key; the first revocation stays. */
export async function revokeApiKeyRow(
  tx: Tx,
  key: { ownerId: string; id: string; now: number },
): Promise<ApiKeyRow | null> {
  await tx
    .updateTable("api_keys")
    .set({ revoked_at: key.now })
    .where("owner_id", "=", key.ownerId)
    .where("id", "=", key.id)
    .where("revoked_at", "is", null)
    .execute();
  const row = await tx
    .selectFrom("api_keys")
    .selectAll()
    .where("owner_id", "=", key.ownerId)
    .where("id", "=", key.id)
    .executeTakeFirst();
  return row ?? null;
}

export async function touchApiKey(
  query: Query,
  key: { ownerId: string; id: string; now: number },
): Promise<void> {
  await query
    .updateTable("api_keys")
    .set({ last_used_at: key.now })
    .where("owner_id", "=", key.ownerId)
    .where("id", "=", key.id)
    .execute();
}

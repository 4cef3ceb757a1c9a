import type { Selectable } from "kysely";
import type { Tables } from "../schema/tables.ts";
import { deleteRows, findRow, queryOf, updateRows } from "../engine/statements.ts";
import type { Reader, Tx } from "../engine/store.ts";

export type PageSessionRow = Selectable<Tables["page_sessions"]>;
type SignInRow = Selectable<Tables["page_sign_ins"]>;

/** Deletes those that have expired. */
export async function insertSignIn(tx: Tx, row: SignInRow, now: number): Promise<void> {
  await queryOf(tx).deleteFrom("page_sign_ins").where("expires_at", "<=", now).execute();
  await queryOf(tx).insertInto("page_sign_ins").values(row).execute();
}

/** Uses it up: of several that come at once, one gets it. Null where it was used, has expired, or never was. */
export async function takeSignIn(tx: Tx, tokenHash: string, now: number): Promise<SignInRow | null> {
  const taken = queryOf(tx)
    .deleteFrom("page_sign_ins")
    .where("token_hash", "=", tokenHash)
    .where("expires_at", ">", now);
  return (await taken.returningAll().executeTakeFirst()) ?? null;
}

/** Deletes those that have expired. */
export async function insertPageSession(tx: Tx, row: PageSessionRow): Promise<void> {
  await queryOf(tx).deleteFrom("page_sessions").where("expires_at", "<=", row.created_at).execute();
  await queryOf(tx).insertInto("page_sessions").values(row).execute();
}

/** The row says whose request it is, as that of a key does. */
export function findPageSession(reader: Reader, tokenHash: string): Promise<PageSessionRow | undefined> {
  return findRow(reader, "page_sessions", { token_hash: tokenHash });
}

/** The last seen first. `keyId` null: of every key. */
export function listPageSessionRows(
  reader: Reader,
  { ownerId, keyId, now }: { readonly ownerId: string; readonly keyId: string | null; readonly now: number },
): Promise<PageSessionRow[]> {
  const all = queryOf(reader)
    .selectFrom("page_sessions")
    .selectAll()
    .where("owner_id", "=", ownerId)
    .where("expires_at", ">", now)
    .orderBy("last_seen_at", "desc")
    .orderBy("id", "desc");
  return (keyId === null ? all : all.where("key_id", "=", keyId)).execute();
}

/** False where the owner, or this key of theirs, has no such session. */
export async function deletePageSession(
  tx: Tx,
  { ownerId, keyId, id }: { readonly ownerId: string; readonly keyId: string | null; readonly id: string },
): Promise<boolean> {
  const where = { owner_id: ownerId, key_id: keyId ?? undefined, id };
  return (await deleteRows(tx, "page_sessions", where)) === 1;
}

/** Ends the session of this cookie, if there is one. */
export async function deletePageSessionOf(tx: Tx, tokenHash: string): Promise<void> {
  await deleteRows(tx, "page_sessions", { token_hash: tokenHash });
}

export async function touchPageSession(
  tx: Tx,
  { id, owner_id }: PageSessionRow,
  { now, expiresAt }: { readonly now: number; readonly expiresAt: number },
): Promise<void> {
  await updateRows(tx, "page_sessions", { owner_id, id }, { last_seen_at: now, expires_at: expiresAt });
}

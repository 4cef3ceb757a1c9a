import { sql, type Selectable, type Updateable } from "kysely";
import type { Tables } from "../schema/tables.ts";
import { deleteRows, findRow, insertNew, queryOf, updateRows } from "../engine/statements.ts";
import type { Reader, Tx } from "../engine/store.ts";

export type ConnectionRow = Selectable<Tables["connections"]>;

/** Stores a link. Deletes those that ended before `forgetBefore`, and what expired ones still keep. */
export async function insertConnection(tx: Tx, row: ConnectionRow, forgetBefore: number): Promise<void> {
  await queryOf(tx).deleteFrom("connections").where("expires_at", "<", forgetBefore).execute();
  await queryOf(tx)
    .updateTable("connections")
    .set({ pending_enc: null })
    .where("expires_at", "<=", row.created_at)
    .where("pending_enc", "is not", null)
    .execute();
  await queryOf(tx).insertInto("connections").values(row).execute();
}

export function findConnection(
  reader: Reader,
  ownerId: string,
  id: string,
): Promise<ConnectionRow | undefined> {
  return findRow(reader, "connections", { owner_id: ownerId, id });
}

/** By the page's token, which proves who asks. So the owner is not needed. */
export function findConnectionByToken(reader: Reader, tokenHash: string): Promise<ConnectionRow | undefined> {
  return findRow(reader, "connections", { token_hash: tokenHash });
}

/** Counts a try of an open link. Undefined where it is closed or had its last try. */
export function countAttempt(
  tx: Tx,
  id: string,
  open: { now: number; maxAttempts: number },
): Promise<ConnectionRow | undefined> {
  return queryOf(tx)
    .updateTable("connections")
    .set({ attempts: sql<number>`attempts + 1` })
    .where("id", "=", id)
    .where("status", "=", "pending")
    .where("expires_at", ">", open.now)
    .where("attempts", "<", open.maxAttempts)
    .returningAll()
    .executeTakeFirst();
}

/** By the state with which a person comes back from a platform. */
export function findConnectionByState(reader: Reader, stateHash: string): Promise<ConnectionRow | undefined> {
  return findRow(reader, "connections", { state_hash: stateHash });
}

/** Keeps what is needed when the person comes back from the platform. An earlier state is void. False: closed. */
export async function keepConsent(
  tx: Tx,
  id: string,
  { stateHash, pendingEnc, way }: { stateHash: string; pendingEnc: string; way: string },
): Promise<boolean> {
  const kept = { state_hash: stateHash, pending_enc: pendingEnc, way, error: null };
  return (await updateRows(tx, "connections", { id, status: "pending" }, kept)) === 1;
}

/** Takes what was kept, once. False where another answer with the same state was first. */
export async function takeConsent(tx: Tx, id: string, pendingEnc: string): Promise<boolean> {
  const kept = { id, status: "pending", pending_enc: pendingEnc } as const;
  return (await updateRows(tx, "connections", kept, { pending_enc: null })) === 1;
}

/**
 * Until `expiresAt` a person chooses among the channels that were found, on the page of `tokenHash` where one is
 * given. False where the link is closed.
 */
export async function keepChoice(
  tx: Tx,
  id: string,
  choice: { pendingEnc: string; way: string; expiresAt: number; tokenHash?: string },
): Promise<boolean> {
  const { pendingEnc, way, expiresAt, tokenHash } = choice;
  const kept = { pending_enc: pendingEnc, way, expires_at: expiresAt, token_hash: tokenHash, error: null };
  return (
    (await updateRows(tx, "connections", { id, status: "pending" }, { ...kept, status: "choose" })) === 1
  );
}

/** Changes a link that is not used up. False for another one. */
async function updateOpen(tx: Tx, id: string, set: Updateable<Tables["connections"]>): Promise<boolean> {
  return (await updateRows(tx, "connections", { id, status: ["pending", "choose"] }, set)) === 1;
}

/** Locks the link until the transaction ends. False where it is used up. */
export function holdConnection(tx: Tx, id: string): Promise<boolean> {
  return updateOpen(tx, id, { id });
}

/** Uses the link up. False where another submission was first. The short form names the first account. */
export function completeConnection(
  tx: Tx,
  id: string,
  accountIds: readonly [string, ...string[]],
): Promise<boolean> {
  const accounts = { account_id: accountIds[0], account_ids: JSON.stringify(accountIds) };
  return updateOpen(tx, id, { ...accounts, status: "connected", pending_enc: null, error: null });
}

/** Stores why the last try failed. The last one of all closes the link. */
export async function noteFailure(
  tx: Tx,
  id: string,
  { error, isLast }: { error: string; isLast: boolean },
): Promise<void> {
  await updateOpen(tx, id, { error, ...(isLast ? { status: "failed", pending_enc: null } : {}) });
}

/* Apps that Posthorn registered on servers. */

export type AppRow = Selectable<Tables["apps"]>;

type AppKey = Pick<AppRow, "provider" | "instance_url" | "redirect_url">;

export function findApp(
  reader: Reader,
  { provider, instance_url, redirect_url }: AppKey,
): Promise<AppRow | undefined> {
  return findRow(reader, "apps", { provider, instance_url, redirect_url });
}

/** Replaces the app that was found (null: there was none). Returns the one that is stored in the end. */
export async function storeApp(tx: Tx, row: AppRow, found: AppRow | null): Promise<AppRow> {
  if (found !== null) await deleteApp(tx, found);
  await insertNew(tx, "apps", row);
  return (await findApp(tx, row)) ?? row;
}

/** Leaves another app that was stored under the same key since. */
export async function deleteApp(
  tx: Tx,
  { provider, instance_url, redirect_url, app_enc }: AppRow,
): Promise<void> {
  await deleteRows(tx, "apps", { provider, instance_url, redirect_url, app_enc });
}

/** Whether there are tokens of this app. */
export async function isAppUsed(
  reader: Reader,
  { provider, instance_url: server, redirect_url }: AppKey,
): Promise<boolean> {
  const instance_url = server === "" ? null : server;
  return (await findRow(reader, "grants", { provider, instance_url, redirect_url })) !== undefined;
}

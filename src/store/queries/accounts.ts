import type { Reader, Tx } from "../engine/store.ts";
import { queryOf } from "../engine/handle.ts";
import { sql, type Selectable, type Updateable } from "kysely";
import type { Tables } from "../engine/schema.ts";
import { startWaitingPosts } from "./waiting-posts.ts";

export type AccountRow = Selectable<Tables["accounts"]>;

/** In order of creation. */
export function listAccountRows(reader: Reader, ownerId: string): Promise<AccountRow[]> {
  return queryOf(reader)
    .selectFrom("accounts")
    .selectAll()
    .where("owner_id", "=", ownerId)
    .orderBy("id")
    .execute();
}

export function findAccountRow(reader: Reader, ownerId: string, id: string): Promise<AccountRow | undefined> {
  return queryOf(reader)
    .selectFrom("accounts")
    .selectAll()
    .where("owner_id", "=", ownerId)
    .where("id", "=", id)
    .executeTakeFirst();
}

/** What the channels of these ids are called, in order of creation. */
export function listAccountNames(
  reader: Reader,
  ownerId: string,
  ids: readonly string[],
): Promise<Pick<AccountRow, "id" | "name">[]> {
  return queryOf(reader)
    .selectFrom("accounts")
    .select(["id", "name"])
    .where("owner_id", "=", ownerId)
    .where("id", "in", ids)
    .orderBy("id")
    .execute();
}

export interface AccountIdentity {
  readonly ownerId: string;
  readonly provider: string;
  readonly platformAccountId: string;
  /** "" where ids are the same everywhere. */
  readonly idServer: string;
}

/** The owner's account for a channel of a platform; there is one at most. */
export function findAccountByIdentity(
  reader: Reader,
  identity: AccountIdentity,
): Promise<AccountRow | undefined> {
  return queryOf(reader)
    .selectFrom("accounts")
    .selectAll()
    .where("owner_id", "=", identity.ownerId)
    .where("provider", "=", identity.provider)
    .where("platform_account_id", "=", identity.platformAccountId)
    .where("id_server", "=", identity.idServer)
    .executeTakeFirst();
}

/** An account with the number of its waiting posts. */
export type CountedAccountRow = AccountRow & { readonly queued: number };

/** In order of creation, all or the one. */
export function listCountedAccounts(
  reader: Reader,
  ownerId: string,
  accountId?: string,
): Promise<CountedAccountRow[]> {
  return queryOf(reader)
    .selectFrom("accounts")
    .selectAll()
    .select(
      sql<number>`(SELECT count(*) FROM posts WHERE posts.account_id = accounts.id AND posts.status = 'scheduled')`.as(
        "queued",
      ),
    )
    .where("owner_id", "=", ownerId)
    .$if(accountId !== undefined, (all) => all.where("id", "=", accountId ?? ""))
    .orderBy("id")
    .execute();
}

/** False where the owner has the channel already. */
export async function insertAccount(tx: Tx, row: AccountRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await queryOf(tx)
    .insertInto("accounts")
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

type AccountChange = Omit<Updateable<Tables["accounts"]>, "id" | "owner_id" | "secrets_version">;

/** Its posts wait until it is connected again. */
function isUnusable({ status }: Pick<AccountRow, "status">): boolean {
  return status === "disconnected" || status === "reconnect_required";
}

/** Writes what a reconnection brought; false where another was first. Posts that waited for it start. */
export async function reconnectAccount(
  tx: Tx,
  before: AccountRow,
  change: AccountChange & { status: "connected"; updated_at: number },
): Promise<boolean> {
  const seen = { ownerId: before.owner_id, id: before.id, version: before.secrets_version };
  if (!(await updateConnection(tx, seen, change))) return false;
  if (isUnusable(before)) await startWaitingPosts(tx, before.id, change.updated_at);
  return true;
}

/**
 * Writes the change and raises `secrets_version`, so that a refresh under way does not overwrite it. False
 * where it has another version than `version`; default: any will do.
 */
export async function updateConnection(
  tx: Tx,
  { ownerId, id, version }: { ownerId: string; id: string; version?: number },
  change: AccountChange,
): Promise<boolean> {
  const { numUpdatedRows } = await queryOf(tx)
    .updateTable("accounts")
    .set(change)
    .set({ secrets_version: sql<number>`secrets_version + 1` })
    .where("owner_id", "=", ownerId)
    .where("id", "=", id)
    .$if(version !== undefined, (all) => all.where("secrets_version", "=", version ?? 0))
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

export interface SecretsVersion {
  readonly ownerId: string;
  readonly id: string;
  /** The version the writer has read. */
  readonly version: number;
}

/** What it uses stays the same; a part of it is the grant's from now on. False where another was first. */
export async function giveGrant(
  tx: Tx,
  seen: Pick<AccountRow, "owner_id" | "id" | "secrets_version" | "grant_id">,
  change: Pick<AccountRow, "grant_id" | "secrets_enc">,
): Promise<boolean> {
  const { numUpdatedRows } = await queryOf(tx)
    .updateTable("accounts")
    .set(change)
    .where("owner_id", "=", seen.owner_id)
    .where("id", "=", seen.id)
    .where("secrets_version", "=", seen.secrets_version)
    .where("grant_id", seen.grant_id === null ? "is" : "=", seen.grant_id)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Writes settings, and the secrets bound to them; false where somebody changed these meanwhile. */
export async function storeSettings(
  tx: Tx,
  seen: AccountRow,
  change: Pick<AccountRow, "settings" | "secrets_enc" | "secrets_version" | "updated_at">,
): Promise<boolean> {
  const { numUpdatedRows } = await queryOf(tx)
    .updateTable("accounts")
    .set(change)
    .where("owner_id", "=", seen.owner_id)
    .where("id", "=", seen.id)
    .where("secrets_version", "=", seen.secrets_version)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Writes who the account is and what it may do, as its platform told. */
export async function storeInspection(
  tx: Tx,
  account: { ownerId: string; id: string },
  change: Updateable<
    Pick<
      Tables["accounts"],
      "name" | "handle" | "avatar_url" | "limits" | "status_reason" | "inspected_at" | "updated_at"
    >
  >,
): Promise<void> {
  await queryOf(tx)
    .updateTable("accounts")
    .set(change)
    .where("owner_id", "=", account.ownerId)
    .where("id", "=", account.id)
    .execute();
}

/** Connected accounts of these platforms that were not inspected since, those longest ago first. */
export function listUninspected(
  reader: Reader,
  wish: { readonly providers: readonly string[]; readonly since: number; readonly limit: number },
): Promise<AccountRow[]> {
  return queryOf(reader)
    .selectFrom("accounts")
    .selectAll()
    .where("provider", "in", wish.providers)
    .where("status", "=", "connected")
    .where("inspected_at", "<", wish.since)
    .orderBy("inspected_at")
    .limit(wish.limit)
    .execute();
}

/** Marks the account as one a person must reconnect, unless its secrets changed meanwhile; false then. */
export async function requireReconnect(
  tx: Tx,
  seen: SecretsVersion,
  change: { reason: string; now: number },
): Promise<boolean> {
  const { numUpdatedRows } = await queryOf(tx)
    .updateTable("accounts")
    .set({ status: "reconnect_required", status_reason: change.reason, updated_at: change.now })
    .where("owner_id", "=", seen.ownerId)
    .where("id", "=", seen.id)
    .where("status", "<>", "disconnected")
    .where("secrets_version", "=", seen.version)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

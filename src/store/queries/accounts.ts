import { sql, type Selectable, type Updateable } from "kysely";
import { isCut } from "../../domain/accounts/account.ts";
import type { Tables } from "../schema/tables.ts";
import { findRow, insertNew, listRows, queryOf, updateRows } from "../engine/statements.ts";
import type { Reader, Tx } from "../engine/store.ts";
import { noteAccount } from "./events.ts";
import { HAS_OPEN_STEP } from "./publishing/waiting-posts.ts";

export type AccountRow = Selectable<Tables["accounts"]>;

/** In order of creation. */
export function listAccountRows(reader: Reader, ownerId: string): Promise<AccountRow[]> {
  return listRows(reader, "accounts", { owner_id: ownerId }, "id");
}

export function findAccountRow(reader: Reader, ownerId: string, id: string): Promise<AccountRow | undefined> {
  return findRow(reader, "accounts", { owner_id: ownerId, id });
}

/** Not limited to an owner: for maintenance jobs. */
export function findAccountById(reader: Reader, id: string): Promise<AccountRow | undefined> {
  return findRow(reader, "accounts", { id });
}

/** Of all owners. */
export function listAccountIds(reader: Reader): Promise<Pick<AccountRow, "id">[]> {
  return queryOf(reader).selectFrom("accounts").select("id").orderBy("id").execute();
}

/** What the owner's channels are told from each other by, in order of creation. */
export function listAccountNames(
  reader: Reader,
  ownerId: string,
): Promise<Pick<AccountRow, "id" | "provider" | "name" | "handle">[]> {
  return queryOf(reader)
    .selectFrom("accounts")
    .select(["id", "provider", "name", "handle"])
    .where("owner_id", "=", ownerId)
    .orderBy("id")
    .execute();
}

interface AccountIdentity {
  readonly ownerId: string;
  readonly provider: string;
  readonly platformAccountId: string;
  /** "" where ids are the same on every server. */
  readonly idServer: string;
}

/** The owner's account for a channel of a platform. There is at most one. */
export function findAccountByIdentity(
  reader: Reader,
  { ownerId, provider, platformAccountId, idServer }: AccountIdentity,
): Promise<AccountRow | undefined> {
  const channel = { provider, platform_account_id: platformAccountId, id_server: idServer };
  return findRow(reader, "accounts", { owner_id: ownerId, ...channel });
}

/** An account with the number of its waiting posts. */
type CountedAccountRow = AccountRow & { readonly queued: number };

/** All accounts in order of creation, or the one. */
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
export function insertAccount(tx: Tx, row: AccountRow): Promise<boolean> {
  return insertNew(tx, "accounts", row);
}

type AccountChange = Omit<Updateable<Tables["accounts"]>, "id" | "owner_id" | "secrets_version">;

/** Stores what a reconnection brought. False where another process was first. Posts that waited for it start. */
export async function reconnectAccount(
  tx: Tx,
  before: AccountRow,
  change: AccountChange & { status: "connected"; updated_at: number },
): Promise<boolean> {
  const seen = { ownerId: before.owner_id, id: before.id, version: before.secrets_version };
  if (!(await updateConnection(tx, seen, change))) return false;
  if (isCut(before)) await startWaitingPosts(tx, before.id, change.updated_at);
  return true;
}

/** The channel can be used again: its waiting posts are due now. */
export async function startWaitingPosts(tx: Tx, accountId: string, now: number): Promise<void> {
  const query = queryOf(tx);
  await query
    .updateTable("posts")
    .set({
      next_at: sql`CASE WHEN next_at < ${now} THEN next_at ELSE ${now} END`,
      updated_at: sql`CASE WHEN status = 'scheduled' AND error IS NOT NULL THEN ${now} ELSE updated_at END`,
      error: sql`CASE status WHEN 'scheduled' THEN NULL ELSE error END`,
    })
    .where("account_id", "=", accountId)
    .where("next_at", "is not", null)
    .where("lease_worker", "is", null)
    .where("due_at", "<=", now)
    .where(({ not }) => not(HAS_OPEN_STEP))
    .execute();
  await query
    .updateTable("accounts")
    .set({ next_allowed_at: now, wait_cause: "channel" })
    .where("id", "=", accountId)
    .where("next_allowed_at", "<", now)
    .execute();
}

const NEXT_VERSION = sql<number>`secrets_version + 1`;

/**
 * Stores the change and raises `secrets_version`, so that a refresh under way does not overwrite it. False where
 * the account has another version than `version`. Default: any version.
 */
export async function updateConnection(
  tx: Tx,
  { ownerId, id, version }: { ownerId: string; id: string; version?: number },
  change: AccountChange,
): Promise<boolean> {
  const seen = { owner_id: ownerId, id, secrets_version: version };
  return (await updateRows(tx, "accounts", seen, { ...change, secrets_version: NEXT_VERSION })) === 1;
}

interface SecretsVersion {
  readonly ownerId: string;
  readonly id: string;
  /** The version that was read. */
  readonly version: number;
}

/** Moves a part of the account's secrets into a grant. False where another process was first. */
export async function giveGrant(
  tx: Tx,
  seen: Pick<AccountRow, "owner_id" | "id" | "secrets_version" | "grant_id">,
  change: Pick<AccountRow, "grant_id" | "secrets_enc">,
): Promise<boolean> {
  const { owner_id, id, secrets_version, grant_id } = seen;
  return (await updateRows(tx, "accounts", { owner_id, id, secrets_version, grant_id }, change)) === 1;
}

/** Stores settings, and the secrets that are bound to them. False where the secrets changed meanwhile. */
export async function storeSettings(
  tx: Tx,
  { owner_id, id, secrets_version }: AccountRow,
  change: Pick<AccountRow, "settings" | "secrets_enc" | "secrets_version" | "updated_at">,
): Promise<boolean> {
  return (await updateRows(tx, "accounts", { owner_id, id, secrets_version }, change)) === 1;
}

/** Stores who the account is and what it may do, as its platform said. */
export async function storeInspection(
  tx: Tx,
  { ownerId, id }: { ownerId: string; id: string },
  change: Updateable<
    Pick<
      Tables["accounts"],
      "name" | "handle" | "avatar_url" | "limits" | "status_reason" | "inspected_at" | "updated_at"
    >
  >,
): Promise<void> {
  await updateRows(tx, "accounts", { owner_id: ownerId, id }, change);
}

/** Connected accounts of these platforms that were last inspected before `since`, the oldest inspection first. */
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

/** Marks the account as one that a person must reconnect. False where its secrets changed meanwhile. */
export async function requireReconnect(
  tx: Tx,
  seen: SecretsVersion,
  change: { reason: string; now: number },
): Promise<boolean> {
  const before = await queryOf(tx)
    .selectFrom("accounts")
    .select("status")
    .where("owner_id", "=", seen.ownerId)
    .where("id", "=", seen.id)
    .where("status", "<>", "disconnected")
    .where("secrets_version", "=", seen.version)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (before === undefined) return false;
  const set = { status: "reconnect_required", status_reason: change.reason, updated_at: change.now } as const;
  await updateRows(tx, "accounts", { id: seen.id }, set);
  if (before.status !== "reconnect_required") await noteLost(tx, seen.ownerId, [seen.id]);
  return true;
}

/** Channels that a person must reconnect from now on. */
export async function noteLost(tx: Tx, ownerId: string, accountIds: readonly string[]): Promise<void> {
  for (const id of accountIds)
    for (const account of await listCountedAccounts(tx, ownerId, id))
      await noteAccount(tx, account, { kind: "account.reconnect_required", at: account.updated_at });
}

/** Connected accounts of all owners whose access ends within that span. */
export function listExpiring(reader: Reader, span: { after: number; until: number }): Promise<AccountRow[]> {
  return queryOf(reader)
    .selectFrom("accounts")
    .selectAll()
    .where("status", "=", "connected")
    .where("access_ends_at", ">", span.after)
    .where("access_ends_at", "<=", span.until)
    .orderBy("id")
    .execute();
}

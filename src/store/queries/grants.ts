import { sql, type Selectable } from "kysely";
import { MINUTE } from "../../domain/time.ts";
import { queryOf } from "../engine/handle.ts";
import type { Tables } from "../engine/schema.ts";
import type { Reader, Tx } from "../engine/store.ts";
import type { AccountRow } from "./accounts.ts";
import { startWaitingPosts } from "./waiting-posts.ts";

export type GrantRow = Selectable<Tables["grants"]>;

/** A grant as somebody has read it. */
export type SeenGrant = Pick<GrantRow, "owner_id" | "id" | "secrets_version">;

type GrantKey = Pick<GrantRow, "owner_id" | "id">;

export function findGrant(reader: Reader, key: GrantKey): Promise<GrantRow | undefined> {
  return queryOf(reader)
    .selectFrom("grants")
    .selectAll()
    .where("owner_id", "=", key.owner_id)
    .where("id", "=", key.id)
    .executeTakeFirst();
}

/** The grant of an account that is still as it was read; undefined where either was changed since. */
export function findGrantOf(reader: Reader, account: AccountRow): Promise<GrantRow | undefined> {
  return queryOf(reader)
    .selectFrom("grants")
    .innerJoin("accounts", "accounts.grant_id", "grants.id")
    .selectAll("grants")
    .where("grants.owner_id", "=", account.owner_id)
    .where("accounts.id", "=", account.id)
    .where("accounts.secrets_version", "=", account.secrets_version)
    .executeTakeFirst();
}

export async function insertGrant(tx: Tx, row: GrantRow): Promise<void> {
  await queryOf(tx).insertInto("grants").values(row).execute();
}

/** The channels of a grant, in order of creation. */
export function listAccountsOfGrant(reader: Reader, grant: GrantKey): Promise<AccountRow[]> {
  return queryOf(reader)
    .selectFrom("accounts")
    .selectAll()
    .where("grant_id", "=", grant.id)
    .where("owner_id", "=", grant.owner_id)
    .orderBy("id")
    .execute();
}

/** The row that was deleted; undefined where a channel still uses it. */
export async function deleteUnusedGrant(tx: Tx, key: GrantKey): Promise<GrantRow | undefined> {
  // Whoever gives up another of its channels at this moment is waited for: the last one deletes it.
  await queryOf(tx)
    .updateTable("grants")
    .set((eb) => ({ updated_at: eb.ref("updated_at") }))
    .where("id", "=", key.id)
    .execute();
  return queryOf(tx)
    .deleteFrom("grants")
    .where("owner_id", "=", key.owner_id)
    .where("id", "=", key.id)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("accounts").select("accounts.id").where("accounts.grant_id", "=", key.id))),
    )
    .returningAll()
    .executeTakeFirst();
}

/** Those that are to be renewed without being asked for. */
export function listGrantsToRenew(reader: Reader, now: number): Promise<SeenGrant[]> {
  return queryOf(reader)
    .selectFrom("grants")
    .select(["owner_id", "id", "secrets_version"])
    .where("renew_at", "is not", null)
    .where("renew_at", "<=", now)
    .orderBy("renew_at")
    .execute();
}

/** Longer than any refresh takes. */
const UNLISTED_LIFE_MS = 3 * MINUTE;

/**
 * Takes the right to ask for new tokens, which one worker has at a time, until it gives it back or is proven
 * dead (`freeRenewals`). `grant` is as it was before. Null where the tokens are others by now.
 */
export async function takeRenewal(
  tx: Tx,
  seen: SeenGrant,
  by: { worker: string; now: number },
): Promise<{ readonly isTaken: boolean; readonly grant: GrantRow } | null> {
  const grant = await findGrant(tx, seen);
  if (grant?.secrets_version !== seen.secrets_version) return null;
  const { numUpdatedRows } = await queryOf(tx)
    .updateTable("grants")
    .set({ renewing_worker: by.worker, renewing_since: by.now })
    .where("id", "=", seen.id)
    // As it was read: another may have asked, and been answered, in this moment.
    .where("secrets_version", "=", grant.secrets_version)
    .where("renewing_since", grant.renewing_since === null ? "is" : "=", grant.renewing_since)
    .where(({ or, and, eb, not, exists, selectFrom }) =>
      or([
        eb("renewing_worker", "is", null),
        eb("renewing_worker", "=", by.worker),
        // A command that is on no list of workers can only be judged by its time.
        and([
          not(
            exists(selectFrom("workers").select("workers.id").whereRef("workers.id", "=", "renewing_worker")),
          ),
          eb("renewing_since", "<", by.now - UNLISTED_LIFE_MS),
        ]),
      ]),
    )
    .executeTakeFirst();
  return { isTaken: numUpdatedRows === 1n, grant };
}

/** Gives the right back. `isLost`: nobody knows whether the platform gave new tokens. */
export async function endRenewal(
  tx: Tx,
  seen: SeenGrant,
  end: { worker: string; isLost: boolean },
): Promise<void> {
  await queryOf(tx)
    .updateTable("grants")
    .set({ renewing_worker: null, ...(end.isLost ? {} : { renewing_since: null }) })
    .where("owner_id", "=", seen.owner_id)
    .where("id", "=", seen.id)
    .where("renewing_worker", "=", end.worker)
    .execute();
}

export interface RenewedGrant {
  readonly worker: string;
  readonly secretsEnc: string;
  readonly scopes: string | null;
  readonly expiresAt: number | null;
  readonly renewableUntil: number | null;
  readonly renewAt: number | null;
  readonly accessEndsAt: number | null;
  /** The channel whose refused tokens these replace: it can be used again. Of the others nothing is known. */
  readonly healed: string | null;
  readonly now: number;
}

/** Stores new tokens, for all channels; false where a person has connected anew meanwhile. */
export async function storeRenewed(tx: Tx, seen: SeenGrant, fresh: RenewedGrant): Promise<boolean> {
  const { numUpdatedRows } = await queryOf(tx)
    .updateTable("grants")
    .set({
      secrets_enc: fresh.secretsEnc,
      secrets_version: seen.secrets_version + 1,
      scopes: fresh.scopes,
      expires_at: fresh.expiresAt,
      renewable_until: fresh.renewableUntil,
      renewed_at: fresh.now,
      renew_at: fresh.renewAt,
      renewing_worker: null,
      renewing_since: null,
      updated_at: fresh.now,
    })
    .where("owner_id", "=", seen.owner_id)
    .where("id", "=", seen.id)
    .where("secrets_version", "=", seen.secrets_version)
    .where("renewing_worker", "=", fresh.worker)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) return false;
  await queryOf(tx)
    .updateTable("accounts")
    .set({
      token_expires_at: fresh.expiresAt,
      access_ends_at: fresh.accessEndsAt,
      secrets_version: sql<number>`secrets_version + 1`,
      updated_at: fresh.now,
    })
    .where("grant_id", "=", seen.id)
    .where("owner_id", "=", seen.owner_id)
    .execute();
  if (fresh.healed !== null) await heal(tx, fresh.healed, fresh.now);
  return true;
}

/** Posts that waited for it start. */
async function heal(tx: Tx, accountId: string, now: number): Promise<void> {
  const { numUpdatedRows } = await queryOf(tx)
    .updateTable("accounts")
    .set({ status: "connected", status_reason: null })
    .where("id", "=", accountId)
    .where("status", "=", "reconnect_required")
    .executeTakeFirst();
  if (numUpdatedRows === 1n) await startWaitingPosts(tx, accountId, now);
}

/** A person must consent again: all of its channels say so, and nobody asks for new tokens any more. */
export async function giveUpGrant(
  tx: Tx,
  seen: SeenGrant,
  end: { worker: string; reason: string; now: number },
): Promise<boolean> {
  const { numUpdatedRows } = await queryOf(tx)
    .updateTable("grants")
    .set({
      // Whoever waits for it sees that there is nothing to wait for.
      secrets_version: seen.secrets_version + 1,
      renew_at: null,
      renewing_worker: null,
      renewing_since: null,
      updated_at: end.now,
    })
    .where("owner_id", "=", seen.owner_id)
    .where("id", "=", seen.id)
    .where("secrets_version", "=", seen.secrets_version)
    .where("renewing_worker", "=", end.worker)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) return false;
  await queryOf(tx)
    .updateTable("accounts")
    .set({ status: "reconnect_required", status_reason: end.reason, updated_at: end.now })
    .where("grant_id", "=", seen.id)
    .where("owner_id", "=", seen.owner_id)
    .where("status", "not in", ["disconnected", "reconnect_required"])
    .execute();
  return true;
}

/** What a worker asked for that is proven dead: whether it was answered, nobody knows. */
export async function freeRenewals(tx: Tx, workerId: string): Promise<void> {
  await queryOf(tx)
    .updateTable("grants")
    .set({ renewing_worker: null })
    .where("renewing_worker", "=", workerId)
    .execute();
}

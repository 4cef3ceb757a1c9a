import { sql, type Selectable } from "kysely";
import { MINUTE } from "../../domain/time.ts";
import { findRow, listRows, queryOf, updateRows } from "../engine/statements.ts";
import type { Tables } from "../schema/tables.ts";
import type { Reader, Tx } from "../engine/store.ts";
import { noteLost, startWaitingPosts, type AccountRow } from "./accounts.ts";

export type GrantRow = Selectable<Tables["grants"]>;

/** A grant as it was read. */
export type SeenGrant = Pick<GrantRow, "owner_id" | "id" | "secrets_version">;

type GrantKey = Pick<GrantRow, "owner_id" | "id">;

export function findGrant(reader: Reader, { owner_id, id }: GrantKey): Promise<GrantRow | undefined> {
  return findRow(reader, "grants", { owner_id, id });
}

/** The grant of an account. Undefined where the account was changed since it was read. */
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
export function listAccountsOfGrant(reader: Reader, { owner_id, id }: GrantKey): Promise<AccountRow[]> {
  return listRows(reader, "accounts", { grant_id: id, owner_id }, "id");
}

/** Deletes a grant and returns it. Undefined where a channel still uses it. */
export async function deleteUnusedGrant(tx: Tx, key: GrantKey): Promise<GrantRow | undefined> {
  // Locks the row: where two channels are given up at the same moment, the last one deletes the grant.
  await updateRows(tx, "grants", { id: key.id }, { id: key.id });
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

/** Grants whose tokens are due to be renewed. */
export function listGrantsToRenew(reader: Reader, now: number): Promise<SeenGrant[]> {
  return queryOf(reader)
    .selectFrom("grants")
    .select(["owner_id", "id", "secrets_version"])
    .where("renew_at", "is not", null)
    .where("renew_at", "<=", now)
    .orderBy("renew_at")
    .execute();
}

/** A refresh takes less time than this. */
const UNLISTED_LIFE_MS = 3 * MINUTE;

/**
 * Takes the right to ask for new tokens. One worker has it at a time, until it gives it back or is proven dead
 * (`freeRenewals`). `grant` is as it was before. Null where there are new tokens already.
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
    // Only as it was read: another worker may have asked and got an answer since.
    .where("secrets_version", "=", grant.secrets_version)
    .where("renewing_since", grant.renewing_since === null ? "is" : "=", grant.renewing_since)
    .where(({ or, and, eb, not, exists, selectFrom }) =>
      or([
        eb("renewing_worker", "is", null),
        eb("renewing_worker", "=", by.worker),
        // A command is not in the list of workers. Only its time tells that it is over.
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

/** Gives the right back. `isLost`: the answer was lost, and may have held new tokens. */
export async function endRenewal(
  tx: Tx,
  { owner_id, id }: SeenGrant,
  { worker, isLost }: { worker: string; isLost: boolean },
): Promise<void> {
  const ended = { renewing_worker: null, ...(isLost ? {} : { renewing_since: null }) };
  await updateRows(tx, "grants", { owner_id, id, renewing_worker: worker }, ended);
}

/** Changes a grant whose renewal the worker still has. False where a person has connected again meanwhile. */
async function endVersion(
  tx: Tx,
  { owner_id, id, secrets_version }: SeenGrant,
  worker: string,
  set: Partial<GrantRow>,
): Promise<boolean> {
  const renewed = { owner_id, id, secrets_version, renewing_worker: worker };
  const ended = { secrets_version: secrets_version + 1, renewing_worker: null, renewing_since: null };
  return (await updateRows(tx, "grants", renewed, { ...set, ...ended })) === 1;
}

interface RenewedGrant {
  readonly worker: string;
  readonly secretsEnc: string;
  readonly scopes: string | null;
  readonly expiresAt: number | null;
  readonly renewableUntil: number | null;
  readonly renewAt: number | null;
  readonly accessEndsAt: number | null;
  /** The channel whose refused tokens these replace. It can be used again. */
  readonly healed: string | null;
  readonly now: number;
}

/** Stores new tokens for all channels. False where a person has connected again meanwhile. */
export async function storeRenewed(tx: Tx, seen: SeenGrant, fresh: RenewedGrant): Promise<boolean> {
  const { now, scopes, expiresAt, healed } = fresh;
  const isStored = await endVersion(tx, seen, fresh.worker, {
    secrets_enc: fresh.secretsEnc,
    scopes,
    expires_at: expiresAt,
    renewable_until: fresh.renewableUntil,
    renewed_at: now,
    renew_at: fresh.renewAt,
    updated_at: now,
  });
  if (!isStored) return false;
  const channels = { grant_id: seen.id, owner_id: seen.owner_id };
  await updateRows(tx, "accounts", channels, {
    token_expires_at: expiresAt,
    access_ends_at: fresh.accessEndsAt,
    secrets_version: sql`secrets_version + 1`,
    updated_at: now,
  });
  const refused = { id: healed ?? "", status: "reconnect_required" } as const;
  const usable = { status: "connected", status_reason: null } as const;
  if (healed !== null && (await updateRows(tx, "accounts", refused, usable)) === 1)
    await startWaitingPosts(tx, healed, now);
  return true;
}

/** A person must consent again. All channels of the grant say so, and no worker asks for new tokens any more. */
export async function giveUpGrant(
  tx: Tx,
  seen: SeenGrant,
  { worker, reason, now }: { worker: string; reason: string; now: number },
): Promise<boolean> {
  // The new version tells a worker that waits for the tokens that none will come.
  if (!(await endVersion(tx, seen, worker, { renew_at: null, updated_at: now }))) return false;
  const lost = await queryOf(tx)
    .updateTable("accounts")
    .set({ status: "reconnect_required", status_reason: reason, updated_at: now })
    .where("grant_id", "=", seen.id)
    .where("owner_id", "=", seen.owner_id)
    .where("status", "not in", ["disconnected", "reconnect_required"])
    .returning("id")
    .execute();
  await noteLost(
    tx,
    seen.owner_id,
    lost.map(({ id }) => id),
  );
  return true;
}

/** Releases the renewals of a dead worker. Whether the platform answered is unknown. */
export async function freeRenewals(tx: Tx, workerId: string): Promise<void> {
  await updateRows(tx, "grants", { renewing_worker: workerId }, { renewing_worker: null });
}

import type { Selectable } from "kysely";
import type { Tables } from "../../schema/tables.ts";
import { findRow, queryOf, updateRows } from "../../engine/statements.ts";
import type { Reader, Tx } from "../../engine/store.ts";

export type OAuthClientRow = Selectable<Tables["oauth_clients"]>;
export type OAuthRequestRow = Selectable<Tables["oauth_requests"]>;

export function findOAuthClient(reader: Reader, id: string): Promise<OAuthClientRow | undefined> {
  return findRow(reader, "oauth_clients", { id });
}

/** Programs that hold nothing at `now`. */
function unusedClients(reader: Reader, now: number) {
  return queryOf(reader)
    .selectFrom("oauth_clients")
    .select("id")
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("oauth_grants")
            .innerJoin("api_keys", "api_keys.id", "oauth_grants.id")
            .select("oauth_grants.id")
            .whereRef("oauth_grants.client_id", "=", "oauth_clients.id")
            .where("api_keys.revoked_at", "is", null)
            .where("api_keys.expires_at", ">", now),
        ),
      ),
    );
}

/**
 * Of those that hold nothing any more, deletes the ones that were not used since `unusedSince`, and the oldest past
 * `maxUnused`, the new one among them.
 */
export async function insertOAuthClient(
  tx: Tx,
  row: OAuthClientRow,
  { unusedSince, maxUnused }: { readonly unusedSince: number; readonly maxUnused: number },
): Promise<void> {
  const unused = unusedClients(tx, row.created_at);
  const clients = queryOf(tx).deleteFrom("oauth_clients");
  await clients.where("id", "in", unused.where("used_at", "<=", unusedSince)).execute();
  const kept = await unused.orderBy("used_at", "desc").orderBy("id", "desc").limit(maxUnused).execute();
  if (kept.length === maxUnused) {
    const others = kept.slice(0, -1).map(({ id }) => id);
    await clients.where("id", "in", unused).where("id", "not in", others).execute();
  }
  await queryOf(tx).insertInto("oauth_clients").values(row).execute();
}

export async function touchOAuthClient(tx: Tx, id: string, now: number): Promise<void> {
  await updateRows(tx, "oauth_clients", { id }, { used_at: now });
}

/** Whether a program holds anything that is good still. */
export async function holdsGrant(reader: Reader, clientId: string, now: number): Promise<boolean> {
  const held = queryOf(reader)
    .selectFrom("oauth_grants")
    .innerJoin("api_keys", "api_keys.id", "oauth_grants.id")
    .select("oauth_grants.id")
    .where("oauth_grants.client_id", "=", clientId)
    .where("api_keys.revoked_at", "is", null)
    .where("api_keys.expires_at", ">", now);
  return (await held.limit(1).executeTakeFirst()) !== undefined;
}

/** Deletes those that have expired. */
export async function insertOAuthRequest(tx: Tx, row: OAuthRequestRow, now: number): Promise<void> {
  await queryOf(tx).deleteFrom("oauth_requests").where("expires_at", "<=", now).execute();
  await queryOf(tx).insertInto("oauth_requests").values(row).execute();
}

export function findOAuthRequest(reader: Reader, id: string): Promise<OAuthRequestRow | undefined> {
  return findRow(reader, "oauth_requests", { id });
}

/** Uses it up: of several who decide at once, one does. Null where it was decided, has expired, or never was. */
export async function takeOAuthRequest(tx: Tx, id: string, now: number): Promise<OAuthRequestRow | null> {
  const taken = queryOf(tx).deleteFrom("oauth_requests").where("id", "=", id).where("expires_at", ">", now);
  return (await taken.returningAll().executeTakeFirst()) ?? null;
}

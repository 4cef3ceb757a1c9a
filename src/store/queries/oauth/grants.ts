import type { Selectable } from "kysely";
import type { Tables } from "../../schema/tables.ts";
import { deleteRows, findRow, queryOf, updateRows } from "../../engine/statements.ts";
import type { Reader, Tx } from "../../engine/store.ts";

export type OAuthCodeRow = Selectable<Tables["oauth_codes"]>;
export type OAuthGrantRow = Selectable<Tables["oauth_grants"]>;
export type OAuthTokenRow = Selectable<Tables["oauth_tokens"]>;

/** Deletes those that expired before `forgetBefore`. */
export async function insertOAuthCode(tx: Tx, row: OAuthCodeRow, forgetBefore: number): Promise<void> {
  await queryOf(tx).deleteFrom("oauth_codes").where("expires_at", "<=", forgetBefore).execute();
  await queryOf(tx).insertInto("oauth_codes").values(row).execute();
}

/** The row says whose it is, as that of a key does. */
export function findOAuthCode(reader: Reader, codeHash: string): Promise<OAuthCodeRow | undefined> {
  return findRow(reader, "oauth_codes", { code_hash: codeHash });
}

/** False where it was used before. */
export async function useOAuthCode(
  tx: Tx,
  { owner_id, code_hash }: OAuthCodeRow,
  grantId: string,
): Promise<boolean> {
  const where = { owner_id, code_hash, grant_id: null };
  return (await updateRows(tx, "oauth_codes", where, { grant_id: grantId })) === 1;
}

export async function insertOAuthGrant(tx: Tx, row: OAuthGrantRow): Promise<void> {
  await queryOf(tx).insertInto("oauth_grants").values(row).execute();
}

export function findOAuthGrant(
  reader: Reader,
  key: Pick<OAuthGrantRow, "owner_id" | "id">,
): Promise<OAuthGrantRow | undefined> {
  return findRow(reader, "oauth_grants", { owner_id: key.owner_id, id: key.id });
}

/** Those that are good still, with what they allow. `givenBy` null: whichever key gave them. The latest first. */
export function listOAuthGrants(
  reader: Reader,
  {
    ownerId,
    givenBy,
    now,
  }: { readonly ownerId: string; readonly givenBy: string | null; readonly now: number },
) {
  const all = queryOf(reader)
    .selectFrom("oauth_grants")
    .innerJoin("api_keys", "api_keys.id", "oauth_grants.id")
    .selectAll("api_keys")
    .select(["oauth_grants.client", "oauth_grants.given_by"])
    .where("oauth_grants.owner_id", "=", ownerId)
    .where("api_keys.revoked_at", "is", null)
    .where("api_keys.expires_at", ">", now)
    .orderBy("oauth_grants.id", "desc");
  return (givenBy === null ? all : all.where("oauth_grants.given_by", "=", givenBy)).execute();
}

/** Deletes the grant's tokens that have expired. */
export async function insertOAuthTokens(tx: Tx, rows: readonly OAuthTokenRow[], now: number): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  await queryOf(tx)
    .deleteFrom("oauth_tokens")
    .where("owner_id", "=", first.owner_id)
    .where("grant_id", "=", first.grant_id)
    .where("expires_at", "<=", now)
    .execute();
  await queryOf(tx)
    .insertInto("oauth_tokens")
    .values([...rows])
    .execute();
}

/** The row says whose request it is, as that of a key does. */
export function findOAuthToken(reader: Reader, tokenHash: string): Promise<OAuthTokenRow | undefined> {
  return findRow(reader, "oauth_tokens", { token_hash: tokenHash });
}

/** False where another request was first. */
export async function replaceOAuthToken(
  tx: Tx,
  { owner_id, token_hash }: OAuthTokenRow,
  now: number,
): Promise<boolean> {
  const where = { owner_id, token_hash, replaced_at: null };
  return (await updateRows(tx, "oauth_tokens", where, { replaced_at: now })) === 1;
}

export async function deleteOAuthToken(tx: Tx, { owner_id, token_hash }: OAuthTokenRow): Promise<void> {
  await deleteRows(tx, "oauth_tokens", { owner_id, token_hash });
}

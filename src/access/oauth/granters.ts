import { type Caller, isAllowed } from "../../domain/permissions.ts";
import type { AppContext } from "../../context.ts";
import { findApiKeyRow } from "../../store/queries/access.ts";
import type { OAuthGrantRow } from "../../store/queries/oauth/grants.ts";
import type { Reader } from "../../store/engine/store.ts";
import { findKeyReach, FIXED_CALLER, localCaller } from "../api-keys.ts";
import { markOfFixedKey } from "../page-sessions.ts";

/* Whose yes it was: what a key gave ends with the key. */

type Granter = Pick<OAuthGrantRow, "given_by" | "giver_mark">;

export function granterMark(ctx: AppContext, { keyId }: Caller, fixedKey: string | null): string | null {
  return keyId === FIXED_CALLER.keyId ? markOfFixedKey(ctx, fixedKey) : null;
}

/** Another fixed key ends what the one before gave. */
export function isFixedKeyChanged(ctx: AppContext, giver: Granter, fixedKey: string | null): boolean {
  if (giver.given_by !== FIXED_CALLER.keyId) return false;
  return fixedKey === null || giver.giver_mark !== markOfFixedKey(ctx, fixedKey);
}

/** Upper bound for the grant's expiry: 0 if the key is revoked or expired, `wanted` if it never expires. */
export async function grantExpiry(
  ctx: AppContext,
  reader: Reader,
  asked: { readonly giver: Granter; readonly fixedKey: string | null; readonly wanted: number },
): Promise<number> {
  const { giver, fixedKey, wanted } = asked;
  if (giver.given_by === localCaller().keyId) return wanted;
  if (giver.given_by === FIXED_CALLER.keyId) return isFixedKeyChanged(ctx, giver, fixedKey) ? 0 : wanted;
  const row = await findApiKeyRow(reader, giver.given_by);
  if (row === undefined || row.revoked_at !== null) return 0;
  return Math.min(wanted, row.expires_at ?? wanted);
}

/** What is left of it where its giver's key reaches less far by now. Null: that key is revoked or expired. */
export async function capByGranter(
  ctx: AppContext,
  caller: Caller,
  { given_by }: Pick<Granter, "given_by">,
): Promise<Caller | null> {
  if (given_by === localCaller().keyId || given_by === FIXED_CALLER.keyId) return caller;
  const giver = await findKeyReach(ctx, given_by);
  if (giver === null) return null;
  const permissions = caller.permissions.filter((one) => isAllowed(giver, one));
  const reach = giver.accountIds;
  if (reach === null) return { ...caller, permissions };
  const accountIds = caller.accountIds?.filter((id) => reach.includes(id)) ?? reach;
  return { ...caller, permissions, accountIds };
}

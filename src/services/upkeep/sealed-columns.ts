import type { Cipher } from "../../domain/cipher.ts";
import type { Tx } from "../../store/engine/store.ts";
import { rewriteSealed, type SealedKeys, type SealedTable } from "../../store/backup/sealed-columns.ts";
import { placeOf as placeOfResult } from "../access/idempotency.ts";
import { appPlaceOf, grantPlaceOf, pendingPlaceOf, placeOf as placeOfSecrets } from "../platforms/secrets.ts";
import { placeOf as placeOfToken } from "../feeds/calendar-link.ts";
import { placeOf as placeOfHandle } from "../publishing/effect-steps.ts";
import { placeOf as placeOfTarget } from "../webhooks/webhook-targets.ts";
import { accountOf, textOf, textOrNull, tryToOpen } from "./bind-secrets.ts";

/** Where each table's value is bound to, from the keys of its row. */
export const PLACES: Record<SealedTable, (row: SealedKeys) => string> = {
  accounts: (row) => placeOfSecrets(accountOf(row)),
  grants: (row) =>
    grantPlaceOf({
      owner_id: textOf(row, "owner_id"),
      id: textOf(row, "id"),
      provider: textOf(row, "provider"),
      way: textOf(row, "way"),
      instance_url: textOrNull(row, "instance_url"),
    }),
  apps: (row) =>
    appPlaceOf({
      provider: textOf(row, "provider"),
      instance_url: textOf(row, "instance_url"),
      redirect_url: textOf(row, "redirect_url"),
    }),
  connections: (row) => pendingPlaceOf({ owner_id: textOf(row, "owner_id"), id: textOf(row, "id") }),
  webhooks: (row) => placeOfTarget({ owner_id: textOf(row, "owner_id"), id: textOf(row, "id") }),
  calendar_links: (row) => placeOfToken({ owner_id: textOf(row, "owner_id") }),
  effects: (row) =>
    placeOfHandle({ post_id: textOf(row, "post_id"), run: Number(row["run"]), step: textOf(row, "step") }),
  idempotency: (row) =>
    placeOfResult({ owner_id: textOf(row, "owner_id"), key_hash: textOf(row, "key_hash") }),
  meta: (row) => textOf(row, "key"),
};

export interface Resealed {
  readonly values: number;
  /** Values that the old key did not open either; they stay as they are. */
  readonly unreadable: number;
}

/** Seals everything anew. */
export async function resealAll(
  tx: Tx,
  { old, fresh }: { readonly old: Cipher; readonly fresh: Cipher },
): Promise<Resealed> {
  const counts = { values: 0, unreadable: 0 };
  await rewriteSealed(tx, (table, row, value) => {
    const place = PLACES[table](row);
    const opened = tryToOpen(old, value, place);
    counts[opened === null ? "unreadable" : "values"] += 1;
    return opened === null ? null : fresh.seal(opened, place);
  });
  return counts;
}

import type { Cipher } from "../domain/cipher.ts";
import type { Reader, Store, Tx } from "../store/engine/store.ts";
import { rewriteSealed, type SealedKeys, type SealedTable } from "../store/backup/sealed-columns.ts";
import { answerAad } from "../access/idempotency.ts";
import {
  appAad,
  grantAad,
  pendingAad,
  accountAad,
  type SecretsOwner,
  unboundAad,
} from "../platform-io/secrets.ts";
import { calendarLinkAad } from "../feeds/calendar-link.ts";
import { stepAad } from "../publishing/effect-steps.ts";
import { webhookAad } from "../webhooks/webhook-deliveries.ts";
import { readMeta, setMeta } from "../store/queries/meta.ts";

/** Where each table's value is bound to, from the keys of its row. */
export const AADS: Record<SealedTable, (row: SealedKeys) => string> = {
  accounts: (row) => accountAad(accountOf(row)),
  grants: (row) =>
    grantAad({
      owner_id: textOf(row, "owner_id"),
      id: textOf(row, "id"),
      provider: textOf(row, "provider"),
      way: textOf(row, "way"),
      instance_url: textOrNull(row, "instance_url"),
    }),
  apps: (row) =>
    appAad({
      provider: textOf(row, "provider"),
      instance_url: textOf(row, "instance_url"),
      redirect_url: textOf(row, "redirect_url"),
    }),
  connections: (row) => pendingAad({ owner_id: textOf(row, "owner_id"), id: textOf(row, "id") }),
  webhooks: (row) => webhookAad({ owner_id: textOf(row, "owner_id"), id: textOf(row, "id") }),
  calendar_links: (row) => calendarLinkAad({ owner_id: textOf(row, "owner_id") }),
  effects: (row) =>
    stepAad({ post_id: textOf(row, "post_id"), run: Number(row["run"]), step: textOf(row, "step") }),
  idempotency: (row) => answerAad({ owner_id: textOf(row, "owner_id"), key_hash: textOf(row, "key_hash") }),
  meta: (row) => textOf(row, "key"),
};

interface Resealed {
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
    const place = AADS[table](row);
    const opened = tryToOpen(old, value, place);
    counts[opened === null ? "unreadable" : "values"] += 1;
    return opened === null ? null : fresh.seal(opened, place);
  });
  return counts;
}

/** Sealed with the secret key, for a database in which accounts' secrets are bound to their servers. */
const SECRETS_BOUND = "secrets_bound";

/**
 * Binds the secrets of accounts to the servers that they are for, once in the life of a database: older
 * versions bound them to the account alone. Nowhere else is anything opened that is not bound, so that who
 * changes an account's server in the database makes its secrets unreadable. Taking the note away brings
 * nothing: what is bound does not open as if it were not.
 */
export async function bindSecrets(store: Store, cipher: Cipher): Promise<void> {
  if (await isBound(store, cipher)) return;
  await store.write(async (tx) => {
    if (await isBound(tx, cipher)) return;
    const bind = (_table: SealedTable, row: SealedKeys, value: string): string | null => {
      const account = accountOf(row);
      const opened = tryToOpen(cipher, value, unboundAad(account));
      return opened === null ? null : cipher.seal(opened, accountAad(account));
    };
    await rewriteSealed(tx, bind, ["accounts"]);
    await setMeta(tx, SECRETS_BOUND, cipher.seal(SECRETS_BOUND, SECRETS_BOUND));
  });
}

async function isBound(reader: Reader, cipher: Cipher): Promise<boolean> {
  const note = await readMeta(reader, SECRETS_BOUND);
  return note !== null && tryToOpen(cipher, note, SECRETS_BOUND) === SECRETS_BOUND;
}

/** Null for what was changed, moved, or sealed with another key. */
function tryToOpen(cipher: Cipher, value: string, place: string): string | null {
  try {
    return cipher.open(value, place);
  } catch {
    return null;
  }
}

/** From what is sealed of it. */
function accountOf(row: SealedKeys): SecretsOwner {
  return {
    owner_id: textOf(row, "owner_id"),
    id: textOf(row, "id"),
    provider: textOf(row, "provider"),
    settings: textOf(row, "settings"),
    grant_id: textOrNull(row, "grant_id"),
  };
}

export function textOf(row: SealedKeys, column: string): string {
  return String(row[column]);
}

function textOrNull(row: SealedKeys, column: string): string | null {
  const value = row[column] ?? null;
  return value === null ? null : String(value);
}

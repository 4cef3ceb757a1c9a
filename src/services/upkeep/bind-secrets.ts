import type { Cipher } from "../../domain/cipher.ts";
import { rewriteSealed, type SealedKeys, type SealedTable } from "../../store/backup/sealed-columns.ts";
import type { Reader, Store } from "../../store/engine/store.ts";
import { readMeta, setMeta } from "../../store/queries/meta.ts";
import { placeOf, unboundPlaceOf, type SecretsOwner } from "../platforms/secrets.ts";

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
      const opened = tryToOpen(cipher, value, unboundPlaceOf(account));
      return opened === null ? null : cipher.seal(opened, placeOf(account));
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
export function tryToOpen(cipher: Cipher, value: string, place: string): string | null {
  try {
    return cipher.open(value, place);
  } catch {
    return null;
  }
}

/** From what is sealed of it. */
export function accountOf(row: SealedKeys): SecretsOwner {
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

export function textOrNull(row: SealedKeys, column: string): string | null {
  const value = row[column] ?? null;
  return value === null ? null : String(value);
}

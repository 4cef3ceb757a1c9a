import { rename, rm } from "node:fs/promises";
import { findSecretKey, newSecretKey, type DataFolder } from "./data-folder.ts";
import type { Cipher } from "../domain/cipher.ts";
import { AppError, codeOf } from "../domain/errors.ts";
import { insertMeta, readMeta, setMeta } from "../store/queries/meta.ts";
import { createCipher } from "../store/engine/cipher.ts";
import { createWhole, isThere, syncFolder } from "../store/backup/durable.ts";
import type { Settings } from "./setup.ts";
import type { Store, Reader, Tx } from "../store/engine/store.ts";
import { rewriteSealed, type SealedKeys, type SealedTable } from "../store/backup/sealed-columns.ts";
import { answerAad } from "../access/idempotency.ts";
import {
  appAad,
  grantAad,
  pendingAad,
  platformAppAad,
  accountAad,
  type SecretsOwner,
  unboundAad,
} from "../channels/platform-io/secrets.ts";
import { calendarLinkAad } from "../reporting/feeds/calendar-link.ts";
import { stepAad } from "../publishing/effect-steps.ts";
import { webhookAad } from "../reporting/webhooks/send.ts";

/** Sealed with the secret key, to tell whether a key is the right one. */
export const KEY_CHECK = "secret_key_check";

/**
 * Whether the cipher's key is the one that sealed this database's secrets; it becomes that of a new database.
 */
export async function ownsDatabase(store: Store, cipher: Cipher): Promise<boolean> {
  const sealed = await readMeta(store, KEY_CHECK);
  if (sealed === null) {
    const fresh = cipher.seal(KEY_CHECK, KEY_CHECK);
    return (await store.write((tx) => insertMeta(tx, KEY_CHECK, fresh))) || ownsDatabase(store, cipher);
  }
  return tryToOpen(cipher, sealed, KEY_CHECK) === KEY_CHECK;
}

type KeySettings = Pick<Settings, "config" | "secrets" | "folder" | "masterKey">;

/**
 * The cipher of this database, whose secrets it leaves bound to their servers. Finishes a replacement of the
 * secret key that was cut off after the database had gone over to the new one. Throws `unavailable` where no
 * key of the folder belongs to the database.
 */
export async function openCipher(store: Store, setup: KeySettings): Promise<Cipher> {
  const cipher = await findCipher(store, setup);
  await bindSecrets(store, cipher);
  return cipher;
}

/** As `openCipher`, which nothing is bound by. */
export async function findCipher(store: Store, setup: KeySettings): Promise<Cipher> {
  const cipher = createCipher(setup.masterKey);
  if (await ownsDatabase(store, cipher)) return cipher;
  const { folder } = setup;
  if (store.capabilities.manyHosts) throw await otherHostsKey(setup);
  const next = await findSecretKey(folder.nextSecretKey);
  if (next !== null && (await ownsDatabase(store, createCipher(next)))) await promoteNextSecretKey(folder);
  // Another process may have put a new one there since it was read.
  const present = await findSecretKey(folder.secretKey);
  const fitting = present === null ? null : createCipher(present);
  if (fitting !== null && (await ownsDatabase(store, fitting))) return fitting;
  throw new AppError(
    "unavailable",
    "secret.key does not belong to this database, so the stored tokens cannot be read. Put back the secret.key that belongs to it, or start on an empty data folder.",
  );
}

async function otherHostsKey(setup: KeySettings): Promise<AppError> {
  const { nextSecretKey } = setup.folder;
  const next = (await isThere(nextSecretKey))
    ? ` One that was made to replace it is in ${nextSecretKey}.`
    : "";
  return new AppError(
    "unavailable",
    `${nameSecretKey(setup)} is not the secret key of this database, so the stored tokens cannot be read. All hosts need the same key: set POSTHORN_SECRET_KEY or POSTHORN_SECRET_KEY_FILE to the key of the host that made the database.${next} Nothing was changed.`,
  );
}

/** Where the secret key comes from. */
export function nameSecretKey({ config, secrets, folder }: Omit<KeySettings, "masterKey">): string {
  if (secrets.secretKey !== null) return "POSTHORN_SECRET_KEY";
  return config.secretKeyFile ?? folder.secretKey;
}

/** Makes the key that is to take the place of the present one, durably. */
export async function makeNextSecretKey(folder: DataFolder): Promise<Buffer> {
  // What an earlier try left was never used: the database opens with the present key.
  await rm(folder.nextSecretKey, { force: true });
  const { key, text } = newSecretKey();
  await createWhole(folder.nextSecretKey, text);
  await syncFolder(folder.path);
  return key;
}

/** Puts the next key in the place of the present one; does nothing where another process has just done it. */
export async function promoteNextSecretKey(folder: DataFolder): Promise<void> {
  await rename(folder.nextSecretKey, folder.secretKey).catch((error: unknown) => {
    if (codeOf(error) !== "ENOENT") throw error;
  });
  await syncFolder(folder.path);
}

/** What each table's value is bound to, from the keys of its row. */
export const AADS: Record<SealedTable, (row: SealedKeys) => string> = {
  accounts: (row) => accountAad(accountOf(row)),
  grants: (row) =>
    grantAad({
      ...textsOf(row, "owner_id", "id", "provider", "way"),
      instance_url: textOrNull(row, "instance_url"),
    }),
  apps: (row) => appAad(textsOf(row, "provider", "instance_url", "redirect_url")),
  platform_apps: (row) => platformAppAad(textsOf(row, "provider")),
  connections: (row) => pendingAad(textsOf(row, "owner_id", "id")),
  webhooks: (row) => webhookAad(textsOf(row, "owner_id", "id")),
  calendar_links: (row) => calendarLinkAad(textsOf(row, "owner_id")),
  effects: (row) => stepAad({ ...textsOf(row, "post_id", "step"), run: Number(row["run"]) }),
  idempotency: (row) => answerAad(textsOf(row, "owner_id", "key_hash")),
  meta: (row) => textsOf(row, "key").key,
};

/** Seals everything anew. What the old key does not open stays as it is, and counts as unreadable. */
export async function resealAll(
  tx: Tx,
  { old, fresh }: { readonly old: Cipher; readonly fresh: Cipher },
): Promise<{ readonly values: number; readonly unreadable: number }> {
  const counts = { values: 0, unreadable: 0 };
  await rewriteSealed(tx, (table, row, value) => {
    const aad = AADS[table](row);
    const opened = tryToOpen(old, value, aad);
    counts[opened === null ? "unreadable" : "values"] += 1;
    return opened === null ? null : fresh.seal(opened, aad);
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
function tryToOpen(cipher: Cipher, value: string, aad: string): string | null {
  try {
    return cipher.open(value, aad);
  } catch {
    return null;
  }
}

/** From what is sealed of it. */
function accountOf(row: SealedKeys): SecretsOwner {
  return {
    ...textsOf(row, "owner_id", "id", "provider", "settings"),
    grant_id: textOrNull(row, "grant_id"),
  };
}

function textsOf<K extends string>(row: SealedKeys, ...columns: readonly K[]): Record<K, string> {
  return Object.fromEntries(columns.map((column) => [column, String(row[column])])) as Record<K, string>;
}

function textOrNull(row: SealedKeys, column: string): string | null {
  const value = row[column] ?? null;
  return value === null ? null : String(value);
}

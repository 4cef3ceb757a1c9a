import { rename, rm } from "node:fs/promises";
import { createOnce, findSecretKey, newSecretKey, type DataFolder } from "./data-folder.ts";
import type { Cipher } from "../domain/cipher.ts";
import { AppError, codeOf } from "../domain/errors.ts";
import { insertMeta, readMeta } from "../store/queries/meta.ts";
import { bindSecrets } from "./sealed-columns.ts";
import { createCipher } from "../store/engine/cipher.ts";
import { isThere, syncFolder } from "../store/backup/durable.ts";
import type { Settings } from "./setup.ts";
import type { Store } from "../store/engine/store.ts";

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
  try {
    return cipher.open(sealed, KEY_CHECK) === KEY_CHECK;
  } catch {
    return false;
  }
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
  if (store.isShared) throw await otherHostsKey(setup);
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
  await createOnce(folder.nextSecretKey, text);
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

import { findSecretKey, promoteNextSecretKey, type DataFolder } from "./data-folder.ts";
import type { Cipher } from "../domain/cipher.ts";
import { AppError } from "../domain/errors.ts";
import { ownsDatabase } from "../services/upkeep/first-start.ts";
import { bindSecrets } from "../services/upkeep/bind-secrets.ts";
import { createCipher } from "../store/engine/cipher.ts";
import type { Store } from "../store/engine/store.ts";

/**
 * The cipher of this database, whose secrets it leaves bound to their servers. Finishes a replacement of the secret key that was cut off after the database
 * had gone over to the new one. Throws `unavailable` where no key of the folder belongs to the database.
 */
export async function openCipher(
  store: Store,
  setup: { readonly masterKey: Buffer; readonly folder: DataFolder },
): Promise<Cipher> {
  const cipher = await findCipher(store, setup);
  await bindSecrets(store, cipher);
  return cipher;
}

async function findCipher(
  store: Store,
  setup: { readonly masterKey: Buffer; readonly folder: DataFolder },
): Promise<Cipher> {
  const cipher = createCipher(setup.masterKey);
  if (await ownsDatabase(store, cipher)) return cipher;
  const { folder } = setup;
  const next = await findSecretKey(folder.nextSecretKey);
  if (next !== null && (await ownsDatabase(store, createCipher(next)))) await promoteNextSecretKey(folder);
  // Another process may have put a new one there since it was read.
  const present = await findSecretKey(folder.secretKey);
  const fitting = present === null ? null : createCipher(present);
  if (fitting !== null && (await ownsDatabase(store, fitting))) return fitting;
  throw new AppError(
    "unavailable",
    "secret.key does not belong to this database, so the stored tokens cannot be read. Restore the secret.key that was backed up with it, or start on an empty data folder.",
  );
}

import { resolve } from "node:path";
import {
  createOnce,
  findSecretKey,
  locateDataFolder,
  openDataFolder,
  type DataFolder,
} from "../data-folder.ts";
import { AppError } from "../../domain/errors.ts";
import { resealAll } from "../../services/upkeep/sealed-columns.ts";
import { makeNextSecretKey, openCipher, promoteNextSecretKey } from "../secret-key.ts";
import { createCipher, secretKeyId } from "../../store/engine/cipher.ts";
import { openStore } from "../../store/open-store.ts";
import { isThere } from "../../store/backup/durable.ts";
import { takeFolder } from "../../store/sqlite/folder-lock.ts";

interface RotationInput {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the old key is kept, for backups that were made with it; null: nowhere. */
  readonly oldKeyFile: string | null;
}

interface Rotation {
  readonly oldKeyId: string;
  readonly newKeyId: string;
  /** Values sealed anew. */
  readonly values: number;
  /** Values that could not be read before either. */
  readonly unreadable: number;
}

/**
 * Replaces the secret key. The new one stands beside the old one before the database goes over to it in one
 * transaction, and takes its name after that: at every moment a key of the folder opens the database
 * (`openCipher` finishes what was cut off).
 */
export async function rotateSecret({ env, oldKeyFile }: RotationInput): Promise<Rotation> {
  const folder = await openDataFolder(locateDataFolder(env));
  if (!(await isThere(folder.database))) {
    throw new AppError(
      "conflict",
      `There is no database in ${folder.path} yet, so there is nothing to seal anew.`,
    );
  }
  const lock = takeFolder(folder.locks);
  try {
    await using store = await openStore({ file: folder.database, usedMark: folder.generation });
    const old = await openCipher(store, { masterKey: await readPresentKey(folder), folder });
    const present = await readPresentKey(folder);
    if (oldKeyFile !== null) await keep(present, resolve(oldKeyFile));
    const key = await makeNextSecretKey(folder);
    const fresh = createCipher(key);
    const resealed = await store.write((tx) => resealAll(tx, { old, fresh }));
    await promoteNextSecretKey(folder);
    return { oldKeyId: secretKeyId(present), newKeyId: secretKeyId(key), ...resealed };
  } finally {
    lock.release();
  }
}

async function readPresentKey({ secretKey }: DataFolder): Promise<Buffer> {
  const key = await findSecretKey(secretKey);
  if (key !== null) return key;
  throw new AppError(
    "unavailable",
    `${secretKey} is not there. Put the key that belongs to the database back.`,
  );
}

async function keep(key: Buffer, file: string): Promise<void> {
  if (await createOnce(file, `${key.toString("hex")}\n`)) return;
  throw new AppError("conflict", `${file} is there already. Choose another name for the old key.`);
}

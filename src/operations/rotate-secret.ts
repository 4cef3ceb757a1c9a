import { resolve } from "node:path";
import {
  createOnce,
  findSecretKey,
  openDataFolder,
  type DataFolder,
  type Environment,
} from "../app/data-folder.ts";
import { AppError } from "../domain/errors.ts";
import { openDatabase, ownDatabase } from "../app/file-store.ts";
import { resealAll, makeNextSecretKey, openCipher, promoteNextSecretKey } from "../app/secret-key.ts";
import { readMasterKey, readPlace, type Settings } from "../app/setup.ts";
import { createCipher, secretKeyId } from "../store/engine/cipher.ts";
import type { Store, Tell } from "../store/engine/store.ts";
import { openStore } from "../store/open-store.ts";
import { listWorkersBeside } from "../store/queries/workers.ts";
import { isThere } from "../store/backup/durable.ts";
import { takeFolder } from "../store/sqlite/locks.ts";
import type { RotationResult } from "./reports.ts";

interface RotationInput {
  readonly env: Environment;
  /** Where the old key is kept, for backups that were made with it; null: nowhere. */
  readonly oldKeyFile: string | null;
  /** Default: nobody hears it. */
  readonly tell?: Tell;
}

/**
 * Replaces the secret key. The new one stands beside the old one before the database goes over to it in one
 * transaction, and takes its name after that: at every moment a key of the folder opens the database
 * (`openCipher` finishes what was cut off).
 */
export async function rotateSecret({
  env,
  oldKeyFile,
  tell = () => {},
}: RotationInput): Promise<RotationResult> {
  const { place, ...settings } = await readPlace(env);
  const folder = await openDataFolder(place);
  if (settings.config.database !== null) return rotateShared({ ...settings, folder }, { oldKeyFile, tell });
  if (!(await isThere(folder.database))) {
    throw new AppError(
      "conflict",
      `There is no database in ${folder.path} yet, so there is nothing to seal anew.`,
    );
  }
  const lock = takeFolder(folder.locks);
  try {
    await using store = await openStore(ownDatabase(folder, tell));
    const old = await openCipher(store, { ...settings, masterKey: await readPresentKey(folder), folder });
    const present = await readPresentKey(folder);
    if (oldKeyFile !== null) await keep(present, resolve(oldKeyFile));
    const key = await makeNextSecretKey(folder);
    const fresh = createCipher(key);
    const resealed = await store.write((tx) => resealAll(tx, { old, fresh }));
    await promoteNextSecretKey(folder);
    return { oldKeyId: secretKeyId(present), newKeyId: secretKeyId(key), ...resealed, newKeyFile: null };
  } finally {
    lock.release();
  }
}

/**
 * The same for a database of several hosts, while none of them works on it. Each gets the key by its settings,
 * which are not ours to change: until they have the new one they do not start, and it stands in the folder.
 */
async function rotateShared(
  settings: Omit<Settings, "masterKey">,
  { oldKeyFile, tell }: Required<Omit<RotationInput, "env">>,
): Promise<RotationResult> {
  const { config, secrets, folder } = settings;
  const masterKey = await readMasterKey(settings);
  await using store = await openDatabase(settings, tell);
  await assertNobodyWorks(store);
  const old = await openCipher(store, { ...settings, masterKey });
  if (oldKeyFile !== null) await keep(masterKey, resolve(oldKeyFile));
  const key = await makeNextSecretKey(folder);
  const resealed = await store.write((tx) => resealAll(tx, { old, fresh: createCipher(key) }));
  const isOwn = secrets.secretKey === null && config.secretKeyFile === null;
  if (isOwn) await promoteNextSecretKey(folder);
  const newKeyFile = isOwn ? folder.secretKey : folder.nextSecretKey;
  return { oldKeyId: secretKeyId(masterKey), newKeyId: secretKeyId(key), ...resealed, newKeyFile };
}

async function assertNobodyWorks(store: Store): Promise<void> {
  const dead = await store.liveness.listDead("");
  const alive = (await listWorkersBeside(store, "")).filter((id) => !dead.includes(id));
  if (alive.length === 0) return;
  const processes = alive.length === 1 ? "1 process works" : `${alive.length} processes work`;
  throw new AppError(
    "conflict",
    `${processes} on this database, or ended less than a minute ago without saying so. Stop Posthorn on every host, then try again.`,
  );
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

import { resolve } from "node:path";
import {
  findOwnDatabase,
  findSecretKey,
  openDataFolder,
  type DataFolder,
  type Environment,
} from "../data-folder.ts";
import { AppError } from "../../domain/errors.ts";
import { capabilitiesOf, openDatabase, ownDatabase } from "../file-store.ts";
import { resealAll, makeNextSecretKey, openCipher, promoteNextSecretKey } from "../secret-key.ts";
import { readMasterKey, readPlace } from "../setup.ts";
import { createCipher, secretKeyId } from "../../store/engine/cipher.ts";
import type { Store, Tell } from "../../store/engine/store.ts";
import { createWhole } from "../../store/backup/durable.ts";
import { openStore } from "../../store/open-store.ts";
import { listWorkersBeside } from "../../store/queries/workers.ts";
import { takeFolder } from "../../store/local/locks.ts";
import type { RotationResult } from "../../domain/health/backups.ts";

interface RotationInput {
  readonly env: Environment;
  /** Where the old key is kept, for backups that were made with it; null: nowhere. */
  readonly oldKeyFile: string | null;
  readonly tell?: Tell;
}

/**
 * Replaces the secret key. The new one stands beside the old one before the database goes over to it in one
 * transaction, and takes its name after that: at every moment a key of the folder opens the database
 * (`openCipher` finishes what was cut off). A database of several hosts gets the new key while none of them
 * works on it. Where their settings name the key, it waits in the folder, and no host starts without it.
 */
export async function rotateSecret({
  env,
  oldKeyFile,
  tell = () => {},
}: RotationInput): Promise<RotationResult> {
  const { place, ...given } = await readPlace(env);
  const folder = await openDataFolder(place);
  const settings = { ...given, folder };
  const { inFolder, manyHosts } = capabilitiesOf(given.config);
  if (inFolder && findOwnDatabase(folder).place === null) {
    throw new AppError(
      "conflict",
      `There is no database in ${folder.path} yet, so there is nothing to seal anew.`,
    );
  }
  const lock = inFolder ? takeFolder(folder.locks) : null;
  try {
    await using store = await (inFolder
      ? openStore(ownDatabase(folder, tell))
      : openDatabase(settings, tell));
    if (manyHosts) await assertNoneWorks(store);
    const readPresent = (): Promise<Buffer> => (manyHosts ? readMasterKey(settings) : readOwnKey(folder));
    const old = await openCipher(store, { ...settings, masterKey: await readPresent() });
    const present = await readPresent();
    if (oldKeyFile !== null) await keep(present, resolve(oldKeyFile));
    const key = await makeNextSecretKey(folder);
    const resealed = await store.write((tx) => resealAll(tx, { old, fresh: createCipher(key) }));
    const isOwn = !manyHosts || (given.secrets.secretKey === null && given.config.secretKeyFile === null);
    if (isOwn) await promoteNextSecretKey(folder);
    const sharedKeyFile = isOwn ? folder.secretKey : folder.nextSecretKey;
    const ids = { oldKeyId: secretKeyId(present), newKeyId: secretKeyId(key) };
    return { ...ids, ...resealed, newKeyFile: manyHosts ? sharedKeyFile : null };
  } finally {
    lock?.release();
  }
}

async function assertNoneWorks(store: Store): Promise<void> {
  const dead = await store.liveness.listDead("");
  const alive = (await listWorkersBeside(store, "")).filter((id) => !dead.includes(id));
  if (alive.length === 0) return;
  const processes = alive.length === 1 ? "1 process works" : `${alive.length} processes work`;
  throw new AppError(
    "conflict",
    `${processes} on this database, or ended less than a minute ago without saying so. Stop Posthorn on every host, then try again.`,
  );
}

async function readOwnKey({ secretKey }: DataFolder): Promise<Buffer> {
  const key = await findSecretKey(secretKey);
  if (key !== null) return key;
  throw new AppError(
    "unavailable",
    `${secretKey} is not there. Put the key that belongs to the database back.`,
  );
}

async function keep(key: Buffer, file: string): Promise<void> {
  if (await createWhole(file, `${key.toString("hex")}\n`)) return;
  throw new AppError("conflict", `${file} is there already. Choose another name for the old key.`);
}

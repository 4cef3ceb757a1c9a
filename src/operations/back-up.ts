import type { BackupResult } from "../cli/host.ts";
import { createContext } from "../app/compose.ts";
import { findSecretKey, readIfThere } from "../app/data-folder.ts";
import { describeBucket } from "../domain/files/bucket-settings.ts";
import { makeBackup } from "./backup.ts";
import { assertOwnFolder, BACK_UP_INSTEAD } from "../app/file-store.ts";
import type { Setup } from "../app/setup.ts";
import { createCipher, secretKeyId } from "../store/engine/cipher.ts";
import type { Tell } from "../store/engine/store.ts";
import { VERSION } from "../app/version.ts";

interface BackupOptions {
  readonly file: string;
  readonly isForced: boolean;
  readonly signal: AbortSignal;
  readonly tell: Tell;
}

/** Opens the service beside whatever runs, and backs it up. */
export async function backUp(setup: Setup, options: BackupOptions): Promise<BackupResult> {
  const { folder } = setup;
  assertOwnFolder(setup, "posthorn backup", BACK_UP_INSTEAD);
  await using ctx = await createContext(setup, {}, options.tell);
  // Read again: opening may have finished a replacement that was cut off.
  const key = (await findSecretKey(folder.secretKey)) ?? setup.masterKey;
  const { bucket } = setup.config;
  const settings = await readIfThere(folder.settings);
  const report = await makeBackup(ctx, {
    ...options,
    folder: folder.path,
    version: VERSION,
    secretKeyId: secretKeyId(key),
    cipher: createCipher(key),
    settings,
    bucket,
  });
  return {
    ...report,
    hasSettings: settings !== null,
    bucket: bucket === null ? null : describeBucket(bucket),
    secretKeyFile: folder.secretKey,
  };
}

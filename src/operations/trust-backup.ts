import { timingSafeEqual } from "node:crypto";
import { findSecretKey, type DataFolder } from "../app/data-folder.ts";
import { AppError } from "../domain/errors.ts";
import { signBackup } from "./backup.ts";
import { createCipher, secretKeyId } from "../store/engine/cipher.ts";
import type { VerifiedBackup } from "../store/backup/backup-archive.ts";
import { UNSIGNED_RISK } from "./reports.ts";

/**
 * Whether the secret key of the folder vouches for the backup. Throws `invalid` where it does not, unless
 * such a backup is wanted, and `unavailable` where the key is not that of the backup.
 */
export async function assertSigned(
  archive: string,
  { manifest, checksums, signature }: VerifiedBackup,
  { folder, isUnsigned }: { readonly folder: DataFolder; readonly isUnsigned: boolean },
): Promise<boolean> {
  const key = await findSecretKey(folder.secretKey);
  if (key === null) throw otherKey(folder, null, manifest.secretKeyId);
  const wanted = Buffer.from(signBackup(createCipher(key), checksums));
  const given = Buffer.from(signature ?? "");
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return true;
  if (isUnsigned) return false;
  if (secretKeyId(key) !== manifest.secretKeyId) throw otherKey(folder, key, manifest.secretKeyId);
  const problem =
    signature === null
      ? "it is not signed, so Posthorn cannot tell who wrote it"
      : `its signature does not fit ${folder.secretKey}, so it was changed after it was made`;
  throw new AppError(
    "invalid",
    `${archive}: ${problem}. ${UNSIGNED_RISK} Take another backup. If you know where this one has been all the time (those made before backups were signed have no signature), restore it with --unsigned. Nothing was changed.`,
  );
}

/** For a folder whose secret key, if it has one, is not that of the backup. */
export function otherKey({ secretKey }: DataFolder, key: Buffer | null, wanted: string): AppError {
  const present = key === null ? "is not there" : `is another (${secretKeyId(key)})`;
  return new AppError(
    "unavailable",
    `The secret key ${wanted} vouches for this backup and opens the tokens in it, and ${secretKey} ${present}. Put the key that belongs to the backup there, readable only by you, then restore again. Nothing was changed.`,
  );
}

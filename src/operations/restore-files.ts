import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { AppError } from "../domain/errors.ts";
import type { FileStore } from "../ports/file-store.ts";
import { FILES, readArchive } from "../store/backup/backup-archive.ts";

/** Brings the files of a verified backup into the store; those that are there already, and whole, stay. */
export async function copyFiles(
  archive: string,
  { files, wanted }: { readonly files: FileStore; readonly wanted: ReadonlyMap<string, string> },
): Promise<void> {
  for await (const entry of readArchive(archive)) {
    const key = entry.name.startsWith(FILES) ? entry.name.slice(FILES.length) : null;
    const sha256 = key === null ? undefined : wanted.get(key);
    if (
      key === null ||
      sha256 === undefined ||
      (await isStored(files, key, { sizeBytes: entry.sizeBytes, sha256 }))
    ) {
      for await (const chunk of entry.body) void chunk;
      continue;
    }
    const written = await files.write(key, Readable.from(entry.body));
    if (written.sha256 !== sha256)
      throw new AppError("invalid", `${archive}: it was changed while it was read. Restore it again.`);
  }
}

async function isStored(
  files: FileStore,
  key: string,
  is: { sizeBytes: number; sha256: string },
): Promise<boolean> {
  if ((await files.size(key)) !== is.sizeBytes) return false;
  const hash = createHash("sha256");
  for await (const chunk of files.read(key)) hash.update(chunk as Buffer);
  return hash.digest("hex") === is.sha256;
}

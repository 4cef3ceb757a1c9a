import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pack } from "tar-stream";
import { readArchive } from "../../src/store/backup/backup-archive.ts";
import { openSqlite, type SqliteDatabase } from "../../src/store/local/driver.ts";

/** Entries to be written anew, with others' names added; null: taken out. */
type Changes = Readonly<Record<string, string | Buffer | null>>;

/** Writes a backup anew with these entries in it. Checksums and signature stay as they are. */
export async function editBackup(backup: string, changes: Changes): Promise<void> {
  await write(backup, { ...(await readEntries(backup)), ...changes });
}

/**
 * What somebody does who can write the file, and has no secret key: changes the database, or another entry,
 * and writes the checksums anew.
 */
export async function forgeBackup(
  backup: string,
  forge: { readonly database?: (database: SqliteDatabase) => void; readonly changes?: Changes },
): Promise<void> {
  const entries = { ...(await readEntries(backup)), ...forge.changes };
  const bytes = entries["posthorn.db"];
  if (forge.database !== undefined && bytes !== undefined && bytes !== null)
    entries["posthorn.db"] = changed(Buffer.from(bytes), forge.database);
  entries["checksums.sha256"] = Object.entries(entries)
    .filter(([name, content]) => !name.startsWith("checksums.") && content !== null)
    .map(([name, content]) => `${createHash("sha256").update(content!).digest("hex")}  ${name}\n`)
    .join("");
  await write(backup, entries);
}

function changed(bytes: Buffer, change: (database: SqliteDatabase) => void): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "posthorn-test-"));
  try {
    const file = join(folder, "posthorn.db");
    writeFileSync(file, bytes);
    const { database } = openSqlite({ file, busyTimeoutMs: 0 });
    change(database);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function readEntries(backup: string): Promise<Record<string, string | Buffer | null>> {
  const entries: Record<string, Buffer> = {};
  for await (const { name, body } of readArchive(backup)) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    entries[name] = Buffer.concat(chunks);
  }
  return entries;
}

async function write(backup: string, entries: Changes): Promise<void> {
  const archive = pack();
  const isLast = ([name]: readonly [string, unknown]): number => (name.startsWith("checksums.") ? 1 : 0);
  for (const [name, content] of Object.entries(entries).sort((a, b) => isLast(a) - isLast(b))) {
    if (content !== null) archive.entry({ name }, content);
  }
  archive.finalize();
  const chunks: Uint8Array[] = [];
  for await (const chunk of archive as AsyncIterable<Uint8Array>) chunks.push(chunk);
  writeFileSync(backup, Buffer.concat(chunks));
}

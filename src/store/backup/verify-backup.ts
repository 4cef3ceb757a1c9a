import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { AppError } from "../../domain/errors.ts";
import {
  CHECKSUMS,
  DATABASE,
  FILES,
  FORMAT,
  MANIFEST,
  Manifest,
  SIGNATURE,
  readArchive,
  type ArchiveEntry,
} from "./backup-archive.ts";

export interface VerifiedBackup {
  readonly manifest: Manifest;
  /** SHA-256 of each stored file, by its key. */
  readonly files: ReadonlyMap<string, string>;
  /** The text that the signature is of. */
  readonly checksums: string;
  /** Not looked at yet; null for an archive without one, as older versions made them. */
  readonly signature: string | null;
}

/** Small entries are read whole; larger ones than this are none of ours. */
const MAX_TEXT_BYTES = 256 * 1024 * 1024;

/**
 * Reads the whole backup once, compares everything with its checksums, and puts its database to
 * `stagedDatabase`. Changes nothing else. `assertKey` throws for a name that is no key of the file store.
 * Throws `invalid` with one sentence. Whoever wrote the archive wrote the checksums, too: who that was, the
 * caller finds out by the signature.
 */
export async function verifyBackup(
  file: string,
  to: { readonly stagedDatabase: string; readonly assertKey: (key: string) => void },
): Promise<VerifiedBackup> {
  const found = new Map<string, string>();
  let manifest: Manifest | null = null;
  let checksums: string | null = null;
  let signature: string | null = null;
  for await (const entry of readArchive(file)) {
    if (checksums !== null && entry.name === SIGNATURE && signature === null) {
      signature = (await readText(entry)).text.trim();
      continue;
    }
    if (checksums !== null || found.has(entry.name))
      throw broken(file, `${entry.name} does not belong there`);
    if (manifest === null && entry.name !== MANIFEST) throw broken(file, "it does not begin with a manifest");
    if (entry.name === CHECKSUMS) {
      checksums = (await readText(entry)).text;
    } else if (entry.name === MANIFEST) {
      const { text, sha256 } = await readText(entry);
      manifest = parseManifest(file, text);
      found.set(MANIFEST, sha256);
    } else if (entry.name === DATABASE) {
      found.set(DATABASE, await writeEntry(entry, to.stagedDatabase));
    } else {
      assertFileName(file, entry.name, to.assertKey);
      found.set(entry.name, await hashEntry(entry));
    }
  }
  if (manifest === null || checksums === null || !found.has(DATABASE)) throw broken(file, "it is cut off");
  assertSame(file, found, parseChecksums(checksums));
  const files = [...found]
    .filter(([name]) => name.startsWith(FILES))
    .map(([name, sha256]) => [name.slice(FILES.length), sha256] as const);
  return { manifest, files: new Map(files), checksums, signature };
}

function broken(file: string, why: string): AppError {
  return new AppError(
    "invalid",
    `${file}: it is damaged or no backup of Posthorn (${why}). Nothing was changed.`,
  );
}

function assertFileName(file: string, name: string, assertKey: (key: string) => void): void {
  try {
    if (!name.startsWith(FILES)) throw new Error("Not below files/.");
    assertKey(name.slice(FILES.length));
  } catch {
    throw broken(file, "it holds a file under a name that is none of Posthorn's");
  }
}

function assertSame(
  file: string,
  found: ReadonlyMap<string, string>,
  listed: ReadonlyMap<string, string>,
): void {
  for (const [name, sha256] of listed) {
    if (found.get(name) !== sha256) throw broken(file, `${name} is not what it was`);
  }
  if (found.size !== listed.size) throw broken(file, "its checksums are not complete");
}

function parseManifest(file: string, text: string): Manifest {
  const parsed = Manifest.safeParse(parseJson(text));
  if (!parsed.success) throw broken(file, "its manifest cannot be read");
  if (parsed.data.format > FORMAT) {
    throw new AppError(
      "invalid",
      `${file}: it was made by a newer Posthorn (${parsed.data.version}). Update Posthorn, then restore it. Nothing was changed.`,
    );
  }
  return parsed.data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function parseChecksums(text: string): ReadonlyMap<string, string> {
  const lines = text.split("\n").filter((line) => line !== "");
  return new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
}

async function readText(entry: ArchiveEntry): Promise<{ text: string; sha256: string }> {
  if (entry.sizeBytes > MAX_TEXT_BYTES)
    throw new AppError("invalid", `${entry.name}: it is too large to be one of a backup of Posthorn.`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of entry.body) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  return { text: bytes.toString("utf8"), sha256: createHash("sha256").update(bytes).digest("hex") };
}

async function hashEntry(entry: ArchiveEntry): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of entry.body) hash.update(chunk);
  return hash.digest("hex");
}

async function writeEntry(entry: ArchiveEntry, path: string): Promise<string> {
  const hash = createHash("sha256");
  await using handle = await open(path, "wx", 0o600);
  for await (const chunk of entry.body) {
    hash.update(chunk);
    for (let at = 0; at < chunk.length;) at += (await handle.write(chunk, at)).bytesWritten;
  }
  await handle.sync();
  return hash.digest("hex");
}

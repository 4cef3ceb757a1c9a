import { jsonIn } from "../../domain/text/read-text.ts";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { pack, extract, type Pack } from "tar-stream";
import * as z from "zod";
import { AppError } from "../../domain/errors.ts";

/*
 * A backup is a plain tar: `manifest.json`, `posthorn.db`, `files/<key>` for each stored file,
 * `checksums.sha256` of all of these, which `sha256sum -c` reads too, and last `checksums.hmac`, the signature of
 * the checksums with the secret key. It is not compressed: nearly all of it is media, which are already.
 */
export const MANIFEST = "manifest.json";
export const DATABASE = "posthorn.db";
export const FILES = "files/";
const CHECKSUMS = "checksums.sha256";
const SIGNATURE = "checksums.hmac";

/** Rises when an older Posthorn could not read the backup any more. 2: signed. */
export const FORMAT = 2;

/** Sentences in a terminal quote it before the signature is checked. */
const Label = z.string().regex(/^[\w.+-]{1,64}$/);

export const Manifest = z.object({
  format: z.int(),
  program: z.literal("posthorn"),
  version: Label,
  /** Milliseconds since 1970: the moment the database is of. */
  createdAt: z.int(),
  /** Which secret key opens the tokens in it; the key itself is not in it. */
  secretKeyId: Label,
  /** `posthorn.env`, sealed as tokens are; a version that does not know it leaves it out. */
  settings: z.string().optional(),
  /** Set where a bucket keeps the stored files, which are not in the archive then. */
  bucket: z.object({ endpoint: z.string(), name: z.string(), keys: z.array(z.string()) }).optional(),
});
export type Manifest = z.infer<typeof Manifest>;

export interface ArchiveWriter {
  /** Adds `sizeBytes` of `body`; throws where it has more or fewer. */
  add(name: string, sizeBytes: number, body: AsyncIterable<Buffer>): Promise<void>;
  addText(name: string, text: string): Promise<void>;
}

/** Writes an archive durably to a new file, with its checksums and what `sign` makes of them at the end. */
export async function writeArchive(
  file: string,
  fill: (archive: ArchiveWriter) => Promise<void>,
  sign: (checksums: string) => string,
): Promise<{ sizeBytes: number }> {
  const archive = pack();
  const sums: string[] = [];
  const writer: ArchiveWriter = {
    async add(name, sizeBytes, body) {
      const sha256 = await addEntry(archive, { name, size: sizeBytes }, body);
      sums.push(`${sha256}  ${name}\n`);
    },
    addText(name, text) {
      const bytes = Buffer.from(text);
      return writer.add(name, bytes.length, Readable.from([bytes]));
    },
  };
  const produce = async (): Promise<void> => {
    await fill(writer);
    const checksums = sums.join("");
    await writer.addText(CHECKSUMS, checksums);
    await writer.addText(SIGNATURE, `${sign(checksums)}\n`);
    archive.finalize();
  };
  await using handle = await open(file, "wx", 0o600);
  const written = writeAll(archive, handle);
  // The one that fails first ends the other.
  const produced = produce().catch((error: unknown) => {
    archive.destroy(error instanceof Error ? error : new Error("The archive was not written."));
    throw error;
  });
  const [made, sizeBytes] = await Promise.allSettled([produced, written]);
  if (sizeBytes.status === "rejected" && (made.status === "fulfilled" || isOfDisk(sizeBytes.reason)))
    throw sizeBytes.reason;
  if (made.status === "rejected") throw made.reason;
  await handle.sync();
  return { sizeBytes: sizeBytes.status === "fulfilled" ? sizeBytes.value : 0 };
}

/** Where writing fails, the producer's error only says that the archive was destroyed. */
function isOfDisk(error: unknown): boolean {
  return error instanceof Error && "code" in error;
}

async function writeAll(archive: Pack, handle: FileHandle): Promise<number> {
  let sizeBytes = 0;
  for await (const chunk of archive as AsyncIterable<Uint8Array>) {
    await handle.appendFile(chunk);
    sizeBytes += chunk.length;
  }
  return sizeBytes;
}

async function addEntry(
  archive: Pack,
  header: { name: string; size: number },
  body: AsyncIterable<Buffer>,
): Promise<string> {
  const hash = createHash("sha256");
  const hashed = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of body) {
      hash.update(chunk);
      yield chunk;
    }
  };
  const sink: unknown = archive.entry({ ...header, mode: 0o600 });
  await pipeline(hashed, sink as NodeJS.WritableStream);
  return hash.digest("hex");
}

interface ArchiveEntry {
  readonly name: string;
  readonly sizeBytes: number;
  /** To be read to its end before the next entry is asked for. */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * The entries in order. Throws `invalid` for a file that is no archive, is cut off, or holds anything but
 * plain files.
 */
export async function* readArchive(file: string): AsyncGenerator<ArchiveEntry> {
  const source = createReadStream(file, { highWaterMark: 1024 * 1024 });
  const archive = extract();
  source.on("error", (error) => archive.destroy(error));
  source.pipe(archive as unknown as NodeJS.WritableStream);
  try {
    for await (const entry of archive) {
      const { name, size, type } = entry.header;
      if (type !== "file")
        throw new AppError(
          "invalid",
          `${file}: it holds something that is no plain file, so it is no backup of Posthorn.`,
        );
      yield { name, sizeBytes: size, body: readBody(file, entry as AsyncIterable<Uint8Array>) };
    }
  } catch (cause) {
    throw unreadable(file, cause);
  } finally {
    source.destroy();
  }
}

async function* readBody(file: string, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

function unreadable(file: string, cause: unknown): unknown {
  if (cause instanceof AppError || isOfDisk(cause)) return cause;
  return new AppError(
    "invalid",
    `${file}: it is damaged, cut off, or no backup of Posthorn. Nothing was changed.`,
    { cause },
  );
}

export interface VerifiedBackup {
  readonly manifest: Manifest;
  /** SHA-256 of each stored file, by its key. */
  readonly files: ReadonlyMap<string, string>;
  /** The text that the signature is of. */
  readonly checksums: string;
  /** Not checked yet. Null for an archive without one, as older versions made them. */
  readonly signature: string | null;
}

/** Small entries are read as a whole. Posthorn writes none that is larger than this. */
const MAX_TEXT_BYTES = 256 * 1024 * 1024;

/**
 * Reads the whole backup once, compares everything with its checksums, and writes its database to
 * `stagedDatabase`. Changes nothing else. `assertKey` throws for a name that is no key of the file store.
 * Throws `invalid` with one sentence. Checksums only find damage. The caller checks the signature, which proves
 * where the archive comes from.
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
      found.set(entry.name, await readEntry(entry));
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
  const parsed = Manifest.safeParse(jsonIn(text));
  if (!parsed.success) throw broken(file, "its manifest cannot be read");
  if (parsed.data.format > FORMAT) {
    throw new AppError(
      "invalid",
      `${file}: it was made by a newer Posthorn (${parsed.data.version}). Update Posthorn, then restore it. Nothing was changed.`,
    );
  }
  return parsed.data;
}

function parseChecksums(text: string): ReadonlyMap<string, string> {
  const lines = text.split("\n").filter((line) => line !== "");
  return new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
}

async function readText(entry: ArchiveEntry): Promise<{ text: string; sha256: string }> {
  if (entry.sizeBytes > MAX_TEXT_BYTES)
    throw new AppError("invalid", `${entry.name}: it is too large to be one of a backup of Posthorn.`);
  const chunks: Uint8Array[] = [];
  const sha256 = await readEntry(entry, (chunk) => chunks.push(chunk));
  return { text: Buffer.concat(chunks).toString("utf8"), sha256 };
}

async function writeEntry(entry: ArchiveEntry, path: string): Promise<string> {
  await using handle = await open(path, "wx", 0o600);
  const sha256 = await readEntry(entry, (chunk) => handle.appendFile(chunk));
  await handle.sync();
  return sha256;
}

/** Reads an entry to its end. Returns its SHA-256. */
async function readEntry(
  { body }: ArchiveEntry,
  take: (chunk: Uint8Array) => unknown = () => {},
): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of body) {
    hash.update(chunk);
    await take(chunk);
  }
  return hash.digest("hex");
}

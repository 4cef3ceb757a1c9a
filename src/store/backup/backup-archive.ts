import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { pack, extract, type Pack } from "tar-stream";
import * as z from "zod";
import { AppError } from "../../domain/errors.ts";

/**
 * A backup is a plain tar: `manifest.json`, `posthorn.db`, `files/<key>` for each stored file,
 * `checksums.sha256` of all of these, which `sha256sum -c` reads too, and last `checksums.hmac`, by which the
 * secret key vouches for the checksums. Nothing is compressed: nearly all of it is media, which are already.
 */
export const MANIFEST = "manifest.json";
export const DATABASE = "posthorn.db";
export const FILES = "files/";
export const CHECKSUMS = "checksums.sha256";
export const SIGNATURE = "checksums.hmac";

/** Rises when an older Posthorn could not read the backup any more. 2: signed. */
export const FORMAT = 2;

/** Stands in sentences for a terminal, before anybody has vouched for it. */
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
  /**
   * Set where the stored files are not in it, because a bucket keeps them: which bucket, and under which
   * keys.
   */
  bucket: z.object({ endpoint: z.string(), name: z.string(), keys: z.array(z.string()) }).optional(),
});
export type Manifest = z.infer<typeof Manifest>;

export interface ArchiveWriter {
  /** Adds `sizeBytes` of `body`; throws where it has more or fewer. */
  add(name: string, sizeBytes: number, body: AsyncIterable<Buffer>): Promise<void>;
}

/**
 * Writes an archive durably to a file that is not there yet. The checksums are added at its end, and what
 * `sign` makes of their text.
 */
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
  };
  const produce = async (): Promise<void> => {
    await fill(writer);
    const checksums = sums.join("");
    for (const [name, text] of [
      [CHECKSUMS, checksums],
      [SIGNATURE, `${sign(checksums)}\n`],
    ] as const) {
      const bytes = Buffer.from(text);
      await addEntry(archive, { name, size: bytes.length }, only(bytes));
    }
    archive.finalize();
  };
  await using handle = await open(file, "wx", 0o600);
  const written = writeAll(archive, handle);
  // Whichever fails first ends the other.
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

/** The producer only hears that its archive is gone; why stands with whoever wrote it. */
function isOfDisk(error: unknown): boolean {
  return error instanceof Error && "code" in error;
}

async function* only(bytes: Buffer): AsyncGenerator<Buffer> {
  if (bytes.length > 0) yield bytes;
}

async function writeAll(archive: Pack, handle: FileHandle): Promise<number> {
  let sizeBytes = 0;
  for await (const chunk of archive as AsyncIterable<Uint8Array>) {
    for (let at = 0; at < chunk.length;) at += (await handle.write(chunk, at)).bytesWritten;
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
  let end: (error?: Error | null) => void = () => {};
  const ended = new Promise<void>((resolve, reject) => {
    end = (error) => (error === null || error === undefined ? resolve() : reject(error));
  });
  // It is awaited below; until then a failure must not count as one that nobody handles.
  ended.catch(() => {});
  const sink = archive.entry({ ...header, mode: 0o600 }, end);
  for await (const chunk of body) {
    hash.update(chunk);
    if (!sink.write(chunk))
      await Promise.race([new Promise<void>((resolve) => sink.once("drain", () => resolve())), ended]);
  }
  sink.end(null);
  await ended;
  return hash.digest("hex");
}

export interface ArchiveEntry {
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

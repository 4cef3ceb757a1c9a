import { Readable } from "node:stream";
import { AppError } from "../../domain/errors.ts";
import type { FileStore } from "../../ports/file-store.ts";
import { isPublicUrl } from "../outbound/addresses.ts";
import { BucketClient, type BucketOptions } from "./bucket/client.ts";
import { examineBucket, reachBucket, type BucketFinding } from "./bucket/probe.ts";
import { readObject, type Wanted } from "./bucket/read.ts";
import { BucketRefusal, explainBucket } from "./bucket/refusal.ts";
import { sweepUploads } from "./bucket/sweep.ts";
import { writeObject } from "./bucket/write.ts";
import { assertKey } from "./file-key.ts";

const READ_AHEAD_BYTES = 256 * 1024;

export interface BucketStore extends FileStore {
  /**
   * Throws `unavailable` with a sentence where the settings are wrong. A bucket that does not answer is told
   * by its result alone.
   */
  assertSettings(): Promise<{ readonly isReachable: boolean }>;
  /** What `posthorn doctor` tells of it. */
  examine(): Promise<BucketFinding[]>;
}

/**
 * A FileStore on an S3-compatible bucket. Every failure is `unavailable` with a sentence that says what is
 * wrong.
 */
export function createBucketStore(options: BucketOptions): BucketStore {
  const client = new BucketClient(options);
  let swept: Promise<unknown> | null = null;
  // Once a process, and no matter to whoever writes: the right to list uploads may be missing.
  const sweep = (): Promise<unknown> => (swept ??= sweepUploads(client, isKey).catch(() => {}));
  const explaining = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw explainBucket(error, options.bucket);
    });
  const write = async (
    ...[key, body, options, isNew]: [...Parameters<FileStore["write"]>, isNew: boolean]
  ) => {
    assertKey(key);
    void sweep();
    return explaining(writeObject(client, { key, body, signal: options?.signal, isNew }));
  };
  return {
    write: (key, body, options) => write(key, body, options, false),
    create: (key, body, options) => write(key, body, options, true),
    async size(key) {
      assertKey(key);
      return explaining(sizeOf(client, key));
    },
    read(key, { start = 0, end = null } = {}) {
      assertKey(key);
      const bytes = readExplained(client, { key, start, end });
      return Readable.from(bytes, { objectMode: false, highWaterMark: READ_AHEAD_BYTES });
    },
    async remove(key) {
      assertKey(key);
      await explaining(removeObject(client, key));
    },
    async temporaryUrl(key, { lastsMs, mimeType }) {
      assertKey(key);
      if (!isPublicUrl(options.bucket.endpoint)) return null;
      return client.signedUrl(key, {
        lastsMs,
        query: { "response-content-type": mimeType, "response-content-disposition": "attachment" },
      });
    },
    examine: () => examineBucket(client),
    assertSettings: () => assertSettings(client),
  };
}

function isKey(key: string): boolean {
  try {
    assertKey(key);
    return true;
  } catch {
    return false;
  }
}

async function* readExplained(client: BucketClient, wanted: Wanted): AsyncGenerator<Buffer> {
  try {
    yield* readObject(client, wanted);
  } catch (error) {
    throw explainBucket(error, client.bucket);
  }
}

async function sizeOf(client: BucketClient, key: string): Promise<number | null> {
  try {
    const { headers } = await client.ask({ method: "HEAD", key });
    const sizeBytes = Number(headers["content-length"] ?? Number.NaN);
    if (Number.isSafeInteger(sizeBytes)) return sizeBytes;
    throw new AppError(
      "unavailable",
      "The bucket does not tell how large its files are, which Posthorn needs. Use another one.",
    );
  } catch (error) {
    if (error instanceof BucketRefusal && error.status === 404) return null;
    throw error;
  }
}

async function removeObject(client: BucketClient, key: string): Promise<void> {
  try {
    await client.ask({ method: "DELETE", key });
  } catch (error) {
    if (!(error instanceof BucketRefusal && error.is("NoSuchKey"))) throw error;
  }
}

async function assertSettings(client: BucketClient): Promise<{ isReachable: boolean }> {
  try {
    await reachBucket(client);
    return { isReachable: true };
  } catch (error) {
    const isOfSettings = error instanceof BucketRefusal && error.status < 500 && error.status !== 429;
    if (isOfSettings) throw explainBucket(error, client.bucket);
    return { isReachable: false };
  }
}

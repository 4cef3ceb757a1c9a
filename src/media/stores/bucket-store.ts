import { Readable } from "node:stream";
import { AppError } from "../../domain/errors.ts";
import { assertKey, type FileStore, type WriteOptions } from "../../ports/file-store.ts";
import { isPublicUrl } from "../outbound/addresses.ts";
import { createClient, type BucketOptions } from "./bucket/client.ts";
import { examineBucket, reachBucket, type BucketFinding } from "./bucket/examine.ts";
import { BucketObjects } from "./bucket/objects.ts";
import { BucketRefusal, explainBucket } from "./bucket/refusal.ts";

const READ_AHEAD_BYTES = 256 * 1024;

export interface BucketStore extends FileStore {
  /**
   * Throws `unavailable` with a sentence where the settings are wrong. A bucket that does not answer is told
   * by its result only.
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
  const { bucket } = options;
  const objects = new BucketObjects(createClient(options), bucket.name);
  const explaining = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw explainBucket(error, bucket);
    });
  const write = async (key: string, body: Readable, { signal }: WriteOptions, isNew: boolean) => {
    assertKey(key);
    return explaining(objects.write({ key, body, signal, isNew }));
  };
  return {
    write: (key, body, given = {}) => write(key, body, given, false),
    create: (key, body, given = {}) => write(key, body, given, true),
    async size(key) {
      assertKey(key);
      const found = await explaining(objects.head(key));
      if (found === null || found.ContentLength !== undefined) return found?.ContentLength ?? null;
      throw new AppError(
        "unavailable",
        "The bucket does not tell how large its files are, which Posthorn needs. Use another one.",
      );
    },
    read(key, { start = 0, end = null } = {}) {
      assertKey(key);
      return Readable.from(readExplained(), { objectMode: false, highWaterMark: READ_AHEAD_BYTES });
      async function* readExplained(): AsyncGenerator<Buffer> {
        try {
          yield* objects.read(key, start, end);
        } catch (error) {
          throw explainBucket(error, bucket);
        }
      }
    },
    async remove(key) {
      assertKey(key);
      await explaining(objects.remove(key));
    },
    async temporaryUrl(key, { lastsMs, mimeType }) {
      assertKey(key);
      return isPublicUrl(bucket.endpoint) ? objects.signedUrl(key, lastsMs, mimeType) : null;
    },
    examine: () => examineBucket(objects, bucket),
    async assertSettings() {
      try {
        await reachBucket(objects);
        return { isReachable: true };
      } catch (error) {
        const isOfSettings = error instanceof BucketRefusal && error.status < 500 && error.status !== 429;
        if (isOfSettings) throw explainBucket(error, bucket);
        return { isReachable: false };
      }
    },
  };
}

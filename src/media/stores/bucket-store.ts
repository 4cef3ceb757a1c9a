import { Readable } from "node:stream";
import { AppError, INTERNAL_ERROR_SENTENCE } from "../../domain/errors.ts";
import { assertKey, type FileStore, type WriteOptions } from "../../ports/file-store.ts";
import { isPublicUrl } from "../outbound/addresses.ts";
import { BucketObjects, type BucketOptions, createClient } from "./bucket/objects.ts";
import { BucketRefusal, explainBucket } from "./bucket/refusal.ts";
import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { type BucketSettings, describeBucket } from "../../domain/files/bucket-settings.ts";

const READ_AHEAD_BYTES = 256 * 1024;

export interface BucketStore extends FileStore {
  /** Throws `unavailable` where the settings are wrong. The result tells of a bucket that does not answer. */
  assertSettings(): Promise<{ readonly isReachable: boolean }>;
  examine(): Promise<BucketFinding[]>;
}

/** A FileStore on an S3-compatible bucket. Every failure is `unavailable`, with what is wrong. */
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
    locate: async () => null,
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

interface BucketFinding {
  readonly verdict: "ok" | "note" | "problem";
  readonly text: string;
}

/** Where nothing ever stands: asking for it tells whether the bucket is there and knows the key. */
const NOTHING = "doctor/nothing";

const WHEN_SILENT = "Check POSTHORN_S3_ENDPOINT, this machine's network, and whether the service runs.";

/** Throws `BucketRefusal` or `BucketSilent` where the bucket cannot be used, before anything is written. */
async function reachBucket(objects: BucketObjects): Promise<void> {
  try {
    await text(Readable.from(objects.read(NOTHING, 0, null)));
  } catch (error) {
    // Without the right to list, S3 calls what is missing forbidden.
    const isMissing = error instanceof AppError && error.kind === "not_found";
    if (!isMissing && !(error instanceof BucketRefusal && error.is("AccessDenied"))) throw error;
  }
}

/** Writes, reads and deletes an object of its own, and says each. It ends at the first that fails. */
async function examineBucket(objects: BucketObjects, bucket: BucketSettings): Promise<BucketFinding[]> {
  const findings: BucketFinding[] = [];
  const attempt = async (work: () => Promise<string>): Promise<boolean> => {
    try {
      findings.push({ verdict: "ok", text: await work() });
      return true;
    } catch (error) {
      const told = explainBucket(error, bucket, WHEN_SILENT);
      const said = told instanceof AppError ? told.message : INTERNAL_ERROR_SENTENCE;
      findings.push({ verdict: "problem", text: said });
      return false;
    }
  };
  const isReached = await attempt(async () => {
    await reachBucket(objects);
    return `${describeBucket(bucket)} answers and knows the key`;
  });
  if (!isReached) return findings;
  const key = `doctor/${randomBytes(12).toString("hex")}`;
  const content = randomBytes(32).toString("hex");
  const isWritten = await attempt(async () => {
    await objects.write({ key, body: Readable.from([Buffer.from(content)]), isNew: false });
    return "a probe object was written";
  });
  if (!isWritten) return findings;
  await attempt(() => readBack(objects, key, content));
  await attempt(async () => {
    await objects.remove(key);
    return "it was deleted";
  });
  const isHidden = await objects.head(NOTHING).then(
    () => false,
    (error: unknown) => error instanceof BucketRefusal && error.status === 403,
  );
  if (isHidden) {
    const text =
      "the key may not list the bucket, so that what is missing looks forbidden. Allow s3:ListBucket.";
    findings.push({ verdict: "problem", text });
  }
  return findings;
}

async function readBack(objects: BucketObjects, key: string, content: string): Promise<string> {
  const whole = await text(Readable.from(objects.read(key, 0, null)));
  const part = await text(Readable.from(objects.read(key, 8, 15)));
  if (whole === content && part === content.slice(8, 16)) return "it was read back, whole and in part";
  throw new AppError("unavailable", "What was written came back as something else. Do not use this bucket.");
}

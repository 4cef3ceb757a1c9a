import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  S3Client,
} from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { AppError } from "../../../domain/errors.ts";
import { DAY, MINUTE, SECOND } from "../../../domain/time.ts";
import { toBuffer } from "../../../domain/to-buffer.ts";
import { asBucketError, BucketRefusal } from "./refusal.ts";
import type { BucketSettings } from "../../../domain/files/bucket-settings.ts";

/**
 * Parts of a multipart upload: S3 takes none below 5 MiB but the last, R2 wants them equal, and 10,000 of
 * them must hold the largest file. https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html
 */
export const PART_BYTES = 8 * 1024 ** 2;

/** Parts under way at once; R2 takes no more than three of one upload. */
const PARTS_AT_ONCE = 2;

/** Tells our write of a key from another's: an answer may be lost when the object is already there. */
const MARK = "posthorn-write";

/** An answer that breaks off is gone on with at once, as long as answers bring something. */
const MAX_EMPTY_ANSWERS = 4;

const MAX_SIGNED_MS = 7 * DAY;

interface ObjectWrite {
  readonly key: string;
  readonly body: Readable;
  readonly signal?: AbortSignal | undefined;
  /** Throws `conflict` where something is under the key, instead of replacing it. */
  readonly isNew: boolean;
}

/** Objects of one bucket. Throws `BucketRefusal`, `BucketSilent`, or an `AppError` with a sentence. */
export class BucketObjects {
  readonly #client: S3Client;
  readonly #bucket: string;

  constructor(client: S3Client, bucket: string) {
    this.#client = client;
    this.#bucket = bucket;
  }

  /** One request for a small file, parts for a large one. New keys are random: one look is enough. */
  async write({ key, body, signal, isNew }: ObjectWrite): Promise<{ sizeBytes: number; sha256: string }> {
    const mark = randomBytes(16).toString("hex");
    const measured = new MeasuredBody(body);
    const onAbort = (): void =>
      void body.destroy(signal?.reason instanceof Error ? signal.reason : new Error("It was called off."));
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      signal?.throwIfAborted();
      if (isNew && (await this.head(key)) !== null) throw new AppError("conflict", OCCUPIED);
      await this.#upload(key, measured.stream, mark);
    } catch (error) {
      // Of the body, or ours.
      if (error === measured.error || error === signal?.reason || error instanceof AppError) throw error;
      const isOurs = async (): Promise<boolean> => (await this.head(key))?.Metadata?.[MARK] === mark;
      if (!(await isOurs().catch(() => false))) throw asBucketError(error);
    } finally {
      signal?.removeEventListener("abort", onAbort);
      body.destroy();
    }
    return measured.finish();
  }

  async #upload(key: string, body: Readable, mark: string): Promise<void> {
    const content = { Body: body, ContentType: "application/octet-stream", Metadata: { [MARK]: mark } };
    const upload = new Upload({
      client: this.#client,
      params: { ...this.#at(key), ...content },
      partSize: PART_BYTES,
      queueSize: PARTS_AT_ONCE,
      leavePartsOnError: true,
    });
    try {
      await upload.done();
    } catch (error) {
      // What cannot be abandoned now, or is left by a killed process, is for a lifecycle rule of the bucket.
      const command = new AbortMultipartUploadCommand({ ...this.#at(key), UploadId: upload.uploadId });
      if (upload.uploadId !== undefined) await this.#client.send(command).catch(() => {});
      throw error;
    }
  }

  /** Null where there is nothing under the key. */
  async head(key: string): Promise<HeadObjectCommandOutput | null> {
    try {
      return await this.#client.send(new HeadObjectCommand(this.#at(key)));
    } catch (error) {
      const refusal = asBucketError(error);
      if (refusal instanceof BucketRefusal && refusal.status === 404) return null;
      throw refusal;
    }
  }

  /** The object's bytes, however often the connection breaks, and all of them of one version. */
  async *read(key: string, start: number, end: number | null): AsyncGenerator<Buffer> {
    let at = start;
    let etag: string | undefined;
    for (let emptyAnswers = 0; end === null || at <= end;) {
      const before = at;
      const answer = await this.#openRange(key, { start: at, end, etag });
      if (answer === null) return;
      etag = answer.ETag;
      const body = answer.Body as Readable;
      try {
        for await (const chunk of body) {
          const bytes = toBuffer(chunk);
          at += bytes.length;
          yield bytes;
        }
        return;
      } catch {
        emptyAnswers = at > before ? 0 : emptyAnswers + 1;
        // Without its tag it is not known whether the rest belongs to what came before.
        if (etag === undefined || emptyAnswers === MAX_EMPTY_ANSWERS)
          throw new AppError("unavailable", BROKEN_OFF);
      } finally {
        body.destroy();
      }
    }
  }

  /** Null where there is nothing from there on. */
  async #openRange(
    key: string,
    { start, end, etag }: { start: number; end: number | null; etag: string | undefined },
  ): Promise<GetObjectCommandOutput | null> {
    const isWhole = start === 0 && end === null;
    const range = isWhole ? {} : { Range: `bytes=${start}-${end ?? ""}` };
    const command = new GetObjectCommand({ ...this.#at(key), ...range, IfMatch: etag });
    const answer = await this.#client.send(command).catch((error: unknown) => {
      const refusal = asBucketError(error);
      if (!(refusal instanceof BucketRefusal)) throw refusal;
      if (refusal.status === 416) return null;
      if (refusal.status === 412) throw new AppError("unavailable", REPLACED, { cause: refusal });
      if (refusal.is("NoSuchKey") || (refusal.status === 404 && refusal.code === ""))
        throw new AppError("not_found", MISSING);
      throw refusal;
    });
    if (answer === null || isWhole || answer.ContentRange?.startsWith(`bytes ${start}-`) === true)
      return answer;
    (answer.Body as Readable).destroy();
    throw new AppError(
      "unavailable",
      "The bucket does not give parts of files, which Posthorn needs. Use another one.",
    );
  }

  async remove(key: string): Promise<void> {
    await this.#client.send(new DeleteObjectCommand(this.#at(key))).catch((error: unknown) => {
      const refusal = asBucketError(error);
      if (!(refusal instanceof BucketRefusal && refusal.is("NoSuchKey"))) throw refusal;
    });
  }

  /** An address that gives the object to anyone who has it. */
  signedUrl(key: string, lastsMs: number, mimeType: string): Promise<string> {
    const shown = { ResponseContentType: mimeType, ResponseContentDisposition: "attachment" };
    const expiresIn = Math.max(1, Math.ceil(Math.min(lastsMs, MAX_SIGNED_MS) / SECOND));
    return getSignedUrl(this.#client, new GetObjectCommand({ ...this.#at(key), ...shown }), { expiresIn });
  }

  #at(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: key };
  }
}

/** Counts and hashes what is read of a stream, and remembers why it broke off. */
class MeasuredBody {
  readonly stream: Readable;
  readonly #hash = createHash("sha256");
  #sizeBytes = 0;
  error: unknown = null;

  constructor(body: Readable) {
    this.stream = Readable.from(this.#measure(body), { objectMode: false });
  }

  async *#measure(body: Readable): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of body) {
        const bytes = toBuffer(chunk);
        this.#hash.update(bytes);
        this.#sizeBytes += bytes.length;
        yield bytes;
      }
    } catch (error) {
      this.error = error;
      throw error;
    }
  }

  finish(): { sizeBytes: number; sha256: string } {
    return { sizeBytes: this.#sizeBytes, sha256: this.#hash.digest("hex") };
  }
}

const OCCUPIED = "There is a file under this key already. Nothing was written. Try again.";
const MISSING = "The file is not in the store any more. Upload it again.";
const REPLACED = "The file was replaced while it was read. Try again.";
const BROKEN_OFF = "The file store broke off in the middle of a file, more than once. Try again in a while.";

export interface BucketOptions {
  readonly bucket: BucketSettings;
  readonly secretAccessKey: string;
  /** How often a request that fails in passing is made in all. Default 5. */
  readonly maxTries?: number;
}

const MAX_TRIES = 5;

/** Each download that is read slowly takes one. */
const SOCKETS = { keepAlive: true, maxSockets: 512 };

const TIMES = {
  connectionTimeout: 10 * SECOND,
  socketTimeout: 30 * SECOND,
  // Until an answer begins. A part on a line of 500 kbit/s takes two minutes.
  requestTimeout: 5 * MINUTE,
  throwOnRequestTimeout: true,
  httpAgent: SOCKETS,
  httpsAgent: SOCKETS,
};

/** Amazon's client for the bucket of the settings, with nothing of this machine's environment. */
export function createClient({ bucket, secretAccessKey, maxTries = MAX_TRIES }: BucketOptions): S3Client {
  const { endpoint, region, accessKeyId } = bucket;
  const client = new S3Client({
    endpoint,
    region,
    credentials: { accessKeyId, secretAccessKey },
    // Every S3-compatible server takes addresses of this style.
    forcePathStyle: true,
    useFipsEndpoint: false,
    useDualstackEndpoint: false,
    defaultsMode: "standard",
    retryMode: "standard",
    maxAttempts: maxTries,
    // Not all of them know Amazon's newer checksums.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: TIMES,
  });
  client.middlewareStack.add(
    (next) => (args) => {
      const { request } = args as { request?: { body?: unknown; headers: Record<string, string> } };
      if (request !== undefined && request.body instanceof Uint8Array)
        request.headers["content-md5"] = createHash("md5").update(request.body).digest("base64");
      return next(args);
    },
    // Buckets with a retention period insist on it.
    { step: "build", name: "contentMd5" },
  );
  return client;
}

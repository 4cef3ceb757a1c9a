import { describeBucket, type BucketSettings } from "../../../domain/files/bucket-settings.ts";
import { AppError } from "../../../domain/errors.ts";
import { MINUTE } from "../../../domain/time.ts";
import { OutboundFailure } from "../../../ports/outbound.ts";

/**
 * What the bucket answered instead of doing what it was asked. Codes:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
 */
export class BucketRefusal extends Error {
  readonly status: number;
  /** `""` where the answer has none, as to a HEAD request. */
  readonly code: string;
  /**
   * How far our clock is before (+) or behind (−) the server's, in milliseconds; null where it did not tell
   * the time.
   */
  readonly clockErrorMs: number | null;

  constructor(answer: {
    readonly status: number;
    readonly code: string;
    readonly clockErrorMs: number | null;
  }) {
    super(
      `The bucket answered with status ${answer.status}${answer.code === "" ? "" : ` (${answer.code})`}.`,
    );
    this.name = "BucketRefusal";
    this.status = answer.status;
    this.code = answer.code;
    this.clockErrorMs = answer.clockErrorMs;
  }

  is(...codes: readonly string[]): boolean {
    return codes.includes(this.code);
  }
}

const WRONG_KEY: readonly string[] = [
  "InvalidAccessKeyId",
  "InvalidAccessKey",
  "Unauthorized",
  "UnauthorizedAccess",
];
const WRONG_REGION: readonly string[] = [
  "AuthorizationHeaderMalformed",
  "AuthorizationQueryParametersError",
  "PermanentRedirect",
  "TemporaryRedirect",
  "Redirect",
  "InvalidRegionName",
  "IncorrectEndpoint",
];
const FULL: readonly string[] = [
  "QuotaExceeded",
  "XMinioStorageFull",
  "XMinioAdminBucketQuotaExceeded",
  "StorageCapExceeded",
  "InsufficientStorage",
];

/**
 * For `throw`: one sentence that says which setting is wrong, or that it may pass. What is no fault of the
 * bucket's stays as it is.
 */
export function explainBucket(
  error: unknown,
  bucket: BucketSettings,
  whenSilent = "It is tried again. If that lasts, run posthorn doctor.",
): unknown {
  if (error instanceof BucketRefusal)
    return new AppError("unavailable", sentence(error, bucket), { cause: error });
  if (!(error instanceof OutboundFailure)) return error;
  const text = `The file store, ${describeBucket(bucket)}, does not answer. ${whenSilent}`;
  return new AppError("unavailable", text, { cause: error });
}

function sentence(refusal: BucketRefusal, bucket: BucketSettings): string {
  const { status, code } = refusal;
  if (WRONG_KEY.includes(code) || status === 401)
    return `POSTHORN_S3_ACCESS_KEY_ID: ${bucket.endpoint} does not know this key. ${COPY_AGAIN}`;
  if (code === "SignatureDoesNotMatch")
    return `POSTHORN_S3_SECRET_ACCESS_KEY: it does not belong to the key in POSTHORN_S3_ACCESS_KEY_ID. ${COPY_AGAIN}`;
  if (code === "RequestTimeTooSkewed") return skewed(refusal);
  if (code === "NoSuchBucket")
    return `POSTHORN_S3_BUCKET: there is no bucket ${bucket.name} at ${bucket.endpoint}. Create it, or correct the name.`;
  if (WRONG_REGION.includes(code) || (status >= 300 && status < 400)) {
    return `POSTHORN_S3_REGION: the bucket ${bucket.name} is not in ${bucket.region} at ${bucket.endpoint}. Correct the region, or POSTHORN_S3_ENDPOINT.`;
  }
  if (FULL.includes(code) || status === 507)
    return `The file store, ${describeBucket(bucket)}, is full. Raise its limit or delete files.`;
  if (status === 403)
    return `The key in POSTHORN_S3_ACCESS_KEY_ID may not do this in the bucket ${bucket.name}. Allow it to read, write, delete and list objects there.`;
  if (status >= 500 || status === 429)
    return `The file store, ${describeBucket(bucket)}, is overloaded or out of order (status ${status}). Try again in a while.`;
  return `The file store, ${describeBucket(bucket)}, refuses the request (status ${status}${code === "" ? "" : `, ${code}`}). Run posthorn doctor.`;
}

const COPY_AGAIN = "Copy key and secret again, or make a new pair.";

function skewed({ clockErrorMs }: BucketRefusal): string {
  if (clockErrorMs === null)
    return "The clock of this machine is wrong, so the bucket refuses its signatures. Set the clock (NTP).";
  const minutes = Math.max(1, Math.round(Math.abs(clockErrorMs) / MINUTE));
  const way = clockErrorMs > 0 ? "ahead of" : "behind";
  return `The clock of this machine is ${minutes} ${minutes === 1 ? "minute" : "minutes"} ${way} the bucket's, which refuses its signatures. Set the clock (NTP).`;
}

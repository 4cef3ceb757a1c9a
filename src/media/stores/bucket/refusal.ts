import { S3ServiceException } from "@aws-sdk/client-s3";
import { join, type Said, say } from "../../../domain/sentences.ts";
import { describeBucket, type BucketSettings } from "../../../domain/files/bucket-settings.ts";
import { AppError } from "../../../domain/errors.ts";

/**
 * What the bucket answered instead of doing what it was asked; without Amazon's own error, which holds the
 * signed request. Codes: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
 */
export class BucketRefusal extends Error {
  readonly status: number;
  /** `""` where the answer has none, as to a HEAD request. */
  readonly code: string;

  constructor(status: number, code: string) {
    super(`The bucket answered with status ${status}${code === "" ? "" : ` (${code})`}.`);
    this.name = "BucketRefusal";
    this.status = status;
    this.code = code;
  }

  is(...codes: readonly string[]): boolean {
    return codes.includes(this.code);
  }
}

/** The bucket did not answer, or its answer made no sense. */
export class BucketSilent extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause));
    this.name = "BucketSilent";
  }
}

/** What a call of Amazon's client threw, as one of these two. */
export function asBucketError(error: unknown): BucketRefusal | BucketSilent {
  if (error instanceof BucketRefusal || error instanceof BucketSilent) return error;
  const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
  if (!(error instanceof Error) || status === undefined) return new BucketSilent(error);
  // It stands in sentences of ours. For an answer without a code the client makes one up.
  const isCode = /^[A-Za-z0-9]{1,64}$/.test(error.name) && !["NotFound", "Unknown"].includes(error.name);
  return new BucketRefusal(status, isCode ? error.name : "");
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

const DOCTOR = { do: "run", command: "doctor", of: null } as const;

/** For `throw`: which setting is wrong, or that it may pass. Errors that are not the bucket's stay. */
export function explainBucket(
  error: unknown,
  bucket: BucketSettings,
  whenSilent: Said = say("It is tried again, and may last.", { next: [DOCTOR] }),
): unknown {
  if (error instanceof BucketRefusal)
    return new AppError("unavailable", sentence(error, bucket), { cause: error });
  if (!(error instanceof BucketSilent)) return error;
  const text = `The file store, ${describeBucket(bucket)}, does not answer.`;
  return new AppError("unavailable", join(text, whenSilent), { cause: error });
}

function sentence({ status, code }: BucketRefusal, bucket: BucketSettings): Said {
  if (WRONG_KEY.includes(code) || status === 401)
    return `POSTHORN_S3_ACCESS_KEY_ID: ${bucket.endpoint} does not know this key. ${COPY_AGAIN}`;
  if (code === "SignatureDoesNotMatch")
    return `POSTHORN_S3_SECRET_ACCESS_KEY: it does not belong to the key in POSTHORN_S3_ACCESS_KEY_ID. ${COPY_AGAIN}`;
  if (code === "RequestTimeTooSkewed")
    return "The clock of this machine is wrong, so the bucket refuses its signatures. Set the clock (NTP).";
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
  const why = `status ${status}${code === "" ? "" : `, ${code}`}`;
  return say(`The file store, ${describeBucket(bucket)}, refuses the request (${why}).`, { next: [DOCTOR] });
}

const COPY_AGAIN = "Copy key and secret again, or make a new pair.";

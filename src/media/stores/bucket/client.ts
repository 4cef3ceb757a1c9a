import { createHash } from "node:crypto";
import { S3Client } from "@aws-sdk/client-s3";
import type { BucketSettings } from "../../../domain/files/bucket-settings.ts";
import { MINUTE, SECOND } from "../../../domain/time.ts";

export interface BucketOptions {
  readonly bucket: BucketSettings;
  readonly secretAccessKey: string;
  /** How often a request that fails in passing is made in all. Default 5. */
  readonly maxTries?: number;
}

const MAX_TRIES = 5;

/** Each download that somebody reads slowly takes one. */
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

/**
 * Amazon's client for the one bucket of the settings. What it could take from this machine's environment or
 * ask of other servers is said here: requests go to the endpoint only.
 */
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

import * as z from "zod";
import { httpAddress } from "../settings/http-address.ts";

/** The S3-compatible bucket behind `r2://`, without the secret that opens it. */
export interface BucketSettings {
  /** Address of the S3 API, without the bucket and without a slash at its end. */
  readonly endpoint: string;
  readonly name: string;
  /** `auto` on Cloudflare R2. */
  readonly region: string;
  readonly accessKeyId: string;
}

/** The settings of the bucket as the README and the check for unknown names know them. */
export const BUCKET_SETTINGS: readonly {
  readonly name: string;
  readonly meaning: string;
  readonly default: string;
}[] = [
  {
    name: "POSTHORN_S3_ENDPOINT",
    meaning:
      "Address of the S3 API of a bucket (R2, S3, MinIO, B2) that keeps the files instead of the folder `files/`. Set all five or none",
    default: "none",
  },
  {
    name: "POSTHORN_S3_BUCKET",
    meaning: "Name of that bucket. Only Posthorn should use it",
    default: "none",
  },
  {
    name: "POSTHORN_S3_REGION",
    meaning: "Its region: auto on R2, any (us-east-1) on MinIO",
    default: "none",
  },
  {
    name: "POSTHORN_S3_ACCESS_KEY_ID",
    meaning: "Key that may read, write, delete and list in that bucket",
    default: "none",
  },
  { name: "POSTHORN_S3_SECRET_ACCESS_KEY", meaning: "Its secret", default: "none" },
];

const Settings = z.object({
  POSTHORN_S3_ENDPOINT: httpAddress("https://s3.eu-central-1.amazonaws.com"),
  POSTHORN_S3_BUCKET: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/, "must be the bare name of a bucket"),
  POSTHORN_S3_REGION: z
    .string()
    .regex(/^[A-Za-z0-9-]{2,40}$/, "must be the name of a region, for example eu-central-1 or auto"),
  POSTHORN_S3_ACCESS_KEY_ID: z
    .string()
    .regex(/^[!-.0-~]{3,128}$/, "must be an access key id: 3 to 128 characters, without spaces and slashes"),
  POSTHORN_S3_SECRET_ACCESS_KEY: z
    .string()
    .regex(/^[!-~]{8,256}$/, "must be a secret access key: 8 to 256 characters, without spaces"),
});

/** All of the settings or none. `problems` names each that is wrong or missing, and never its value. */
export function readBucketSettings(given: Readonly<Record<string, string | undefined>>): {
  readonly bucket: BucketSettings | null;
  readonly secretAccessKey: string | null;
  readonly problems: readonly string[];
} {
  const names = BUCKET_SETTINGS.map(({ name }) => name);
  if (names.every((name) => given[name] === undefined))
    return { bucket: null, secretAccessKey: null, problems: [] };
  const parsed = Settings.safeParse(given);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) =>
      describe(path.join("."), given[path.join(".")] === undefined, message),
    );
    return { bucket: null, secretAccessKey: null, problems };
  }
  const values = parsed.data;
  const bucket: BucketSettings = {
    endpoint: values.POSTHORN_S3_ENDPOINT,
    name: values.POSTHORN_S3_BUCKET,
    region: values.POSTHORN_S3_REGION,
    accessKeyId: values.POSTHORN_S3_ACCESS_KEY_ID,
  };
  // Cloudflare's dashboard shows the address with the bucket behind it.
  const isTwice = new URL(bucket.endpoint).pathname.split("/").at(-1) === bucket.name;
  const problems = isTwice
    ? ["POSTHORN_S3_ENDPOINT: must end before the name of the bucket, which POSTHORN_S3_BUCKET gives"]
    : [];
  return { bucket, secretAccessKey: values.POSTHORN_S3_SECRET_ACCESS_KEY, problems };
}

function describe(name: string, isMissing: boolean, message: string): string {
  return `${name}: ${isMissing ? "is missing. The POSTHORN_S3_ settings work together: set all five or none" : message}`;
}

/** What is wrong with where the files are to be: every process must find them there. */
export function checkPlace(
  given: Readonly<Record<string, string | undefined>>,
  bucket: BucketSettings | null,
): string[] {
  const place = given["POSTHORN_FILES"];
  if (bucket !== null || place === "folder") return [];
  if (place === "bucket")
    return ["POSTHORN_FILES: is bucket, but no bucket is set. Give the POSTHORN_S3_ settings"];
  if (given["DATABASE_URL"] === undefined) return [];
  return [
    "POSTHORN_FILES: is not set, but DATABASE_URL is. Files must then be where every host finds them: set the POSTHORN_S3_ settings to a bucket, " +
      "or set POSTHORN_FILES=folder where there is only one host, or where all hosts share the folder files/ in the data folder",
  ];
}

/** How a bucket is named to people. */
export function describeBucket({ name, endpoint }: Pick<BucketSettings, "name" | "endpoint">): string {
  return `the bucket ${name} at ${endpoint}`;
}

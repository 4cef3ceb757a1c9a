import * as z from "zod";
import { parseUrl } from "../parse-url.ts";
import { httpAddress } from "../settings/http-address.ts";
import { problemsIn, toSettingRows, type SettingRow } from "../settings/setting-rows.ts";

/** The S3-compatible bucket behind `r2://`, without the secret that opens it. */
export interface BucketSettings {
  /** Address of the S3 API, without the bucket and without a slash at its end. */
  readonly endpoint: string;
  readonly name: string;
  /** `auto` on Cloudflare R2. */
  readonly region: string;
  readonly accessKeyId: string;
}

const Settings = z
  .object({
    POSTHORN_S3_ENDPOINT: httpAddress("https://s3.eu-central-1.amazonaws.com").meta({
      meaning:
        "Address of the S3 API of a bucket (R2, S3, MinIO, B2) that keeps the files instead of the folder `files/`. Set all five or none",
    }),
    POSTHORN_S3_BUCKET: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/, "must be the bare name of a bucket")
      .meta({ meaning: "Name of that bucket. Only Posthorn should use it" }),
    POSTHORN_S3_REGION: z
      .string()
      .regex(/^[A-Za-z0-9-]{2,40}$/, "must be the name of a region, for example eu-central-1 or auto")
      .meta({ meaning: "Its region: auto on R2, any (us-east-1) on MinIO" }),
    POSTHORN_S3_ACCESS_KEY_ID: z
      .string()
      .regex(/^[!-.0-~]{3,128}$/, "must be an access key id: 3 to 128 characters, without spaces and slashes")
      .meta({ meaning: "Key that may read, write, delete and list in that bucket" }),
    POSTHORN_S3_SECRET_ACCESS_KEY: z
      .string()
      .regex(/^[!-~]{8,256}$/, "must be a secret access key: 8 to 256 characters, without spaces")
      .meta({ meaning: "Its secret" }),
  })
  // Cloudflare's dashboard shows the address with the bucket behind it.
  .refine(
    ({ POSTHORN_S3_ENDPOINT: endpoint, POSTHORN_S3_BUCKET: name }) =>
      parseUrl(endpoint)?.pathname.split("/").at(-1) !== name,
    {
      path: ["POSTHORN_S3_ENDPOINT"],
      error: "must end before the name of the bucket, which POSTHORN_S3_BUCKET gives",
    },
  );

export const BUCKET_SETTINGS: readonly SettingRow[] = toSettingRows(Settings.shape);

const MISSING = "is missing. The POSTHORN_S3_ settings work together: set all five or none";

/** All of the settings or none. `problems` names each that is wrong or missing, and never its value. */
export function readBucketSettings(given: Readonly<Record<string, string | undefined>>): {
  readonly bucket: BucketSettings | null;
  readonly secretAccessKey: string | null;
  readonly problems: readonly string[];
} {
  const none = { bucket: null, secretAccessKey: null };
  if (BUCKET_SETTINGS.every(({ name }) => given[name] === undefined)) return { ...none, problems: [] };
  const parsed = Settings.safeParse(given, {
    error: ({ input }) => (input === undefined ? MISSING : undefined),
  });
  if (!parsed.success) return { ...none, problems: problemsIn(parsed.error) };
  const values = parsed.data;
  const bucket = {
    endpoint: values.POSTHORN_S3_ENDPOINT,
    name: values.POSTHORN_S3_BUCKET,
    region: values.POSTHORN_S3_REGION,
    accessKeyId: values.POSTHORN_S3_ACCESS_KEY_ID,
  };
  return { bucket, secretAccessKey: values.POSTHORN_S3_SECRET_ACCESS_KEY, problems: [] };
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

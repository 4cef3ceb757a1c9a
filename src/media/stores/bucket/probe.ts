import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describeBucket } from "../../../domain/files/bucket-settings.ts";
import { AppError, INTERNAL_ERROR_SENTENCE } from "../../../domain/errors.ts";
import type { BucketClient, BucketRequest } from "./client.ts";
import { readObject } from "./read.ts";
import { BucketRefusal, explainBucket } from "./refusal.ts";
import { writeObject } from "./write.ts";

/** One thing that was looked at. */
export interface BucketFinding {
  readonly verdict: "ok" | "note" | "problem";
  readonly text: string;
}

/** Where nothing ever stands: asking for it tells whether the bucket is there and knows the key. */
const NOTHING = "doctor/nothing";

/**
 * Throws `BucketRefusal` or `OutboundFailure` where the bucket cannot be used, before anything is written.
 */
export async function reachBucket(client: BucketClient): Promise<void> {
  try {
    const answer = await client.open({ method: "GET", key: NOTHING });
    answer.body.destroy();
  } catch (error) {
    if (!(error instanceof BucketRefusal) || !isAnswerToNothing(error)) throw error;
  }
}

/** Without the right to list, S3 calls whatever is missing forbidden. */
function isAnswerToNothing(refusal: BucketRefusal): boolean {
  return refusal.is("NoSuchKey", "AccessDenied");
}

const WHEN_SILENT = "Check POSTHORN_S3_ENDPOINT, this machine's network, and whether the service runs.";

/**
 * Writes, reads, and deletes an object of its own; a sentence for each. What depends on a broken thing is
 * left out.
 */
export async function examineBucket(client: BucketClient): Promise<BucketFinding[]> {
  const { bucket } = client;
  const findings: BucketFinding[] = [];
  const attempt = async (work: () => Promise<string>): Promise<boolean> => {
    try {
      findings.push({ verdict: "ok", text: await work() });
      return true;
    } catch (error) {
      const told = explainBucket(error, bucket, WHEN_SILENT);
      findings.push({
        verdict: "problem",
        text: told instanceof AppError ? told.message : INTERNAL_ERROR_SENTENCE,
      });
      return false;
    }
  };
  const isReached = await attempt(async () => {
    await reachBucket(client);
    return `${describeBucket(bucket)} answers and knows the key`;
  });
  if (!isReached) return findings;
  const key = `doctor/${randomBytes(12).toString("hex")}`;
  const content = randomBytes(32).toString("hex");
  const isWritten = await attempt(async () => {
    await writeObject(client, {
      key,
      body: Readable.from([Buffer.from(content)]),
      signal: undefined,
      isNew: true,
    });
    return "a probe object was written";
  });
  if (!isWritten) return findings;
  await attempt(() => readBack(client, key, content));
  findings.push(...(await examineOverwriting(client, key)));
  await attempt(async () => {
    await client.ask({ method: "DELETE", key });
    return "it was deleted";
  });
  return [...findings, ...(await examineListing(client).catch(() => []))];
}

async function readBack(client: BucketClient, key: string, content: string): Promise<string> {
  const whole = await text(Readable.from(readObject(client, { key, start: 0, end: null })));
  const part = await text(Readable.from(readObject(client, { key, start: 8, end: 15 })));
  if (whole === content && part === content.slice(8, 16)) return "it was read back, whole and in part";
  throw new AppError("unavailable", "What was written came back as something else. Do not use this bucket.");
}

async function examineOverwriting(client: BucketClient, key: string): Promise<BucketFinding[]> {
  try {
    await client.ask({ method: "PUT", key, body: Buffer.from("another"), headers: { "if-none-match": "*" } });
  } catch (error) {
    if (error instanceof BucketRefusal && error.status === 412)
      return [{ verdict: "ok", text: "a second object under its key was refused" }];
  }
  return [
    {
      verdict: "note",
      text: "it knows no conditional writes: only random keys keep one file from replacing another",
    },
  ];
}

async function examineListing(client: BucketClient): Promise<BucketFinding[]> {
  const findings: BucketFinding[] = [];
  if ((await refusalOf(client, { method: "HEAD", key: NOTHING }))?.status === 403) {
    const text =
      "the key may not list the bucket, so that what is missing looks forbidden. Allow s3:ListBucket.";
    findings.push({ verdict: "problem", text });
  }
  const refusal = await refusalOf(client, {
    method: "GET",
    key: null,
    query: { uploads: "", "max-uploads": "1" },
  });
  if (refusal !== null) {
    const who =
      refusal.status === 403
        ? "the key may not list unfinished uploads"
        : "unfinished uploads cannot be listed";
    const way =
      refusal.status === 403
        ? "Allow s3:ListBucketMultipartUploads."
        : "Let a rule of the bucket remove them.";
    findings.push({ verdict: "note", text: `${who}, so that those of a killed process stay. ${way}` });
  }
  return findings;
}

async function refusalOf(client: BucketClient, request: BucketRequest): Promise<BucketRefusal | null> {
  try {
    await client.ask(request);
    return null;
  } catch (error) {
    if (error instanceof BucketRefusal) return error;
    throw error;
  }
}

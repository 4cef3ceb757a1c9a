import { randomBytes } from "node:crypto";
import type { Readable } from "node:stream";
import { AppError } from "../../../domain/errors.ts";
import { OutboundFailure } from "../../../ports/outbound.ts";
import type { BucketClient } from "./client.ts";
import { PART_BYTES, PartReader, type Part } from "./parts.ts";
import { BucketRefusal } from "./refusal.ts";
import { escapeXml } from "./xml.ts";

/** Parts under way at once; R2 takes no more than three of one upload. */
const PARTS_AT_ONCE = 2;

/** Tells our write of a key from another's: an answer may be lost when the object is already there. */
const MARK = "x-amz-meta-posthorn-write";

interface Write {
  readonly key: string;
  readonly body: Readable;
  readonly signal: AbortSignal | undefined;
  /** Throws `conflict` where something is under the key, instead of replacing it. */
  readonly isNew: boolean;
}

interface Target {
  readonly client: BucketClient;
  readonly key: string;
  readonly mark: string;
  readonly isNew: boolean;
  readonly signal: AbortSignal;
}

/**
 * One request for a small file, parts for a large one. A key shows the whole file or what was there before.
 */
export async function writeObject(
  client: BucketClient,
  write: Write,
): Promise<{ sizeBytes: number; sha256: string }> {
  const { key, body, isNew } = write;
  const signal = write.signal ?? new AbortController().signal;
  const onAbort = (): void =>
    void body.destroy(
      signal.reason instanceof Error ? signal.reason : new Error("The writing was called off."),
    );
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const target: Target = { client, key, isNew, signal, mark: randomBytes(16).toString("hex") };
    const parts = new PartReader(body);
    const first = await parts.next();
    if (first === null) throw new Error("A stream without even an empty part.");
    const second = first.bytes.length < PART_BYTES ? null : await parts.next();
    if (second === null) await putWhole(target, first);
    else await putParts(target, [first, second], parts);
    return parts.finish();
  } finally {
    signal.removeEventListener("abort", onAbort);
    body.destroy();
  }
}

/** MD5 is checked by the bucket beside the signed SHA-256; buckets with a retention period insist on it. */
function sending({ bytes, sha256, md5 }: Part): {
  body: Buffer;
  sha256: string;
  headers: { "content-md5": string };
} {
  return { body: bytes, sha256, headers: { "content-md5": md5 } };
}

async function putWhole(target: Target, whole: Part): Promise<void> {
  const { client, key, mark, signal } = target;
  const { headers, ...content } = sending(whole);
  const described = { ...headers, [MARK]: mark, "content-type": "application/octet-stream" };
  await asNew(target, (condition) =>
    client.ask({ method: "PUT", key, ...content, headers: { ...described, ...condition }, signal }),
  );
}

async function putParts(target: Target, first: readonly Part[], rest: PartReader): Promise<void> {
  const { client, key, mark, signal } = target;
  const headers = { [MARK]: mark, "content-type": "application/octet-stream" };
  const begun = await client.ask({ method: "POST", key, query: { uploads: "" }, headers, signal });
  const uploadId = begun.xml.at(-1)?.fields.get("UploadId");
  if (uploadId === undefined) throw new Error("The bucket began an upload without a name.");
  try {
    const tags = await sendParts(target, uploadId, partsOf(first, rest));
    const body = Buffer.from(completion(tags));
    await asNew(target, (condition) =>
      client.ask({
        method: "POST",
        key,
        query: { uploadId },
        body,
        headers: { ...condition, "content-type": "application/xml" },
        signal,
      }),
    );
  } catch (error) {
    await abandon(client, key, uploadId);
    throw error;
  }
}

async function* partsOf(first: readonly Part[], rest: PartReader): AsyncGenerator<Part> {
  yield* first;
  for (let part = await rest.next(); part !== null; part = await rest.next()) yield part;
}

/**
 * The tag of each part, in order. When one fails, the others are called off, and none is under way
 * afterwards.
 */
async function sendParts(target: Target, uploadId: string, parts: AsyncIterable<Part>): Promise<string[]> {
  const stop = new AbortController();
  const signal = AbortSignal.any([target.signal, stop.signal]);
  const tags: string[] = [];
  const underWay = new Set<Promise<void>>();
  const send = async (index: number, part: Part): Promise<void> => {
    try {
      tags[index] = await sendPart({ ...target, signal }, { uploadId, partNumber: String(index + 1) }, part);
    } catch (error) {
      stop.abort(error);
    }
  };
  try {
    let index = 0;
    for await (const part of parts) {
      signal.throwIfAborted();
      const sent = send(index++, part).finally(() => underWay.delete(sent));
      underWay.add(sent);
      if (underWay.size >= PARTS_AT_ONCE) await Promise.race(underWay);
    }
  } catch (error) {
    stop.abort(error);
  }
  await Promise.all(underWay);
  signal.throwIfAborted();
  return tags;
}

async function sendPart(
  { client, key, signal }: Target,
  query: { uploadId: string; partNumber: string },
  part: Part,
): Promise<string> {
  const { headers } = await client.ask({ method: "PUT", key, query, ...sending(part), signal });
  const tag = headers["etag"];
  if (tag === undefined) throw new Error("The bucket took a part without giving its tag.");
  return tag;
}

function completion(tags: readonly string[]): string {
  const parts = tags.map(
    (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escapeXml(tag)}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join("")}</CompleteMultipartUpload>`;
}

/**
 * Sends the request that makes the object appear. When its answer is lost, or a repetition is refused because
 * the first one was carried out, the mark on the object tells that it is ours.
 */
async function asNew(
  target: Target,
  send: (condition: Record<string, string>) => Promise<unknown>,
): Promise<void> {
  const { isNew, signal } = target;
  try {
    await send(isNew ? { "if-none-match": "*" } : {});
  } catch (error) {
    signal.throwIfAborted();
    if (isNew && error instanceof BucketRefusal && error.status === 501)
      return sendUnconditionally(target, send);
    if (mayBeDone(error) && (await isOurs(target))) return;
    throw isNew && error instanceof BucketRefusal && error.status === 412 ? occupied(error) : error;
  }
}

/** Servers that know no conditional writes: the next best, because keys are chosen at random. */
async function sendUnconditionally(
  target: Target,
  send: (condition: Record<string, string>) => Promise<unknown>,
): Promise<void> {
  if ((await readMark(target)) !== null) throw occupied(null);
  await asNew({ ...target, isNew: false }, send);
}

function mayBeDone(error: unknown): boolean {
  if (error instanceof OutboundFailure) return true;
  return (
    error instanceof BucketRefusal &&
    (error.status === 412 || error.status >= 500 || error.is("NoSuchUpload"))
  );
}

async function isOurs(target: Target): Promise<boolean> {
  return (await readMark(target).catch(() => null)) === target.mark;
}

/** `""` for an object without a mark, null where there is none. */
async function readMark({ client, key, signal }: Target): Promise<string | null> {
  try {
    return (await client.ask({ method: "HEAD", key, signal })).headers[MARK] ?? "";
  } catch (error) {
    if (error instanceof BucketRefusal && error.status === 404) return null;
    throw error;
  }
}

function occupied(cause: unknown): AppError {
  return new AppError("conflict", "There is a file under this key already. Nothing was written. Try again.", {
    cause,
  });
}

/** Also when the caller has called everything off. What cannot be abandoned now is swept later. */
async function abandon(client: BucketClient, key: string, uploadId: string): Promise<void> {
  await client.ask({ method: "DELETE", key, query: { uploadId } }).catch(() => {});
}

import { AppError } from "../../../domain/errors.ts";
import { readContentRange } from "../../../domain/files/media-answer.ts";
import type { OutboundResponse } from "../../../ports/outbound.ts";
import { toBuffer } from "../../to-buffer.ts";
import type { BucketClient } from "./client.ts";
import { BucketRefusal } from "./refusal.ts";

/** An answer that breaks off is gone on with at once, as long as answers bring something. */
const MAX_EMPTY_ANSWERS = 4;

export interface Wanted {
  readonly key: string;
  readonly start: number;
  /** Included; null: to the end. */
  readonly end: number | null;
}

/**
 * The object's bytes, however often the connection breaks, and all of them of one version. Throws
 * `not_found`.
 */
export async function* readObject(client: BucketClient, { key, start, end }: Wanted): AsyncGenerator<Buffer> {
  let at = start;
  let etag: string | null = null;
  for (let emptyAnswers = 0; end === null || at <= end;) {
    const before = at;
    const answer = await openRange(client, { key, start: at, end }, etag);
    if (answer === null) return;
    etag = answer.headers["etag"] ?? null;
    try {
      for await (const chunk of answer.body) {
        const bytes = toBuffer(chunk);
        at += bytes.length;
        yield bytes;
      }
      return;
    } catch (error) {
      emptyAnswers = at > before ? 0 : emptyAnswers + 1;
      // Without its tag nobody can tell whether the rest belongs to what came before.
      if (etag === null || emptyAnswers === MAX_EMPTY_ANSWERS) throw brokenOff(error);
      await client.pause(emptyAnswers + 1);
    } finally {
      answer.body.destroy();
    }
  }
}

/** Null where there is nothing from there on. */
async function openRange(
  client: BucketClient,
  { key, start, end }: Wanted,
  etag: string | null,
): Promise<OutboundResponse | null> {
  const isWhole = start === 0 && end === null;
  const range = isWhole ? {} : { range: `bytes=${start}-${end ?? ""}` };
  try {
    const answer = await client.open({
      method: "GET",
      key,
      headers: { ...range, ...(etag === null ? {} : { "if-match": etag }) },
    });
    const place = readContentRange(answer.headers["content-range"]);
    if (isWhole || (answer.status === 206 && place?.start === start)) return answer;
    answer.body.destroy();
    throw new AppError(
      "unavailable",
      "The bucket does not give parts of files, which Posthorn needs. Use another one.",
    );
  } catch (error) {
    if (!(error instanceof BucketRefusal)) throw error;
    if (error.status === 416) return null;
    if (error.status === 412)
      throw new AppError("unavailable", "The file was replaced while it was read. Try again.", {
        cause: error,
      });
    if (error.is("NoSuchKey") || (error.status === 404 && error.code === "")) throw missing();
    throw error;
  }
}

function missing(): AppError {
  return new AppError("not_found", "The file is not in the store any more. Upload it again.");
}

function brokenOff(cause: unknown): AppError {
  return new AppError(
    "unavailable",
    "The file store broke off in the middle of a file, more than once. Try again in a while.",
    { cause },
  );
}

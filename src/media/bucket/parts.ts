import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { toBuffer } from "../to-buffer.ts";

/**
 * Parts of a multipart upload: S3 takes none below 5 MiB but the last, R2 wants them equal, and 10,000 of them must hold the largest
 * file. https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html
 */
export const PART_BYTES = 8 * 1024 ** 2;

/** A stream cut into equal parts, the last one shorter; only one of them is in memory. What went by is counted and hashed. */
export class PartReader {
  readonly #chunks: AsyncIterator<unknown>;
  readonly #hash = createHash("sha256");
  #left: Buffer = Buffer.alloc(0);
  #sizeBytes = 0;

  constructor(body: Readable) {
    this.#chunks = body[Symbol.asyncIterator]();
  }

  /** Null at the end. */
  async next(): Promise<Buffer | null> {
    // Untouched memory costs nothing, so that a small file does not take a whole part.
    const part = Buffer.allocUnsafeSlow(PART_BYTES);
    let filled = 0;
    while (filled < PART_BYTES) {
      if (this.#left.length === 0 && !(await this.#fetch())) break;
      const copied = this.#left.copy(part, filled);
      this.#left = this.#left.subarray(copied);
      filled += copied;
    }
    if (filled === 0) return null;
    const bytes = part.subarray(0, filled);
    this.#sizeBytes += filled;
    this.#hash.update(bytes);
    return bytes;
  }

  /** Of everything that was read; only once, at the end. */
  finish(): { sizeBytes: number; sha256: string } {
    return { sizeBytes: this.#sizeBytes, sha256: this.#hash.digest("hex") };
  }

  async #fetch(): Promise<boolean> {
    const next = await this.#chunks.next();
    if (next.done === true) return false;
    this.#left = toBuffer(next.value);
    return true;
  }
}

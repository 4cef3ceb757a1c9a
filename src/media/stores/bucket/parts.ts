import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { toBuffer } from "../../to-buffer.ts";

/**
 * Parts of a multipart upload: S3 takes none below 5 MiB but the last, R2 wants them equal, and 10,000 of
 * them must hold the largest file. https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html
 */
export const PART_BYTES = 8 * 1024 ** 2;

export interface Part {
  readonly bytes: Buffer;
  /** Hexadecimal. */
  readonly sha256: string;
  /** Base64, as `Content-MD5` wants it. */
  readonly md5: string;
}

/**
 * A stream cut into equal parts, the last one shorter; only one of them is in memory. Counted and hashed as
 * it comes in, because hashing a whole part at once would keep everybody else waiting.
 */
export class PartReader {
  readonly #chunks: AsyncIterator<unknown>;
  readonly #hash = createHash("sha256");
  #left: Buffer = Buffer.alloc(0);
  #sizeBytes = 0;

  constructor(body: Readable) {
    this.#chunks = body[Symbol.asyncIterator]();
  }

  /** Null at the end; of an empty stream there is one part, an empty one. */
  async next(): Promise<Part | null> {
    // Untouched memory costs nothing, so that a small file does not take a whole part.
    const part = Buffer.allocUnsafeSlow(PART_BYTES);
    const hashes = { sha256: createHash("sha256"), md5: createHash("md5") };
    let filled = 0;
    while (filled < PART_BYTES) {
      if (this.#left.length === 0 && !(await this.#fetch())) break;
      const copied = this.#left.copy(part, filled);
      const bytes = part.subarray(filled, filled + copied);
      for (const hash of [this.#hash, hashes.sha256, hashes.md5]) hash.update(bytes);
      this.#left = this.#left.subarray(copied);
      filled += copied;
    }
    this.#sizeBytes += filled;
    if (filled === 0 && this.#sizeBytes > 0) return null;
    return {
      bytes: part.subarray(0, filled),
      sha256: hashes.sha256.digest("hex"),
      md5: hashes.md5.digest("base64"),
    };
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

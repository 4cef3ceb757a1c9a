import { crc32 } from "node:zlib";

/** What is checked at once: small enough that a slow source fills one before anybody loses patience. */
export const BLOCK_BYTES = 256 * 1024;

const SUM_BYTES = 4;

/** Of a block that was not read yet; of one in four thousand million too, which then goes unchecked. */
const NONE = 0;

/**
 * A checksum (CRC-32) of each block of a source that was ever read. A block that is read again must be the
 * same, so that every try sends the same bytes, and what is sent is what was checked. It is there for sources
 * that change, not for those that forge (whose owner only deceives himself); a SHA-256 would cost a third of
 * the speed of a transfer.
 */
export class BlockSums {
  readonly #sums: Buffer;

  private constructor(sums: Buffer) {
    this.#sums = sums;
  }

  static empty(sizeBytes: number): BlockSums {
    return new BlockSums(Buffer.alloc(Math.ceil(sizeBytes / BLOCK_BYTES) * SUM_BYTES, NONE));
  }

  /** From `toText`; null where it is that of another size. */
  static parse(text: string, sizeBytes: number): BlockSums | null {
    const sums = Buffer.from(text, "base64");
    return sums.length === Math.ceil(sizeBytes / BLOCK_BYTES) * SUM_BYTES ? new BlockSums(sums) : null;
  }

  toText(): string {
    return this.#sums.toString("base64");
  }

  /** Notes a block that is seen for the first time; false for one that was another then. */
  matches(index: number, block: readonly Buffer[]): boolean {
    const sum = block.reduce((before, bytes) => crc32(bytes, before), 0);
    const known = this.#sums.readUInt32LE(index * SUM_BYTES);
    if (known !== NONE) return known === sum;
    this.#sums.writeUInt32LE(sum, index * SUM_BYTES);
    return true;
  }
}
